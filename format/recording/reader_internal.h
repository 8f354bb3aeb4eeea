/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader_internal: what the parts of recording_reader share, from the ground up: reader_bytes.c
 * (bytes to believed headers and payloads), reader_open.c (which file this is), reader_plan.c
 * (the walk by a plan), recording_reader.c (the walk), reader_seek.c (indexes to a plan),
 * reader_verify.c.
 */
#ifndef FORMAT_RECORDING_READER_INTERNAL_H
#define FORMAT_RECORDING_READER_INTERNAL_H

#include <zstd.h>

#include "format/recording/recording_reader.h"

#define READER_MAGIC 0x73705272u
#define SYNC_BYTES 8
#define PEEK_BYTES 4096		/* read for a header: more would be read again as payload */
#define SCAN_BYTES (256u << 10) /* read at a time looking for a sync magic */
#define WASTE_MAX (256u << 20)	/* payload bytes read for headers that lied, see wasted */
#define META_CHANGES_MAX 256	/* METAs that differ from the one before, kept for borrowers */
#define HOLES_MAX 64		/* in the sequence, of which blocks may still come */

/* Blocks [from, until) that were not where they should be. */
struct seq_hole {
	uint64_t from, until;
};

struct plan_block {
	uint64_t offset, seq;
	uint32_t sum; /* of its entry in the INDEX */
};

/*
 * The part of the file that believed INDEXes tell of, [from, until), and the blocks in it that
 * have to be looked at; until 0: there is none.
 */
struct reader_plan {
	uint64_t from, until, until_seq;
	struct plan_block *blocks;
	size_t nr, cap, next;
	struct buf entry; /* to compare with */
};

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
	/*
	 * A block that stands too early (a sector in the wrong place, a copy) is no reason to
	 * leave out those before it: what is missing then may come until it has come.
	 */
	struct seq_hole holes[HOLES_MAX]; /* ascending; of more, the first is given up */
	size_t nr_holes;
	uint64_t bad_seq; /* 1 + the highest seq of a block whose payload is damaged */
	uint64_t shift;	  /* found offset - written offset of the last block */
	/*
	 * A file can hold a million headers that are right, each claiming the same 64 MiB. When
	 * that much has been read in vain, what such a header claims is skipped unread.
	 */
	uint64_t wasted;
	struct reader_plan plan;
	bool keep_columns;

	struct recording_health opened; /* after opening: what rewinding goes back to */
	struct recording_health seen;	/* up to the last block */
	struct recording_health health; /* and with what the end of the file shows */

	uint8_t *window; /* cached bytes of the file */
	uint64_t window_at;
	size_t window_len;
	struct buf stored, raw, records; /* of a payload: as in the file, unpacked, decoded */
	ZSTD_DCtx *zstd;
};

int reader_update_size(struct recording_reader *r, struct fmt_where *where);
int reader_io_fail(struct fmt_where *where, int64_t error, uint64_t offset);
/*
 * Bytes at an offset: at least need, unless the file ends before, by way of the window;
 * fill (up to SCAN_BYTES) are read when they are not there.
 */
int reader_peek(struct recording_reader *r, uint64_t at, size_t need, size_t fill, struct span *ret,
		struct fmt_where *where);
/* The next sync magic at or after from: 1, 0 there is none, negative. */
int reader_find_sync(struct recording_reader *r, uint64_t from, uint64_t *ret_at,
		     struct fmt_where *where);
/* Is there a header at this offset that one can believe, with its payload in the file? 0/1. */
int reader_header_at(struct recording_reader *r, uint64_t at, const uint8_t *file_id,
		     struct block_header *ret, struct fmt_where *where);
/* Reads, checks and decodes a payload: 1, 0 when it is damaged, negative. */
int reader_load(struct recording_reader *r, uint64_t at, const struct block_header *h,
		struct span *ret, struct fmt_where *where);

/* From the file header: 0 done, 1 damaged, negative. */
int reader_open_by_header(struct recording_reader *r, struct fmt_where *where);
/* From a META block: 0, negative. */
int reader_open_by_block(struct recording_reader *r, struct fmt_where *where);
/* A META block met on the way: events may have been added since the one before. */
int reader_update_meta(struct recording_reader *r, const struct block_header *h, struct span raw);

/* Moves on to the next block that the plan has, if that is where it says. 0, negative. */
int reader_follow_plan(struct recording_reader *r, struct fmt_where *where);
void reader_plan_done(struct reader_plan *p);
/* A block behind those that it has, whose entry in the INDEX is this one. 0, -FMT_E_NOMEM. */
int reader_plan_push(struct reader_plan *p, const struct block_header *h, const uint8_t *entry);

/* Remembers the first damage, for the message. */
void reader_damage(struct recording_reader *r, enum fmt_error error, uint64_t at,
		   const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* Is this a block that this version can read? */
static inline bool
reader_knows(const struct block_header *h)
{
	bool decoded = h->encoding == BLOCK_VERBATIM ||
		(h->encoding == BLOCK_COLUMNAR && h->type == BLOCK_RECORDS);

	return block_type_name(h->type) && decoded &&
		!(h->flags & BLOCK_F_INCOMPATIBLE & ~BLOCK_F_KNOWN);
}

static inline const struct recording_meta *
reader_meta(const struct recording_reader *r)
{
	return r->metas[r->nr_metas - 1];
}

static inline uint64_t
reader_extent(const struct block_header *h)
{
	return (uint64_t)h->header_size + h->stored_length;
}

#endif
