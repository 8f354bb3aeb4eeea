/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/export_sections.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "format/block/buildids.h"
#include "format/block/foreign.h"
#include "format/perfdata/perfdata_feature.h"
#include "format/perfdata/perfdata_tracing.h"
#include "symbolizer/resolve/kernel_symbols.h"

/*
 * A recording does not know its CPU, but perf data convert --to-json (6.1) crashes where these
 * sections are missing, and perf annotate stops at an id that it cannot take apart: vendor,
 * family, model and stepping on x86, five fields on s390.
 */
#define CPU_UNKNOWN "unknown"
#define CPUID_UNKNOWN "unknown,0,0,0,0,0"

/* --- what blocks tell -------------------------------------------------------------------- */

static bool
is_wanted(const struct block_header *h, void *arg)
{
	struct export_sections *s = arg;

	s->aux |= h->type == BLOCK_AUX;
	return h->type == BLOCK_FOREIGN || h->type == BLOCK_BUILDIDS;
}

/* What tells of the file that the section was in, and is not so in another one. */
static bool
is_of_file(uint32_t feature)
{
	return feature == PERFDATA_FEATURE_AUXTRACE || feature == PERFDATA_FEATURE_DIR_FORMAT ||
		feature == PERFDATA_FEATURE_COMPRESSED;
}

/* A few bytes can unpack to gigabytes of what has to be in memory before it is written. */
static void
export_sections_keep(struct export_sections *s, uint32_t feature, struct span payload)
{
	if (payload.len > EXPORT_SECTIONS_MAX - s->bytes) {
		s->left_out++;
		return;
	}
	s->bytes += payload.len;
	s->have[feature] = true;
	buf_append(&s->payload[feature], payload.p, payload.len);
}

static void
take_feature(struct export_sections *s, uint32_t feature, struct span payload)
{
	if (feature < PERFDATA_FEATURES_MAX && !is_of_file(feature) && !s->have[feature])
		export_sections_keep(s, feature, payload);
}

/* Two records of pipe mode are sections in file mode. */
static void
take_record(struct export_sections *s, uint32_t type, struct span record)
{
	if (type == PERFDATA_TRACING_DATA) {
		/* Its head is of 12 or 16 bytes: the record's own size tells. */
		if (record.len >= 8 && span_skip(&record, le16dec(record.p + 6)))
			take_feature(s, PERFDATA_FEATURE_TRACING_DATA, record);
	} else if (type == PERFDATA_BUILD_ID) {
		export_sections_keep(s, PERFDATA_FEATURE_BUILD_ID, record);
	}
}

static int
take_foreign(struct export_sections *s, struct span payload)
{
	struct foreign f;
	int result;

	while ((result = foreign_next(&payload, &f)) > 0) {
		s->imported = true;
		if (f.kind == FOREIGN_FEATURE)
			take_feature(s, f.id, f.bytes);
		else if (f.kind == FOREIGN_RECORD)
			take_record(s, f.id, f.bytes);
	}
	return result;
}

static int
take_build_ids(struct export_sections *s, struct span payload)
{
	struct buildid_entry e;
	size_t cursor = 0;
	int result;

	while ((result = buildids_next(payload, &cursor, &e)) > 0) {
		result = buildid_table_add(s->build_ids, e.path, e.path_len, &e.id);
		if (result < 0)
			return result;
	}
	return result;
}

int
export_sections_init(struct export_sections *s)
{
	memset(s, 0, sizeof(*s));
	s->first_ns = UINT64_MAX;
	s->build_ids = buildid_table_new();
	return s->build_ids ? 0 : -FMT_E_NOMEM;
}

void
export_sections_done(struct export_sections *s)
{
	for (size_t i = 0; i < PERFDATA_FEATURES_MAX; i++)
		buf_done(&s->payload[i]);
	buildid_table_free(s->build_ids);
	memset(s, 0, sizeof(*s));
}

/* --- what records tell ------------------------------------------------------------------- */

int
export_sections_see(struct export_sections *s, const struct perf_record *r)
{
	if (r->type == REC_SAMPLE && (r->sid.have & PERF_SAMPLE_TIME)) {
		if (r->sid.time < s->first_ns)
			s->first_ns = r->sid.time;
		if (r->sid.time > s->last_ns)
			s->last_ns = r->sid.time;
	}
	if (s->imported || r->type != REC_MMAP2 || !r->mmap.build_id.size)
		return 0;
	return buildid_table_add(s->build_ids, r->mmap.filename, strlen(r->mmap.filename),
				 &r->mmap.build_id);
}

/* --- what the meta tells ----------------------------------------------------------------- */

/* The payload of a section that is not there yet, to be filled; NULL: it is. */
static struct buf *
missing(struct export_sections *s, enum perfdata_feature feature, bool known)
{
	if (s->have[feature] || !known)
		return NULL;
	s->have[feature] = true;
	return &s->payload[feature];
}

static void
complete_string(struct export_sections *s, enum perfdata_feature feature, const char *text)
{
	struct buf *b = missing(s, feature, text[0] != '\0');

	if (b)
		perfdata_feature_string(b, text);
}

static void
complete_clocks(struct export_sections *s, const struct recording_meta *m)
{
	bool known = !s->imported && m->clockid == CLOCK_MONOTONIC;
	struct buf *b = missing(s, PERFDATA_FEATURE_CLOCKID, known);

	if (b)
		perfdata_feature_clockid(b, 1);
	b = missing(s, PERFDATA_FEATURE_CLOCK_DATA, known && m->start.realtime != 0);
	if (b)
		perfdata_feature_clock_data(b, m->clockid, m->start.realtime, m->start.monotonic);
}

static void
complete_host(struct export_sections *s, const struct recording_meta *m)
{
	struct buf *b;

	complete_string(s, PERFDATA_FEATURE_HOSTNAME, m->hostname);
	complete_string(s, PERFDATA_FEATURE_OSRELEASE, m->release);
	complete_string(s, PERFDATA_FEATURE_ARCH, m->arch);
	if (!s->imported) {
		complete_string(s, PERFDATA_FEATURE_VERSION, m->writer);
		complete_string(s, PERFDATA_FEATURE_CPUDESC, CPU_UNKNOWN);
		complete_string(s, PERFDATA_FEATURE_CPUID, CPUID_UNKNOWN);
	}
	b = missing(s, PERFDATA_FEATURE_NRCPUS, m->cpus_possible != 0);
	if (b)
		perfdata_feature_nrcpus(b, m->cpus_possible, m->cpus_online);
	b = missing(s, PERFDATA_FEATURE_CMDLINE, m->cmdline[0] != '\0');
	if (b)
		perfdata_feature_cmdline(b, m->cmdline);
}

static void
complete_events(struct export_sections *s, const struct event_set *events)
{
	size_t nr = event_set_count(events);
	struct buf *b = missing(s, PERFDATA_FEATURE_EVENT_DESC, nr > 0);

	if (b)
		perfdata_feature_event_desc(
			b, events,
			perfdata_attr_bytes(events, s->imported ? PERFDATA_ATTR_BYTES : 0));
	b = missing(s, PERFDATA_FEATURE_GROUP_DESC, !s->imported);
	if (b)
		s->have[PERFDATA_FEATURE_GROUP_DESC] = perfdata_feature_group_desc(b, events) > 0;
	b = missing(s, PERFDATA_FEATURE_TRACING_DATA, perfdata_tracing_count(events) > 0);
	if (b)
		perfdata_tracing_section(b, events);
	for (size_t i = 0; i < nr; i++)
		if (event_set_at(events, i)->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			s->have[PERFDATA_FEATURE_BRANCH_STACK] = true;
}

/* Of an import, the build-ids that it had are all there are. */
static void
complete_build_ids(struct export_sections *s)
{
	struct buf *b = &s->payload[PERFDATA_FEATURE_BUILD_ID];

	if (s->imported)
		return;
	buf_clear(b);
	s->left_out += buildid_table_section(s->build_ids, b) < 0;
	s->have[PERFDATA_FEATURE_BUILD_ID] = b->len > 0;
}

static void
complete_sample_time(struct export_sections *s, bool seen)
{
	struct buf *b = &s->payload[PERFDATA_FEATURE_SAMPLE_TIME];

	if ((s->have[PERFDATA_FEATURE_SAMPLE_TIME] && !seen) || s->first_ns > s->last_ns)
		return;
	s->have[PERFDATA_FEATURE_SAMPLE_TIME] = true;
	buf_clear(b);
	perfdata_feature_sample_time(b, s->first_ns, s->last_ns);
}

/* --- all of it --------------------------------------------------------------------------- */

int
export_sections_read(struct export_sections *s, struct recording_reader *reader,
		     struct fmt_where *where)
{
	const struct recording_meta *meta;
	struct block block;
	int error = 0, result;

	recording_reader_rewind(reader);
	while ((result = recording_reader_next(reader, is_wanted, s, &block, where)) > 0) {
		/* What is damaged inside a good block is as far as it goes. */
		error = block.header.type == BLOCK_FOREIGN ? take_foreign(s, block.payload)
							   : take_build_ids(s, block.payload);
		if (error == -FMT_E_NOMEM)
			return fmt_fail(where, FMT_E_NOMEM, block.offset, "build-ids");
	}
	meta = recording_reader_meta(reader);
	complete_host(s, meta);
	complete_clocks(s, meta);
	if (buildid_table_add(s->build_ids, KERNEL_DSO, strlen(KERNEL_DSO),
			      &meta->kernel_build_id) < 0)
		return fmt_fail(where, FMT_E_NOMEM, 0, "build-ids");
	recording_reader_rewind(reader);
	return result;
}

int
export_sections_write(struct export_sections *s, const struct event_set *events, bool sample_times,
		      struct perfdata_writer *w, struct fmt_where *where)
{
	int error = 0;

	complete_events(s, events);
	complete_build_ids(s);
	complete_sample_time(s, sample_times);
	for (unsigned int i = 0; i < PERFDATA_FEATURES_MAX && !error; i++) {
		if (buf_failed(&s->payload[i]))
			error = fmt_fail(where, FMT_E_NOMEM, 0, "section %u", i);
		else if (s->have[i])
			error = perfdata_writer_feature(w, i, buf_span(&s->payload[i]), where);
	}
	return error;
}
