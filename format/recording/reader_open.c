/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/reader_internal.h"

#include <string.h>

#include "format/block/recording_header.h"
#include "format/bytes/crc32c.h"

#define ID_BYTES_KEPT 48 /* what an id costs, in the list of its event and among all */

/* Takes over m, decoded from raw. */
static int
adopt_meta(struct recording_reader *r, struct recording_meta *m, struct span raw)
{
	buf_clear(&r->meta_raw);
	buf_append(&r->meta_raw, raw.p, raw.len);
	if (buf_failed(&r->meta_raw)) {
		recording_meta_free(m);
		return -FMT_E_NOMEM;
	}
	r->metas[r->nr_metas++] = m;
	r->meta_bytes_kept += raw.len;
	return 0;
}

/*
 * The events are those that are known, and have more ids: they go to the meta that there is,
 * so that a file in which CPUs came and went all day is no different from others.
 */
static int
merge_ids(struct recording_reader *r, const struct recording_meta *m)
{
	struct event_set *known = reader_meta(r)->events;

	for (size_t i = 0; i < event_set_count(m->events); i++) {
		const struct event *e = event_set_at(m->events, i);

		for (size_t k = 0; k < e->nr_ids; k++) {
			if (event_set_find(known, e->ids[k]) >= 0)
				continue;
			if (r->meta_bytes_kept > BLOCK_RAW_MAX)
				return 0;
			r->meta_bytes_kept += ID_BYTES_KEPT;
			if (event_set_add_id(known, i, e->ids[k]) == -FMT_E_NOMEM)
				return -FMT_E_NOMEM;
		}
	}
	return 0;
}

/* Notes become more while the file is written. */
static int
merge_notes(struct recording_reader *r, const struct recording_meta *m)
{
	struct recording_meta *known = r->metas[r->nr_metas - 1];

	if (strlen(m->notes) <= strlen(known->notes))
		return 0;
	return recording_meta_set(&known->notes, m->notes);
}

int
reader_update_meta(struct recording_reader *r, const struct block_header *h, struct span raw)
{
	struct recording_meta *m;
	int error;

	r->meta_seen[0] = h->payload_crc;
	r->meta_seen[1] = h->raw_length;
	if (raw.len == r->meta_raw.len && memcmp(raw.p, r->meta_raw.p, raw.len) == 0)
		return 0;
	error = recording_meta_decode(raw, &m);
	if (error)
		return error == -FMT_E_CORRUPT ? 0 : error;
	if (memcmp(m->file_id, r->file_id, FILE_ID_BYTES) != 0 ||
	    event_set_count(m->events) < event_set_count(reader_meta(r)->events)) {
		recording_meta_free(m);
		return 0;
	}
	if (event_set_count(m->events) == event_set_count(reader_meta(r)->events)) {
		error = merge_ids(r, m);
		if (!error)
			error = merge_notes(r, m);
		recording_meta_free(m);
		return error;
	}
	if (r->nr_metas == META_CHANGES_MAX || raw.len + r->meta_bytes_kept > BLOCK_RAW_MAX) {
		recording_meta_free(m);
		return 0;
	}
	return adopt_meta(r, m, raw);
}

int
reader_open_by_header(struct recording_reader *r, struct fmt_where *where)
{
	struct recording_header h;
	struct recording_meta *m;
	struct span s;
	uint8_t *p;
	ssize_t n;
	int error = reader_peek(r, 0, RECORDING_HEADER_BYTES_MAX, PEEK_BYTES, &s, where);

	if (error)
		return error;
	error = recording_header_decode(s, &h);
	if (error == -FMT_E_VERSION)
		return fmt_fail(where, FMT_E_VERSION, 0, "in the file header");
	if (error)
		return 1;
	p = buf_reserve(&r->stored, h.meta_length);
	if (!p)
		return fmt_fail(where, FMT_E_NOMEM, 0, "meta of %u bytes", h.meta_length);
	n = r->source->read(r->source, h.header_size, p, h.meta_length);
	if (n < 0)
		return reader_io_fail(where, n, h.header_size);
	s = span_of(p, (size_t)n);
	if (s.len != h.meta_length || crc32c(0, s.p, s.len) != h.meta_crc)
		return 1;
	error = recording_meta_decode(s, &m);
	if (error == -FMT_E_CORRUPT)
		return 1;
	if (error)
		return fmt_fail(where, error, h.header_size, "in the meta");
	if (memcmp(m->file_id, h.file_id, FILE_ID_BYTES) != 0) {
		recording_meta_free(m);
		return 1;
	}
	memcpy(r->file_id, h.file_id, FILE_ID_BYTES);
	r->first = recording_header_end(&h);
	error = adopt_meta(r, m, s);
	return error ? fmt_fail(where, FMT_E_NOMEM, 0, "meta") : 0;
}

/*
 * A META block whose header cannot be checked, because the file id is inside: first the
 * payload has to be right, then the header by the id found in it. 1, 0 it is not, negative.
 */
static int
try_meta(struct recording_reader *r, uint64_t at, bool moved, struct fmt_where *where)
{
	struct block_header h;
	struct recording_meta *m;
	struct span raw;
	int result = reader_header_at(r, at, NULL, &h, where);

	if (result <= 0)
		return result;
	if (h.type != BLOCK_META || h.raw_length > RECORDING_META_MAX || r->wasted > WASTE_MAX)
		return 0;
	if ((h.offset != at) != moved)
		return 0;
	r->wasted += h.stored_length;
	result = reader_load(r, at, &h, &raw, where);
	if (result <= 0)
		return result;
	result = recording_meta_decode(raw, &m);
	if (result == -FMT_E_CORRUPT)
		return 0;
	if (result)
		return fmt_fail(where, result, at, "in a META block");
	result = reader_header_at(r, at, m->file_id, &h, where);
	if (result <= 0) {
		recording_meta_free(m);
		return result;
	}
	memcpy(r->file_id, m->file_id, FILE_ID_BYTES);
	result = adopt_meta(r, m, raw);
	return result ? fmt_fail(where, FMT_E_NOMEM, at, "meta") : 1;
}

/* Looks for a META block where it was written, or somewhere else: 1, 0, negative. */
static int
find_meta(struct recording_reader *r, bool moved, struct fmt_where *where)
{
	uint64_t at = 0;
	int result;

	while ((result = reader_find_sync(r, at, &at, where)) > 0) {
		result = try_meta(r, at, moved, where);
		if (result)
			return result;
		at += SYNC_BYTES;
	}
	return result;
}

int
reader_open_by_block(struct recording_reader *r, struct fmt_where *where)
{
	struct span s;
	int result = reader_peek(r, 0, RECORDING_MAGIC_BYTES, PEEK_BYTES, &s, where);
	bool magic;

	if (result)
		return result;
	/* Also a few first bytes are enough to say what the file was going to be. */
	magic = memcmp(s.p, RECORDING_MAGIC,
		       s.len < RECORDING_MAGIC_BYTES ? s.len : RECORDING_MAGIC_BYTES) == 0;
	/* One in its place first: another recording may stand inside a payload of this one. */
	result = find_meta(r, false, where);
	if (result == 0)
		result = find_meta(r, true, where);
	if (result)
		return result < 0 ? result : 0;
	if (!magic)
		return fmt_fail(where, FMT_E_NOT_RECORDING, 0, "no magic at its beginning");
	return fmt_fail(where, FMT_E_CORRUPT, 0,
			"the file header is damaged and there is no whole META block");
}
