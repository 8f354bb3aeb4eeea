/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_about.h"

#include <stdio.h>

#include "format/perfdata/perfdata_buildid.h"
#include "format/perfdata/perfdata_event.h"
#include "format/perfdata/perfdata_header.h"
#include "format/perfdata/perfdata_tracing.h"

#define CMDLINE_MAX (64u << 10)
#define CLOCK_ID_BOOTTIME 7

/* u32 length, and as many bytes, with a NUL among them. */
static bool
get_string(struct span *s, const char **ret)
{
	struct span text;
	uint32_t length;

	return span_u32(s, &length) && span_take(s, length, &text) && span_string(&text, ret);
}

static int
set_string(struct span s, char **field)
{
	const char *text;

	return get_string(&s, &text) ? recording_meta_set(field, text) : -FMT_E_CORRUPT;
}

static int
set_version(struct span s, struct recording_meta *m)
{
	const char *version;
	char writer[128];

	if (!get_string(&s, &version))
		return -FMT_E_CORRUPT;
	snprintf(writer, sizeof(writer), "perf %s", version);
	return recording_meta_set(&m->writer, writer);
}

static int
set_cpus(struct span s, struct recording_meta *m)
{
	uint32_t available, online;

	if (!span_u32(&s, &available) || !span_u32(&s, &online))
		return -FMT_E_CORRUPT;
	m->cpus_possible = available;
	m->cpus_online = online;
	return 0;
}

static int
set_cmdline(struct span s, struct recording_meta *m)
{
	struct buf line;
	const char *word;
	uint32_t nr;
	int error = -FMT_E_CORRUPT;

	if (!span_u32(&s, &nr))
		return error;
	buf_init(&line);
	while (nr > 0 && line.len < CMDLINE_MAX && get_string(&s, &word)) {
		if (line.len > 0)
			buf_u8(&line, ' ');
		buf_append(&line, word, strlen(word));
		nr--;
	}
	buf_u8(&line, 0);
	if (buf_failed(&line))
		error = -FMT_E_NOMEM;
	else if (nr == 0 || line.len >= CMDLINE_MAX)
		error = recording_meta_set(&m->cmdline, (const char *)line.p);
	buf_done(&line);
	return error;
}

/* The same instant by the wall's clock and by the records'. */
static int
set_clocks(struct span s, struct recording_meta *m)
{
	uint32_t version, clockid;
	uint64_t wall, clock;

	if (!span_u32(&s, &version) || !span_u32(&s, &clockid) || !span_u64(&s, &wall) ||
	    !span_u64(&s, &clock))
		return -FMT_E_CORRUPT;
	m->clockid = clockid;
	m->start.realtime = wall;
	m->start.monotonic = clock;
	m->start.boottime = clockid == CLOCK_ID_BOOTTIME ? clock : 0;
	return 0;
}

static int
set_kernel(struct span s, struct recording_meta *m)
{
	struct perfdata_buildid b;
	int more;

	while ((more = perfdata_buildid_next(&s, &b)) > 0) {
		if (!perfdata_buildid_is_kernel(&b))
			continue;
		m->kernel_build_id = b.id;
	}
	return more;
}

int
perfdata_about_apply(struct recording_meta *m, uint32_t feature, struct span payload)
{
	switch (feature) {
	case PERFDATA_FEATURE_TRACING_DATA:
		return perfdata_tracing_read(payload, m->events);
	case PERFDATA_FEATURE_BUILD_ID:
		return set_kernel(payload, m);
	case PERFDATA_FEATURE_HOSTNAME:
		return set_string(payload, &m->hostname);
	case PERFDATA_FEATURE_OSRELEASE:
		return set_string(payload, &m->release);
	case PERFDATA_FEATURE_VERSION:
		return set_version(payload, m);
	case PERFDATA_FEATURE_ARCH:
		return set_string(payload, &m->arch);
	case PERFDATA_FEATURE_NRCPUS:
		return set_cpus(payload, m);
	case PERFDATA_FEATURE_CMDLINE:
		return set_cmdline(payload, m);
	case PERFDATA_FEATURE_EVENT_DESC:
		return perfdata_event_desc(m->events, payload);
	case PERFDATA_FEATURE_CLOCK_DATA:
		return set_clocks(payload, m);
	}
	return 0;
}
