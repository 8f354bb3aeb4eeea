/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_offers.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/record/off_cpu.h"
#include "recorder/event/event_name.h"
#include "recorder/event/event_open.h"
#include "recorder/event/event_spec.h"
#include "recorder/event/pmu.h"
#include "recorder/event/tracepoint_id.h"

struct offering {
	const struct event_spec_roots *roots;
	const char *sysfs;
	bool (*see)(void *arg, const struct event_offer *offer);
	void *arg;
	uint32_t type; /* of the names that are wanted */
};

/* As a counter of this process, which needs the least permission; without it nothing is known. */
static bool
is_refused(const struct offering *o, const char *event)
{
	char err[EVENT_SPEC_ERROR_BYTES];
	struct event_spec_list list = { 0 };
	bool refused = false;

	if (event_spec_parse(event, o->roots, &list, err, sizeof(err)) == 0 && list.nr > 0) {
		struct perf_event_attr attr = list.specs[0].attr;
		int r;

		attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
		r = event_open_try(&attr, 0, -1);
		refused = r == -ENOENT || r == -EOPNOTSUPP || r == -ENODEV || r == -ENXIO;
	}
	event_spec_list_done(&list);
	return refused;
}

/* --- names that every kernel knows ---------------------------------------------------------- */

static bool
offer_name(void *arg, const char *name, const char *alias, uint32_t type)
{
	const struct offering *o = arg;
	struct event_offer offer = { .name = name, .alias = alias, .says = "" };

	/* Its samples come from a BPF program: it is refused as an event. */
	if (type != o->type || strcmp(name, "bpf-output") == 0)
		return true;
	offer.kind = type == PERF_TYPE_HARDWARE ? EVENT_OFFER_HARDWARE
		: type == PERF_TYPE_SOFTWARE	? EVENT_OFFER_SOFTWARE
						: EVENT_OFFER_CACHE;
	offer.refused = is_refused(o, name);
	return o->see(o->arg, &offer);
}

/* Of ours alone. */
static bool
offer_off_cpu(const struct offering *o)
{
	const struct event_offer offer = { .kind = EVENT_OFFER_SOFTWARE,
					   .name = OFF_CPU_EVENT,
					   .alias = "",
					   .says = "",
					   .refused = is_refused(o, OFF_CPU_EVENT) };

	return o->see(o->arg, &offer);
}

static bool
offer_names(struct offering *o)
{
	static const uint32_t types[] = { PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE,
					  PERF_TYPE_HW_CACHE };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		o->type = types[i];
		if (!event_name_each(offer_name, o))
			return false;
		if (types[i] == PERF_TYPE_SOFTWARE && !offer_off_cpu(o))
			return false;
	}
	return true;
}

/* --- PMUs ----------------------------------------------------------------------------------- */

static int
visible(const struct dirent *d)
{
	/* Files such as EVENT.scale and EVENT.unit describe another one. */
	return !strchr(d->d_name, '.');
}

/* The files of PMU/events or PMU/format. False: see() had enough. */
static bool
offer_files(const struct offering *o, const char *pmu, const char *dir, enum event_offer_kind kind)
{
	char path[512], name[2 * PMU_NAME_BYTES + 256], says[256];
	struct dirent **files;
	bool go_on = true;
	int nr;

	(void)snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s", o->sysfs, pmu, dir);
	nr = scandir(path, &files, visible, versionsort);
	for (int i = 0; i < nr; i++) {
		struct event_offer offer = { .kind = kind, .name = name, .alias = "", .says = says };
		const char *file = files[i]->d_name;
		int r = kind == EVENT_OFFER_PMU_EVENT
			? pmu_alias(o->sysfs, pmu, file, says, sizeof(says))
			: pmu_format(o->sysfs, pmu, file, says, sizeof(says));

		(void)snprintf(name, sizeof(name), "%s/%s%s/", pmu, file,
			       kind == EVENT_OFFER_PMU_EVENT ? "" : "=");
		if (go_on && r == 0) {
			offer.refused = kind == EVENT_OFFER_PMU_EVENT && is_refused(o, name);
			go_on = o->see(o->arg, &offer);
		}
		free(files[i]);
	}
	if (nr >= 0)
		free(files);
	return go_on;
}

static int
offer_pmus(const struct offering *o, const char *dir, enum event_offer_kind kind, bool *ret_go_on)
{
	struct pmu_names pmus;
	int r = pmu_matching(o->sysfs, NULL, NULL, &pmus);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; *ret_go_on && i < pmus.nr; i++)
		*ret_go_on = offer_files(o, pmus.names[i], dir, kind);
	pmu_names_done(&pmus);
	return 0;
}

/* --- forms, tracepoints ------------------------------------------------------------------------ */

static bool
offer_forms(const struct offering *o)
{
	static const struct {
		enum event_offer_kind kind;
		const char *name, *try;
		const char *pmu; /* of which it is; NULL: of none */
	} forms[] = {
		{ EVENT_OFFER_RAW, "rHEX", "r0", NULL },
		{ EVENT_OFFER_BREAKPOINT, "mem:ADDR[/LEN][:r|w|rw|x]", "mem:0x1000", NULL },
		{ EVENT_OFFER_PROBE, "uprobe:PATH:SYMBOL[+OFFSET]", NULL, "uprobe" },
		{ EVENT_OFFER_PROBE, "uretprobe:PATH:SYMBOL", NULL, "uprobe" },
		{ EVENT_OFFER_PROBE, "usdt:PATH:PROVIDER:NAME", NULL, "uprobe" },
		{ EVENT_OFFER_PROBE, "sdt:PROVIDER:NAME", NULL, "uprobe" },
		{ EVENT_OFFER_PROBE, "kprobe:SYMBOL[+OFFSET]", NULL, "kprobe" },
		{ EVENT_OFFER_PROBE, "kretprobe:SYMBOL", NULL, "kprobe" },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct event_offer offer = {
			.kind = forms[i].kind, .name = forms[i].name, .alias = "", .says = ""
		};
		uint32_t type;

		offer.refused = forms[i].pmu ? pmu_type(o->sysfs, forms[i].pmu, &type) < 0
					     : is_refused(o, forms[i].try);
		if (!o->see(o->arg, &offer))
			return false;
	}
	return true;
}

static int
offer_tracepoints(const struct offering *o, const char *tracefs)
{
	char name[EVENT_SPEC_NAME_BYTES];
	struct tracepoint_ids all;
	int r = tracepoint_ids_find(tracefs, "*", "*", &all);
	bool go_on = true;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; go_on && i < all.nr; i++) {
		const struct event_offer offer = {
			.kind = EVENT_OFFER_TRACEPOINT, .name = name, .alias = "", .says = ""
		};

		(void)snprintf(name, sizeof(name), "%s:%s", all.points[i].subsystem,
			       all.points[i].name);
		go_on = o->see(o->arg, &offer);
	}
	tracepoint_ids_done(&all);
	return 0;
}

int
event_offers_each(const struct event_spec_roots *roots,
		  bool (*see)(void *arg, const struct event_offer *offer), void *arg)
{
	struct offering o = { .roots = roots,
			      .sysfs = roots && roots->sysfs ? roots->sysfs : PMU_SYSFS,
			      .see = see,
			      .arg = arg };
	const char *tracefs = roots && roots->tracefs ? roots->tracefs : TRACEPOINT_TRACEFS;
	bool go_on = offer_names(&o);
	int r = 0;

	if (go_on)
		r = offer_pmus(&o, "events", EVENT_OFFER_PMU_EVENT, &go_on);
	if (r == 0 && go_on)
		r = offer_pmus(&o, "format", EVENT_OFFER_PMU_TERM, &go_on);
	if (r == 0 && go_on)
		go_on = offer_forms(&o);
	return r == 0 && go_on ? offer_tracepoints(&o, tracefs) : r;
}
