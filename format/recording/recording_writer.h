/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_writer: kernel records in, a recording file out.
 *
 * Append-only: nothing written is touched again. Records collect in the open block, which
 * is closed (compressed, written) when it reaches block_bytes, when the caller says so
 * (block_age is the caller's clock), or at close. On disk it is two: one of all but samples,
 * so that reading a window costs only these of what was before it, and one of samples. After a
 * failed write the file is cut back to the last whole block and the error is sticky until
 * recording_writer_retry(). One thread at a time. No clock: times come from the caller and from the
 * records.
 */
#ifndef FORMAT_RECORDING_RECORDING_WRITER_H
#define FORMAT_RECORDING_RECORDING_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/block.h"
#include "format/block/loss.h"
#include "format/block/recording_meta.h"
#include "format/bytes/io.h"

#define RECORDING_BLOCK_BYTES (1u << 20) /* raw bytes that close a block */

struct recording_writer;

struct recording_writer_options {
	uint32_t block_bytes; /* 0: RECORDING_BLOCK_BYTES */
	uint32_t index_every; /* blocks between indexes; 0: 64 */
	int zstd_level;	      /* 0: 1, the fastest */
	bool verbatim;	      /* records as they are, not by columns: to compare, and in tests */
	/*
	 * They see every record that parsed, once, on the thread that gave it: the writer looks
	 * at them anyway, for times and counts. Samples come by on_sample, at a glance, for they
	 * are many; all others by on_record, event being the index in meta->events, -1 for none.
	 * What on_record does not want (false) is not written, and not counted.
	 */
	void (*on_sample)(void *arg, const struct sample_glance *sample);
	bool (*on_record)(void *arg, const struct perf_record *record, int event);
	/*
	 * The open block is about to be closed: what it needs (kernel symbols, build-ids, the
	 * ledger) can now be written before it with recording_writer_block(). No other call of
	 * the writer is allowed inside. After a failed write it comes again for the same block.
	 */
	int (*before_close)(void *arg, struct recording_writer *w, struct fmt_where *where);
	void *arg;
};

/*
 * Writes the file header and the first META block. meta is borrowed for the writer's life.
 * The sink is owned from here on, also on failure. 0, -FMT_E_IO, -FMT_E_NOMEM.
 */
int recording_writer_open(struct io_sink *sink, const struct recording_meta *meta,
			  const struct recording_writer_options *options,
			  struct recording_writer **ret, struct fmt_where *where);

/*
 * Appends whole records, as drained, to the open block; closes it when it is full (never
 * inside one call's bytes unless they alone exceed the limit, then between records). A
 * record that does not parse is kept byte for byte and counted in *ret_bad (may be NULL).
 * 0: all of them are in the open block or on disk, also when writing a full block has just
 * failed (the error is then what the next call says). Negative: none was taken; only with
 * -FMT_E_CORRUPT (framing: nobody can know where the next record begins) those before it were.
 * -FMT_E_TOO_BIG: more than 1 MiB in one call, which a failed write could leave in one block.
 */
int recording_writer_records(struct recording_writer *w, struct span records, uint64_t *ret_bad,
			     struct fmt_where *where);

/*
 * Ends a drain pass: every record older than complete_ns has been given. The open block
 * may only be closed between passes for this to be of use to readers; the writer remembers
 * the value and puts it into the next block it closes.
 */
void recording_writer_pass(struct recording_writer *w, uint64_t complete_ns);

/* Closes the open block if it has records. */
int recording_writer_flush(struct recording_writer *w, struct fmt_where *where);

/*
 * Writes a block of its own (STATE, KSYMS, BUILDIDS, LOSS, GAP, RATE, JIT, OBJECT, PIECE) ahead of the open block's
 * records; for STATE, records are counted and timed, and make several blocks where they are
 * too many for one. META with an empty payload writes the
 * meta as it now is (events may have been added).
 */
int recording_writer_block(struct recording_writer *w, enum block_type type, struct span payload,
			   struct fmt_where *where);

/* Cumulative lost samples, for the header of the blocks from here on. */
void recording_writer_lost(struct recording_writer *w, uint64_t lost);

int recording_writer_sync(struct recording_writer *w, struct fmt_where *where);

/*
 * After an error (disk full): tries to write what is pending; 0 when all is well again. A
 * failed sync is for ever: the kernel may have dropped what it could not write.
 */
int recording_writer_retry(struct recording_writer *w, struct fmt_where *where);

struct recording_writer_stats {
	uint64_t file_bytes, blocks, records, samples, raw_bytes;
	uint64_t sideband_bytes; /* of file_bytes: STATE, and blocks of all but samples */
	uint32_t open_bytes;	 /* in the open block, and so not in the file */
	uint64_t open_records, open_samples;
};
void recording_writer_stats(const struct recording_writer *w, struct recording_writer_stats *ret);

/* Flushes, writes META, INDEX and END, syncs if asked, closes the sink, frees w. */
int recording_writer_close(struct recording_writer *w, int sync, struct fmt_where *where);
/* Frees w and closes the sink without writing another byte. */
void recording_writer_abandon(struct recording_writer *w);

#endif
