/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording_reader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "format/crc32c.h"
#include "format/recording_header.h"
#include "format/recording_index.h"

#define READER_MAGIC 0x73705272u
#define SYNC_BYTES 8
#define PEEK_BYTES 4096		/* read for a header: more would be read again as payload */
#define SCAN_BYTES (256u << 10) /* read at a time looking for a sync magic */
#define WASTE_MAX (256u << 20)	/* payload bytes read for headers that lied, see wasted */
#define META_CHANGES_MAX 256	/* METAs that differ from the one before, kept for borrowers */
#define VERIFY_ENTRIES_MAX (1u << 20) /* blocks between two INDEXes, to compare with */

struct recording_reader {
	uint32_t magic;
	struct io_source *source;
	uint64_t size; /* at the beginning of this call */
	uint8_t file_id[FILE_ID_BYTES];
	uint64_t first; /* where the first block stands; 0: look from the beginning */

	struct recording_meta *metas[META_CHANGES_MAX]; /* the last is the current one */
	size_t nr_metas;
	size_t meta_bytes_kept;
	struct buf meta_raw;   /* the current one, encoded */
	uint32_t meta_seen[2]; /* CRC and length of the META block last looked at */

	uint64_t end;	 /* of the last block accepted */
	uint64_t pos;	 /* where to look for the next: >= end */
	uint64_t unread; /* != 0: the last block's payload was not looked at, and begins here */
	uint64_t next_seq;
	uint64_t bad_seq; /* 1 + the highest seq of a block whose payload is damaged */
	uint64_t shift;	  /* found offset - written offset of the last block */
	/*
	 * A file can hold a million headers that are right, each claiming the same 64 MiB. When
	 * that much has been read in vain, what such a header claims is skipped unread.
	 */
	uint64_t wasted;

	struct recording_health opened; /* after opening: what rewinding goes back to */
	struct recording_health seen;	/* up to the last block */
	struct recording_health health; /* and with what the end of the file shows */

	uint8_t *window; /* cached bytes of the file */
	uint64_t window_at;
	size_t window_len;
	struct buf stored, raw;
	ZSTD_DCtx *zstd;
};

/* --- bytes ------------------------------------------------------------------------------- */

static int
io_fail(struct fmt_where *where, int64_t error, uint64_t offset)
{
	errno = (int)-error;
	return fmt_fail(where, FMT_E_IO, offset, "read");
}

static int
update_size(struct recording_reader *r, struct fmt_where *where)
{
	int64_t size = r->source->size(r->source);

	if (size < 0)
		return io_fail(where, size, 0);
	r->size = (uint64_t)size;
	return 0;
}

/*
 * Bytes at an offset: at least need, unless the file ends before, by way of the window;
 * fill (up to SCAN_BYTES) are read when they are not there.
 */
static int
peek(struct recording_reader *r, uint64_t at, size_t need, size_t fill, struct span *ret,
     struct fmt_where *where)
{
	uint64_t skip = at - r->window_at;
	ssize_t n;

	if (at < r->window_at || skip > r->window_len || need > r->window_len - skip) {
		n = r->source->read(r->source, at, r->window, fill);
		if (n < 0) {
			r->window_len = 0;
			return io_fail(where, n, at);
		}
		r->window_at = at;
		r->window_len = (size_t)n;
		skip = 0;
	}
	*ret = span_of(r->window + skip, r->window_len - (size_t)skip);
	return 0;
}

/* The next sync magic at or after from: 1, 0 there is none, negative. */
static int
find_sync(struct recording_reader *r, uint64_t from, uint64_t *ret_at, struct fmt_where *where)
{
	struct span s;
	const uint8_t *hit;
	int error;

	for (;;) {
		error = peek(r, from, SYNC_BYTES, SCAN_BYTES, &s, where);
		if (error)
			return error;
		if (s.len < SYNC_BYTES)
			return 0;
		hit = memmem(s.p, s.len, BLOCK_SYNC, SYNC_BYTES);
		if (hit) {
			*ret_at = from + (uint64_t)(hit - s.p);
			return 1;
		}
		from += s.len - (SYNC_BYTES - 1);
	}
}

static uint64_t
extent(const struct block_header *h)
{
	return (uint64_t)h->header_size + h->stored_length;
}

/* Is there a header at this offset that one can believe, with its payload in the file? 0/1. */
static int
header_at(struct recording_reader *r, uint64_t at, const uint8_t *file_id, struct block_header *ret,
	  struct fmt_where *where)
{
	struct span s;
	int error = peek(r, at, BLOCK_HEADER_BYTES_MAX, PEEK_BYTES, &s, where);

	if (error)
		return error;
	if (block_header_decode(s, file_id, ret) != 0)
		return 0;
	return at <= r->size && extent(ret) <= r->size - at;
}

static int
decompress(struct recording_reader *r, const struct block_header *h, struct span stored,
	   struct span *ret)
{
	size_t n;

	/* Before memory is taken: the frame has to be one, whole, and say the same length. */
	if (ZSTD_getFrameContentSize(stored.p, stored.len) != h->raw_length ||
	    ZSTD_findFrameCompressedSize(stored.p, stored.len) != stored.len)
		return 0;
	buf_clear(&r->raw);
	if (!buf_reserve(&r->raw, h->raw_length))
		return -FMT_E_NOMEM;
	n = ZSTD_decompressDCtx(r->zstd, r->raw.p, h->raw_length, stored.p, stored.len);
	if (ZSTD_isError(n) || n != h->raw_length)
		return 0;
	*ret = span_of(r->raw.p, n);
	return 1;
}

/* Reads and checks a payload: 1, 0 when it is damaged, negative. */
static int
load(struct recording_reader *r, uint64_t at, const struct block_header *h, struct span *ret,
     struct fmt_where *where)
{
	struct span stored;
	ssize_t n;
	int result;

	buf_clear(&r->stored);
	if (!buf_reserve(&r->stored, h->stored_length))
		return fmt_fail(where, FMT_E_NOMEM, at, "payload of %u bytes", h->stored_length);
	n = r->source->read(r->source, at + h->header_size, r->stored.p, h->stored_length);
	if (n < 0)
		return io_fail(where, n, at + h->header_size);
	stored = span_of(r->stored.p, (size_t)n);
	if (stored.len != h->stored_length || crc32c(0, stored.p, stored.len) != h->payload_crc)
		return 0;
	if (h->flags & BLOCK_F_STORED) {
		*ret = stored;
		return 1;
	}
	result = decompress(r, h, stored, ret);
	if (result < 0)
		return fmt_fail(where, FMT_E_NOMEM, at, "payload of %u bytes", h->raw_length);
	return result;
}

/* --- meta -------------------------------------------------------------------------------- */

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

/* A META block met on the way: events may have been added since the one before. */
static int
update_meta(struct recording_reader *r, const struct block_header *h, struct span raw)
{
	struct recording_meta *m;
	int error;

	r->meta_seen[0] = h->payload_crc;
	r->meta_seen[1] = h->raw_length;
	if (raw.len == r->meta_raw.len && memcmp(raw.p, r->meta_raw.p, raw.len) == 0)
		return 0;
	if (r->nr_metas == META_CHANGES_MAX || raw.len > BLOCK_RAW_MAX - r->meta_bytes_kept)
		return 0;
	error = recording_meta_decode(raw, &m);
	if (error)
		return error == -FMT_E_CORRUPT ? 0 : error;
	if (memcmp(m->file_id, r->file_id, FILE_ID_BYTES) != 0 ||
	    event_set_count(m->events) < event_set_count(recording_reader_meta(r)->events)) {
		recording_meta_free(m);
		return 0;
	}
	return adopt_meta(r, m, raw);
}

/* From the file header: 0 done, 1 damaged, negative. */
static int
open_by_header(struct recording_reader *r, struct fmt_where *where)
{
	struct recording_header h;
	struct recording_meta *m;
	struct span s;
	uint8_t *p;
	ssize_t n;
	int error = peek(r, 0, RECORDING_HEADER_BYTES_MAX, PEEK_BYTES, &s, where);

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
		return io_fail(where, n, h.header_size);
	s = span_of(p, (size_t)n);
	if (s.len != h.meta_length || crc32c(0, s.p, s.len) != h.meta_crc)
		return 1;
	error = recording_meta_decode(s, &m);
	if (error == -FMT_E_CORRUPT)
		return 1;
	if (error)
		return fmt_fail(where, (enum fmt_error) - error, h.header_size, "in the meta");
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
	int result = header_at(r, at, NULL, &h, where);

	if (result <= 0)
		return result;
	if (h.type != BLOCK_META || h.raw_length > RECORDING_META_MAX || r->wasted > WASTE_MAX)
		return 0;
	if ((h.offset != at) != moved)
		return 0;
	r->wasted += h.stored_length;
	result = load(r, at, &h, &raw, where);
	if (result <= 0)
		return result;
	result = recording_meta_decode(raw, &m);
	if (result == -FMT_E_CORRUPT)
		return 0;
	if (result)
		return fmt_fail(where, (enum fmt_error) - result, at, "in a META block");
	result = header_at(r, at, m->file_id, &h, where);
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

	while ((result = find_sync(r, at, &at, where)) > 0) {
		result = try_meta(r, at, moved, where);
		if (result)
			return result;
		at += SYNC_BYTES;
	}
	return result;
}

static int
open_by_block(struct recording_reader *r, struct fmt_where *where)
{
	struct span s;
	int result = peek(r, 0, RECORDING_MAGIC_BYTES, PEEK_BYTES, &s, where);
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

/* --- the walk ---------------------------------------------------------------------------- */

static void __attribute__((format(printf, 4, 5)))
damage(struct recording_reader *r, enum fmt_error error, uint64_t at, const char *detail, ...)
{
	char text[sizeof(r->seen.first.detail)];
	va_list ap;

	if (r->seen.first.detail[0])
		return;
	va_start(ap, detail);
	vsnprintf(text, sizeof(text), detail, ap);
	va_end(ap);
	fmt_fail(&r->seen.first, error, at, "%s", text);
}

/* Finds the next header of a block not had yet, from r->pos on: 1, 0 at the end, negative. */
static int
find_block(struct recording_reader *r, uint64_t *ret_at, struct block_header *ret,
	   struct fmt_where *where)
{
	uint64_t at = r->pos, unread = r->unread, from;
	int result;

	while (at < r->size) {
		result = header_at(r, at, r->file_id, ret, where);
		if (result < 0)
			return result;
		if (result > 0 && ret->seq >= r->next_seq) {
			*ret_at = at;
			return 1;
		}
		if (result > 0)
			damage(r, FMT_E_CORRUPT, at, "block %" PRIu64 " comes again", ret->seq);
		from = at + 1;
		/* If bytes are missing in the last block, this one begins inside of it. */
		if (unread != 0) {
			from = unread;
			unread = 0;
		}
		result = find_sync(r, from, &at, where);
		if (result <= 0)
			return result;
	}
	return 0;
}

/* Counts what lies between the last block and this one, which is whole. */
static void
accept_block(struct recording_reader *r, uint64_t at, const struct block_header *h, bool was_read)
{
	struct recording_health *seen = &r->seen;
	uint64_t shift = at - h->offset;

	seen->blocks++;
	if (at > r->end) {
		seen->damaged_bytes += at - r->end;
		damage(r, FMT_E_CORRUPT, r->end, "%" PRIu64 " bytes are not a block", at - r->end);
	} else if (at < r->end) {
		seen->damaged_blocks++;
		damage(r, FMT_E_CORRUPT, at, "a block begins inside the one before");
	}
	if (h->seq > r->next_seq) {
		seen->damaged_blocks += h->seq - r->next_seq;
		damage(r, FMT_E_CORRUPT, r->end, "%" PRIu64 " blocks are missing",
		       h->seq - r->next_seq);
	}
	if (shift != r->shift) {
		seen->moved_blocks++;
		damage(r, FMT_E_CORRUPT, at, "block was written at offset %" PRIu64, h->offset);
	}
	if (h->type == BLOCK_END)
		seen->closed = true;
	r->shift = shift;
	r->next_seq = h->seq + 1;
	r->pos = r->end = at + extent(h);
	r->unread = was_read ? 0 : at + h->header_size;
	r->health = *seen;
}

/* A header that is right before a payload that is not. */
static void
refuse_block(struct recording_reader *r, uint64_t at, const struct block_header *h)
{
	damage(r, FMT_E_CHECKSUM, at, "payload of block %" PRIu64, h->seq);
	if (h->seq >= r->bad_seq)
		r->bad_seq = h->seq + 1;
	r->wasted += h->stored_length;
	r->unread = 0;
	r->pos = at + (r->wasted > WASTE_MAX + r->size ? extent(h) : SYNC_BYTES);
}

/*
 * The end of the file, for now: what stands behind the last block may still grow into one,
 * so that the next call begins at it anew.
 */
static void
reach_end(struct recording_reader *r)
{
	r->health = r->seen;
	if (r->size > r->end)
		r->health.torn_tail_bytes = r->size - r->end;
	if (r->bad_seq > r->next_seq)
		r->health.damaged_blocks += r->bad_seq - r->next_seq;
	r->pos = r->end;
	r->window_len = 0;
}

/* 1: this version can read the block; 0: it need not; negative: it would have to. */
static int
understood(const struct block_header *h, uint64_t at, struct fmt_where *where)
{
	bool known = block_type_name(h->type) && h->encoding == BLOCK_VERBATIM &&
		!(h->flags & BLOCK_F_INCOMPATIBLE & ~BLOCK_F_KNOWN);

	if (known)
		return 1;
	if (h->flags & BLOCK_F_CRITICAL)
		return fmt_fail(where, FMT_E_VERSION, at,
				"block of type %u, encoding %u, flags %#x", h->type, h->encoding,
				h->flags);
	return 0;
}

/* Is this META block worth reading although nobody asked for it? */
static bool
is_new_meta(const struct recording_reader *r, const struct block_header *h)
{
	return h->type == BLOCK_META &&
		(h->payload_crc != r->meta_seen[0] || h->raw_length != r->meta_seen[1]);
}

/* One block found at an offset: 1 to hand out, 0 to go on, negative. */
static int
take_block(struct recording_reader *r, uint64_t at, const struct block_header *h, bool wanted,
	   struct span *ret, struct fmt_where *where)
{
	bool new_meta = is_new_meta(r, h);
	int known = understood(h, at, where);
	int result = 1;

	if (known < 0)
		return known;
	if (known == 0) {
		r->seen.unknown_blocks++;
		wanted = false;
	}
	if (wanted || new_meta) {
		result = load(r, at, h, ret, where);
		if (result < 0)
			return result;
		if (result == 0) {
			refuse_block(r, at, h);
			return 0;
		}
	}
	if (new_meta) {
		result = update_meta(r, h, *ret);
		if (result)
			return fmt_fail(where, (enum fmt_error) - result, at, "in a META block");
	}
	accept_block(r, at, h, wanted || new_meta);
	return wanted;
}

int
recording_reader_next(struct recording_reader *r,
		      bool (*want)(const struct block_header *h, void *arg), void *arg,
		      struct block *ret, struct fmt_where *where)
{
	struct block_header h;
	struct span payload;
	uint64_t at;
	int result;

	assert(r->magic == READER_MAGIC);
	result = update_size(r, where);
	if (result)
		return result;
	for (;;) {
		result = find_block(r, &at, &h, where);
		if (result <= 0)
			break;
		result = take_block(r, at, &h, !want || want(&h, arg), &payload, where);
		if (result < 0)
			break;
		if (result > 0) {
			*ret = (struct block){ .header = h, .offset = at, .payload = payload };
			return 1;
		}
	}
	if (result == 0)
		reach_end(r);
	return result;
}

/* --- life -------------------------------------------------------------------------------- */

void
recording_reader_rewind(struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	r->seen = r->health = r->opened;
	r->pos = r->end = r->first;
	r->unread = r->next_seq = r->bad_seq = r->shift = r->wasted = 0;
	r->window_len = 0;
}

int
recording_reader_open(struct io_source *source, struct recording_reader **ret,
		      struct fmt_where *where)
{
	struct recording_reader *r = calloc(1, sizeof(*r));
	int error = -FMT_E_NOMEM;

	if (!r) {
		source->close(source);
		return fmt_fail(where, FMT_E_NOMEM, 0, "recording reader");
	}
	r->magic = READER_MAGIC;
	r->source = source;
	r->window = malloc(SCAN_BYTES);
	r->zstd = ZSTD_createDCtx();
	if (!r->window || !r->zstd)
		fmt_fail(where, FMT_E_NOMEM, 0, "recording reader");
	else
		error = update_size(r, where);
	if (!error && r->size == 0)
		error = fmt_fail(where, FMT_E_EMPTY, 0, "nothing in it");
	if (!error)
		error = open_by_header(r, where);
	if (error > 0) {
		damage(r, FMT_E_CORRUPT, 0, "the file header is damaged");
		r->seen.header_damaged = true;
		error = open_by_block(r, where);
	}
	if (error) {
		recording_reader_close(r);
		return error;
	}
	r->opened = r->seen;
	recording_reader_rewind(r);
	*ret = r;
	return 0;
}

void
recording_reader_close(struct recording_reader *r)
{
	if (!r)
		return;
	assert(r->magic == READER_MAGIC);
	r->source->close(r->source);
	for (size_t i = 0; i < r->nr_metas; i++)
		recording_meta_free(r->metas[i]);
	ZSTD_freeDCtx(r->zstd);
	free(r->window);
	buf_done(&r->meta_raw);
	buf_done(&r->stored);
	buf_done(&r->raw);
	r->magic = 0;
	free(r);
}

const struct recording_meta *
recording_reader_meta(const struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	return r->metas[r->nr_metas - 1];
}

uint64_t
recording_reader_size(const struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	return r->size;
}

const struct recording_health *
recording_reader_health(const struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	return &r->health;
}

bool
recording_health_clean(const struct recording_health *h)
{
	return h->closed && !h->header_damaged && h->damaged_blocks == 0 && h->damaged_bytes == 0 &&
		h->moved_blocks == 0 && h->bad_indexes == 0 && h->torn_tail_bytes == 0;
}

/* --- verify ------------------------------------------------------------------------------ */

struct audit {
	struct buf found; /* blocks since the last INDEX, as an INDEX would have them */
	uint64_t records, samples, raw_bytes;
};

static void
bad_index(struct recording_reader *r, const struct block *b, const char *what)
{
	r->seen.bad_indexes++;
	damage(r, FMT_E_CORRUPT, b->offset, "%s", what);
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
		bad_index(r, b, "INDEX does not say what the blocks say");
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
		bad_index(r, b, "END has other totals than the blocks");
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
		damage(r, FMT_E_CORRUPT, b->offset, "block of %u records has %u%s",
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
		audit.raw_bytes += b.payload.len;
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
