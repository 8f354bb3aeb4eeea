/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_reader: the blocks of a recording, whatever happened to the file.
 *
 * Walks from block to block; where one is damaged it looks for the next sync magic whose
 * header checks out, and counts what it passed over. A missing or torn tail (a live file,
 * a killed recorder) is a normal end. Indexes are a help (recording_reader_seek), never a
 * need. Memory is bounded by the largest block, and 24 bytes for each block sought.
 */
#ifndef FORMAT_RECORDING_RECORDING_READER_H
#define FORMAT_RECORDING_RECORDING_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/block.h"
#include "format/block/recording_meta.h"
#include "format/bytes/io.h"

struct recording_reader;

/* What the file turned out to be; complete once the walk has reached its end. */
struct recording_health {
	uint64_t blocks;	  /* whole ones, of any type */
	uint64_t damaged_blocks;  /* known lost: bad payloads, and holes in the sequence */
	uint64_t damaged_bytes;	  /* passed over looking for a block */
	uint64_t moved_blocks;	  /* whole, but not where they were written */
	uint64_t bad_indexes;	  /* INDEX or END that tells another story (verify only) */
	uint64_t unknown_blocks;  /* that this reader does not know how to read, and need not */
	uint64_t torn_tail_bytes; /* after the last whole block */
	bool header_damaged;	  /* the meta came from a META block */
	bool closed;		  /* an END block was seen */
	struct fmt_where first;	  /* the first damage, for the message */
};

/* Nothing is damaged, nothing is missing, and the file was closed in order. */
bool recording_health_clean(const struct recording_health *h);

/*
 * Opens; the source is owned from here on, also on failure. -FMT_E_NOT_RECORDING,
 * -FMT_E_EMPTY, -FMT_E_VERSION (critical feature unknown), -FMT_E_CORRUPT (neither header
 * nor a META block could be read), -FMT_E_IO, -FMT_E_NOMEM.
 */
int recording_reader_open(struct io_source *source, struct recording_reader **ret,
			  struct fmt_where *where);
void recording_reader_close(struct recording_reader *r);

/*
 * Borrowed, for the reader's life. A META block that tells of more ids (a CPU came) adds them
 * to it while reading goes on; one that tells of more events makes the next call return
 * another one. Indexes of events stay what they were.
 */
const struct recording_meta *recording_reader_meta(const struct recording_reader *r);

/* Bytes of the file, as of the last call on the reader. */
uint64_t recording_reader_size(const struct recording_reader *r);

/*
 * Whether payloads by columns (header.encoding) are handed out as they are, and not as the records
 * that they hold: for columns_view.
 */
void recording_reader_keep_columns(struct recording_reader *r, bool keep);

struct block {
	struct block_header header;
	uint64_t offset;     /* where it was found */
	struct span payload; /* decompressed; valid until the next call on the reader */
};

/*
 * The next whole block in file order: 1, 0 at the end, negative for an error that no
 * skipping helps (-FMT_E_IO, -FMT_E_NOMEM, -FMT_E_VERSION: unknown critical block).
 * Damaged blocks are skipped and counted. want (may be NULL) is asked, from the header
 * alone, whether to read a block: payloads of the others are neither read nor checked.
 */
int recording_reader_next(struct recording_reader *r,
			  bool (*want)(const struct block_header *h, void *arg), void *arg,
			  struct block *ret, struct fmt_where *where);
/*
 * Rewinds, and lets recording_reader_next() pass over what want does not want without looking
 * at it, as far as the file's indexes tell where that is. want is asked here, from the indexes,
 * and is the one to give to recording_reader_next(), which asks it again, from the headers. An
 * index is believed when its blocks follow each other without a gap, and each block that it
 * leads to is what it says; where it is not, or there is none (damage, the end of a live file),
 * every header is looked at. Of what was passed over the health tells nothing.
 * 0, -FMT_E_IO, -FMT_E_NOMEM.
 */
int recording_reader_seek(struct recording_reader *r,
			  bool (*want)(const struct block_header *h, void *arg), void *arg,
			  struct fmt_where *where);
/* A block that was handed out turned out to be damaged: the health has it. */
void recording_reader_refuse(struct recording_reader *r, const struct block *block);
/* Back to the first block, the health to what it was after opening; ends seeking. */
void recording_reader_rewind(struct recording_reader *r);

const struct recording_health *recording_reader_health(const struct recording_reader *r);

/*
 * Compares the INDEX blocks with what the walk finds; for verify. Reads every payload.
 * 0: clean; 1: damaged but readable (health says how); negative: cannot be read.
 */
int recording_reader_verify(struct recording_reader *r, struct fmt_where *where);

#endif
