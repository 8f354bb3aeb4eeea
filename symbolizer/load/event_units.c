/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/event_units.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/slots.h"
#include "format/bytes/time_text.h"
#include "format/record/off_cpu.h"

/* Of a hybrid machine, which kind of core it is. */
#define CONFIG_OF_EVENT UINT64_C(0xffffffff)

struct named {
	char *name;
	enum event_unit unit;
	uint64_t hz; /* 0: none, or several */
};

struct event_units {
	struct named *v;
	size_t nr, cap;
	struct slots slots; /* by name */
};

struct event_units *
event_units_new(void)
{
	return calloc(1, sizeof(struct event_units));
}

void
event_units_free(struct event_units *u)
{
	for (size_t i = 0; u && i < u->nr; i++)
		free(u->v[i].name);
	if (u) {
		free(u->v);
		slots_done(&u->slots);
	}
	free(u);
}

static enum event_unit
unit_of(const struct event_attr *a)
{
	const uint64_t config = a->config & CONFIG_OF_EVENT;

	if (event_attr_counts_time(a->type, config))
		return EVENT_SECONDS;
	if (a->type == PERF_TYPE_HARDWARE && event_attr_has(a, EVENT_ATTR_freq) &&
	    a->sample_period > 0 &&
	    (config == PERF_COUNT_HW_CPU_CYCLES || config == PERF_COUNT_HW_REF_CPU_CYCLES))
		return EVENT_ABOUT_SECONDS;
	return EVENT_COUNTS;
}

static bool
name_same(const void *owner, uint32_t index, const void *key)
{
	return strcmp(((const struct event_units *)owner)->v[index].name,
		      ((const struct named *)key)->name) == 0;
}

static uint32_t
name_hash(const char *name)
{
	return (uint32_t)slots_mix_bytes(0, name, strlen(name));
}

static struct named *
event_units_find(const struct event_units *u, const char *name)
{
	const struct named key = { .name = (char *)(uintptr_t)name };
	const uint32_t i = slots_find(&u->slots, name_hash(name), name_same, u, &key);

	return i == SLOTS_NONE ? NULL : &u->v[i];
}

/* Without memory an event's samples are counted. */
static void
keep_unit(struct event_units *u, const char *name, enum event_unit unit, uint64_t hz)
{
	struct named *known = event_units_find(u, name);
	struct named n = { .unit = unit, .hz = hz };
	uint32_t i;

	if (known) {
		/* Of which sample is at which of two frequencies nothing is kept. */
		if (known->unit != unit || (unit == EVENT_ABOUT_SECONDS && known->hz != hz))
			known->unit = EVENT_COUNTS;
		return;
	}
	n.name = strdup(name);
	if (n.name &&
	    slots_keep(&u->slots, name_hash(n.name), name_same, u, &n, u->v, u->nr, u->cap, &i) < 0)
		free(n.name);
}

/* The waits of an event off-cpu are events of their own. */
static void
look_at(struct event_units *u, const struct event *e)
{
	struct off_cpu_terms terms;

	if (!off_cpu_event(e, &terms)) {
		keep_unit(u, e->name, unit_of(&e->attr), e->attr.sample_period);
		return;
	}
	for (int why = 0; why < OFF_CPU_WHYS_MAX; why++)
		keep_unit(u, off_cpu_name((enum off_cpu_why)why), EVENT_WAITED, 0);
}

void
event_units_look(void *arg, const struct input *in)
{
	const struct recording_meta *m = recording_reader_meta(in->reader);

	for (size_t i = 0; i < event_set_count(m->events); i++)
		look_at(arg, event_set_at(m->events, i));
}

enum event_unit
event_units_of(const struct event_units *u, const char *event, double *ret_hz)
{
	const struct named *n = event_units_find(u, event);

	*ret_hz = n && n->unit == EVENT_ABOUT_SECONDS ? (double)n->hz : 0;
	return n ? n->unit : EVENT_COUNTS;
}

double
event_units_value(enum event_unit unit, double hz, const struct profile_weight *w)
{
	switch (unit) {
	case EVENT_SECONDS:
	case EVENT_WAITED:
		return (double)w->period / (double)SECOND_NS;
	case EVENT_ABOUT_SECONDS:
		return (double)w->samples / hz;
	default:
		return (double)w->period;
	}
}
