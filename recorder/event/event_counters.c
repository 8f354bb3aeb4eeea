/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "recorder/event/event_def.h"
#include "recorder/event/event_group_spec.h"
#include "recorder/event/event_open.h"

/* Those of perf stat, in its order; cycles tell whether there is a PMU at all. */
static const struct counters_hardware {
	uint64_t config;
	const char *name;
} counters_hardware[] = {
	{ PERF_COUNT_HW_CPU_CYCLES, "cycles" },
	{ PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
	{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches" },
	{ PERF_COUNT_HW_BRANCH_MISSES, "branch-misses" },
};

/* Of user space alone, on ourselves: a permission that is missing later is no reason to do without. */
static bool
counters_has(uint64_t config)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .config = config };
	int r;

	attr.size = event_attr_size(&attr);
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	r = event_open_try(&attr, 0, -1);
	return r != -ENOENT && r != -EOPNOTSUPP && r != -ENODEV && r != -ENXIO;
}

/* The clock of a CPU is that of all its tasks, as perf stat has it. */
static void
counters_default(const struct target *target, char *text, size_t size)
{
	const char *before = ",{";

	(void)snprintf(text, size, "{%s,context-switches,cpu-migrations,page-faults}",
		       target_of_cpus(target) ? "cpu-clock" : "task-clock");
	for (size_t i = 0; i < sizeof(counters_hardware) / sizeof(counters_hardware[0]); i++) {
		if (!counters_has(counters_hardware[i].config)) {
			if (i == 0)
				return;
			continue;
		}
		(void)snprintf(text + strlen(text), size - strlen(text), "%s%s", before,
			       counters_hardware[i].name);
		before = ",";
	}
	(void)snprintf(text + strlen(text), size - strlen(text), "}:W");
}

void
event_counters_spec(struct event_spec *spec)
{
	struct perf_event_attr *attr = &spec->attr;

	attr->freq = 0;
	attr->sample_period = 0;
	attr->precise_ip = 0;
	attr->sample_type = 0;
	attr->branch_sample_type = 0;
	spec->has_rate = spec->each = spec->precise_max = false;
	spec->sample_read = spec->has_call_graph = false;
	spec->counts = true;
}

int
event_counters_parse(const struct session_options *o, const struct target *target,
		     struct event_spec_list *list, struct session_error *error)
{
	const char *text = o->counters;
	char names[160], err[EVENT_SPEC_ERROR_BYTES];
	size_t first = list->nr;
	int r;

	/* With -n those of -e are counted already. */
	if (!o->counter_interval_ns || (!text && o->extra.no_samples && o->nr_events))
		return 0;
	if (!text) {
		counters_default(target, names, sizeof(names));
		text = names;
	}
	r = event_group_spec_parse(text, NULL, list, err, sizeof(err));
	if (r == -EINVAL)
		return session_usage(error, "counters: %s", err);
	if (r < 0)
		return session_fail(error, r, "out of memory");
	for (size_t i = first; i < list->nr; i++) {
		if (list->specs[i].attr.context_switch)
			return session_usage(error, "counters: off-cpu has samples, and no count");
		event_counters_spec(&list->specs[i]);
	}
	return 0;
}
