/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_feature: payloads of the sections of perf.data's header, made from what a
 * recording knows; BUILD_ID is perfdata_buildid's.
 *
 * Everything is appended to a buf, whose failure is sticky. Source:
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_FEATURE_H
#define FORMAT_PERFDATA_PERFDATA_FEATURE_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/event_set.h"

/* What perf 6.1 has; an older perf refuses attrs that are bigger than its own. */
#define PERFDATA_ATTR_BYTES 128

/*
 * Bytes that the attrs of all events take in a file: the smallest published size that covers
 * every field that is not 0. Attrs of up to keep bytes stay as long as they are.
 */
uint32_t perfdata_attr_bytes(const struct event_set *events, uint32_t keep);
/* One attr cut or filled up to bytes, and saying so in its size field. */
void perfdata_attr(struct buf *out, const struct event *event, uint32_t bytes);

/* HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC... */
void perfdata_feature_string(struct buf *out, const char *s);
void perfdata_feature_nrcpus(struct buf *out, uint32_t available, uint32_t online);
/* As one argument: where it was split is not known. */
void perfdata_feature_cmdline(struct buf *out, const char *s);
void perfdata_feature_event_desc(struct buf *out, const struct event_set *events,
				 uint32_t attr_bytes);
/*
 * Which events are in groups, from attrs as spoor's recorder makes them: members alone are opened enabled, and stand
 * behind their leader. The number of groups; with none, nothing is appended.
 */
uint32_t perfdata_feature_group_desc(struct buf *out, const struct event_set *events);
void perfdata_feature_sample_time(struct buf *out, uint64_t first_ns, uint64_t last_ns);
void perfdata_feature_clockid(struct buf *out, uint64_t resolution_ns);
/* The same instant on the wall clock and on the clock of the records. */
void perfdata_feature_clock_data(struct buf *out, uint32_t clockid, uint64_t wall_ns,
				 uint64_t clock_ns);

/* TRACING_DATA's section as the record of pipe mode. */
void perfdata_tracing_data_record(struct buf *out, struct span section);

#endif
