/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_event.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "format/perfdata/perfdata_header.h"
#include "format/record/perf_record.h"

int
perfdata_event_add(struct event_set *set, struct span attr, struct span ids)
{
	size_t index;
	int error = event_set_add(set, attr, NULL, &index);

	if (error)
		return error == -FMT_E_NOMEM ? error : -FMT_E_CORRUPT;
	for (size_t i = 0; i < span_words(ids); i++) {
		if (event_set_add_id(set, index, span_word(ids, i)) == -FMT_E_NOMEM)
			return -FMT_E_NOMEM;
	}
	return 0;
}

int
perfdata_event_attr(struct event_set *set, struct span record)
{
	struct event_attr attr;
	struct span rest;

	if (!span_skip(&record, PERF_RECORD_HEADER_BYTES))
		return -FMT_E_CORRUPT;
	rest = record;
	if (event_attr_parse(&rest, &attr) != 0)
		return -FMT_E_CORRUPT;
	return perfdata_event_add(set, span_of(record.p, attr.size), rest);
}

/* Renames; 1 when that changed something. */
static int
name_event(struct event_set *set, int index, const char *name)
{
	if (index < 0 || !*name || strcmp(event_set_at(set, (size_t)index)->name, name) == 0)
		return 0;
	return event_set_rename(set, (size_t)index, name) < 0 ? -FMT_E_NOMEM : 1;
}

/* Takes the unit of an event. A unit that is too long is left out. */
static int
name_unit(struct event_set *set, int index, const char *name)
{
	const size_t len = strlen(name);
	struct count_unit u;

	if (index < 0 || len >= sizeof(u.name))
		return 0;
	u = event_set_at(set, (size_t)index)->unit;
	if (strcmp(u.name, name) == 0)
		return 0;
	memcpy(u.name, name, len + 1);
	event_set_unit(set, (size_t)index, &u);
	return 1;
}

/* 1, too, is none. One that is no finite number over 0 is passed over. */
static int
scale_unit(struct event_set *set, int index, uint64_t bits)
{
	struct count_unit u;
	double scale;

	memcpy(&scale, &bits, sizeof(scale));
	if (index < 0)
		return 0;
	u = event_set_at(set, (size_t)index)->unit;
	if (u.scale == scale || (u.scale == 0 && scale == 1))
		return 0;
	u.scale = scale;
	if (!count_unit_valid(&u))
		return 0;
	event_set_unit(set, (size_t)index, &u);
	return 1;
}

int
perfdata_event_update(struct event_set *set, struct span record)
{
	uint64_t what, id, scale;
	const char *text;
	int index;

	if (!span_skip(&record, PERF_RECORD_HEADER_BYTES) || !span_u64(&record, &what) ||
	    !span_u64(&record, &id))
		return -FMT_E_CORRUPT;
	index = event_set_find(set, id);
	switch (what) {
	case PERFDATA_UPDATE_SCALE:
		return span_u64(&record, &scale) ? scale_unit(set, index, scale) : -FMT_E_CORRUPT;
	case PERFDATA_UPDATE_UNIT:
		return span_string(&record, &text) ? name_unit(set, index, text) : -FMT_E_CORRUPT;
	case PERFDATA_UPDATE_NAME:
		return span_string(&record, &text) ? name_event(set, index, text) : -FMT_E_CORRUPT;
	}
	return 0;
}

/* The event that the section's index-th is: by an id, or by its place when it has none. */
static int
find_described(const struct event_set *set, uint32_t index, const struct event_attr *attr,
	       struct span ids)
{
	const struct event *e;

	if (span_words(ids) > 0)
		return event_set_find(set, span_word(ids, 0));
	if (index >= event_set_count(set))
		return -1;
	e = event_set_at(set, index);
	return e->attr.type == attr->type && e->attr.config == attr->config ? (int)index : -1;
}

int
perfdata_event_desc(struct event_set *set, struct span s)
{
	uint32_t nr, attr_size, nr_ids, length;
	int error;

	if (!span_u32(&s, &nr) || !span_u32(&s, &attr_size))
		return -FMT_E_CORRUPT;
	for (uint32_t i = 0; i < nr; i++) {
		struct span bytes, text, ids;
		struct event_attr attr;
		const char *name;

		if (!span_take(&s, attr_size, &bytes) || !span_u32(&s, &nr_ids) ||
		    !span_u32(&s, &length) || !span_take(&s, length, &text) ||
		    !span_take_words(&s, nr_ids, 1, &ids) || !span_string(&text, &name) ||
		    event_attr_parse(&bytes, &attr) != 0)
			return -FMT_E_CORRUPT;
		error = name_event(set, find_described(set, i, &attr, ids), name);
		if (error < 0)
			return error;
	}
	return 0;
}

/* --- names for those that have none ------------------------------------------------------ */

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* "u", "kppp"... as on perf's command line, with its colon; "" when there is nothing to say. */
static void
put_modifiers(const struct event_attr *a, char *out, size_t size)
{
	unsigned int precise = (a->flags >> 15) & 3;
	bool some = event_attr_has(a, EVENT_ATTR_exclude_kernel) ||
		event_attr_has(a, EVENT_ATTR_exclude_user) ||
		event_attr_has(a, EVENT_ATTR_exclude_hv);
	bool host = event_attr_has(a, EVENT_ATTR_exclude_host) ||
		event_attr_has(a, EVENT_ATTR_exclude_guest) == (some || precise);

	snprintf(out, size, "%s%s%s%s%.*s%s%s", some || precise || host ? ":" : "",
		 some && !event_attr_has(a, EVENT_ATTR_exclude_kernel) ? "k" : "",
		 some && !event_attr_has(a, EVENT_ATTR_exclude_user) ? "u" : "",
		 some && !event_attr_has(a, EVENT_ATTR_exclude_hv) ? "h" : "", (int)precise, "ppp",
		 host && !event_attr_has(a, EVENT_ATTR_exclude_host) ? "H" : "",
		 host && !event_attr_has(a, EVENT_ATTR_exclude_guest) ? "G" : "");
}

static void
default_name(const struct event_attr *a, char *out, size_t size)
{
	const char *known = NULL;
	char modifiers[16];

	put_modifiers(a, modifiers, sizeof(modifiers));
	if (a->type == PERF_TYPE_HARDWARE && a->config < LENGTH(hardware))
		known = hardware[a->config];
	else if (a->type == PERF_TYPE_SOFTWARE && a->config < LENGTH(software))
		known = software[a->config];
	if (known)
		snprintf(out, size, "%s%s", known, modifiers);
	else if (a->type == PERF_TYPE_RAW)
		snprintf(out, size, "raw 0x%" PRIx64 "%s", a->config, modifiers);
	else
		snprintf(out, size, "type %" PRIu32 " 0x%" PRIx64 "%s", a->type, a->config,
			 modifiers);
}

int
perfdata_event_default_names(struct event_set *set)
{
	char name[64];

	for (size_t i = 0; i < event_set_count(set); i++) {
		if (*event_set_at(set, i)->name)
			continue;
		default_name(&event_set_at(set, i)->attr, name, sizeof(name));
		if (event_set_rename(set, i, name) < 0)
			return -FMT_E_NOMEM;
	}
	return 0;
}
