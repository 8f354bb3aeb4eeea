/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_internal: what the parts of recording_writer share: blocks and their way to the sink
 * (recording_blocks.c), what goes into them (recording_writer.c), and a file that goes on
 * (recording_resume.c).
 */
#ifndef FORMAT_RECORDING_RECORDING_INTERNAL_H
#define FORMAT_RECORDING_RECORDING_INTERNAL_H

#include <zstd.h>

#include "format/block/block.h"
#include "format/columns/columns.h"
#include "format/recording/recording_writer.h"

#define WRITER_MAGIC 0x73705772u
#define ZSTD_LEVEL 1
#define INDEX_EVERY_DEFAULT 64
#define INDEX_EVERY_MAX (1u << 16)
#define STATE_BYTES (1u << 20) /* of one STATE block, so that readers need not hold more */

/* Times and counts of the records of one payload. */
struct tally {
	uint32_t records, samples;
	uint64_t t_min, t_max;
};

/*
 * The open block is two: samples, and all else, which says who was who. A reader of a window
 * needs the second kind of what was before it, and so need not unpack the first.
 */
struct open_block {
	struct buf records;
	struct tally tally;
};

struct recording_writer {
	uint32_t magic;
	struct io_sink *sink;
	const struct recording_meta *meta;
	struct recording_writer_options options;
	ZSTD_CCtx *zstd;

	struct open_block sideband, samples_open;
	struct columns_encoder *encoder; /* NULL: no memory for it yet */
	struct buf columns;		 /* an open block's, when it is closed */
	struct buf out;			 /* a block on its way to the sink */
	struct buf meta_bytes;
	struct buf index; /* INDEX payload so far */

	uint64_t pass;	   /* what the last recording_writer_pass() said */
	uint64_t complete; /* what the last RECORDS block said */
	uint64_t seq;
	uint64_t size; /* of the file, whole blocks only */
	uint64_t last_index;
	uint64_t lost;
	uint64_t records, samples, raw_bytes; /* written */
	uint64_t sideband_bytes;

	int error;		/* sticky, until recording_writer_retry(); 0 */
	struct fmt_where where; /* of error */
	bool torn;		/* bytes of a failed write are still behind size */
	bool dead;		/* a sync failed: no retry */
	bool closing;		/* inside before_close */
};

/* A writer that has written nothing yet. Takes the sink over, also on failure. 0, -FMT_E_NOMEM. */
int recording_writer_new(struct io_sink *sink, const struct recording_meta *meta,
			 const struct recording_writer_options *options,
			 struct recording_writer **ret, struct fmt_where *where);

/* The error, told again; 0: there is none. */
int recording_blocks_sticky(const struct recording_writer *w, struct fmt_where *where);
/* Bytes of the open block. */
size_t recording_blocks_open(const struct recording_writer *w);
int recording_blocks_fail_nomem(struct recording_writer *w);
/* Cuts away what a failed write may have left. On a pipe it stays; readers pass over it. */
void recording_blocks_cut_back(struct recording_writer *w);
/* As they are, behind what is there. */
int recording_blocks_bytes(struct recording_writer *w, const struct buf *bytes);
/* Writes one block: type, encoding, flags, counts and times of *h are the caller's. */
int recording_blocks_write(struct recording_writer *w, struct span payload, struct block_header *h);
int recording_blocks_meta(struct recording_writer *w);
int recording_blocks_index(struct recording_writer *w);
/* Are there that many blocks that no INDEX has? */
bool recording_blocks_index_due(const struct recording_writer *w, uint32_t blocks);
int recording_blocks_end(struct recording_writer *w);

#endif
