/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/reader_internal.h"

#include <string.h>

#include "format/block/recording_index.h"

#define VERIFY_ENTRIES_MAX (1u << 20) /* blocks between two INDEXes, to compare with */

struct audit {
	struct buf found; /* blocks since the last INDEX, as an INDEX would have them */
	uint64_t records, samples, raw_bytes;
};

static void
bad_index(struct recording_reader *r, const struct block *b, const char *what)
{
	r->seen.bad_indexes++;
	reader_damage(r, FMT_E_CORRUPT, b->offset, "%s", what);
	r->health = r->seen;
}

/*
 * Every block found has to be in the INDEX as it was found. Blocks that only the INDEX has
 * are damaged, and the hole they leave in the sequence has been counted.
 */
static bool
same_story(const struct recording_index *index, const struct recording_index *found)
{
	struct block_header a, b;
	uint32_t j = 0;

	for (uint32_t i = 0; i < index->count; i++) {
		recording_index_at(index, i, &a);
		for (; j < found->count; j++) {
			recording_index_at(found, j, &b);
			if (b.seq >= a.seq)
				break;
			/* Older than the first: of an INDEX that was lost. */
			if (i > 0)
				return false;
		}
		if (j < found->count && b.seq == a.seq) {
			if (memcmp(&a, &b, sizeof(a)) != 0)
				return false;
			j++;
		}
	}
	return j == found->count;
}

static void
audit_index(struct recording_reader *r, struct audit *audit, const struct block *b)
{
	struct recording_index index, found;

	if (recording_index_decode(b->payload, &index) != 0 ||
	    recording_index_decode(buf_span(&audit->found), &found) != 0)
		bad_index(r, b, "INDEX is malformed");
	else if (found.count < VERIFY_ENTRIES_MAX && !same_story(&index, &found))
		bad_index(r, b, "INDEX contradicts the blocks that it lists");
	recording_index_begin(&audit->found, b->header.offset);
}

static void
audit_end(struct recording_reader *r, const struct audit *audit, const struct block *b)
{
	struct recording_end end;

	if (recording_end_decode(b->payload, &end) != 0 || end.blocks != b->header.seq)
		bad_index(r, b, "END is malformed");
	else if (r->seen.damaged_blocks == 0 && r->seen.unknown_blocks == 0 &&
		 (end.records != audit->records || end.samples != audit->samples ||
		  end.raw_bytes != audit->raw_bytes))
		bad_index(r, b, "totals in END differ from those of the blocks");
}

/* Do records follow one another, and are they as many as the header says? */
static void
audit_records(struct recording_reader *r, struct audit *audit, const struct block *b)
{
	struct span records = b->payload, record;
	uint32_t n = 0, samples = 0;
	int more;

	while ((more = perf_record_next(&records, &record)) > 0) {
		n++;
		if (le32dec(record.p) == REC_SAMPLE)
			samples++;
	}
	if (more < 0 || n != b->header.records || samples < b->header.samples) {
		r->seen.damaged_blocks++;
		reader_damage(r, FMT_E_CORRUPT, b->offset, "block of %u records has %u%s",
			      b->header.records, n, more < 0 ? ", then something else" : "");
		r->health = r->seen;
	}
	if (b->header.type == BLOCK_RECORDS) {
		audit->records += b->header.records;
		audit->samples += b->header.samples;
	}
}

int
recording_reader_verify(struct recording_reader *r, struct fmt_where *where)
{
	struct audit audit = { 0 };
	struct block b;
	int result;

	recording_reader_rewind(r);
	recording_index_begin(&audit.found, 0);
	while ((result = recording_reader_next(r, NULL, NULL, &b, where)) > 0) {
		if (b.header.type == BLOCK_RECORDS || b.header.type == BLOCK_STATE)
			audit_records(r, &audit, &b);
		else if (b.header.type == BLOCK_INDEX)
			audit_index(r, &audit, &b);
		else if (b.header.type == BLOCK_END)
			audit_end(r, &audit, &b);
		audit.raw_bytes += b.header.raw_length;
		if (buf_failed(&audit.found))
			break;
		if (b.header.type != BLOCK_INDEX && le32dec(audit.found.p) < VERIFY_ENTRIES_MAX)
			recording_index_add(&audit.found, &b.header);
	}
	if (buf_failed(&audit.found))
		result = fmt_fail(where, FMT_E_NOMEM, 0, "index");
	buf_done(&audit.found);
	return result < 0 ? result : !recording_health_clean(&r->health);
}
