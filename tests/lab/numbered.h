/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbered: recordings whose samples are numbered 1, 2, 3... The bytes of each record follow
 * from its number, so that whatever happened to a file, a test can say which samples came
 * back, that none came twice, and that not a byte of one is different. And a sink in memory
 * that fails at a call when it is told to, and remembers what was asked of it.
 */
#ifndef TESTS_LAB_NUMBERED_H
#define TESTS_LAB_NUMBERED_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/recording_meta.h"
#include "format/bytes/io.h"
#include "format/recording/recording_reader.h"
#include "format/recording/recording_writer.h"

#define NUMBERED_CPUS 4
#define NUMBERED_BYTES_MAX 512 /* of all that goes with one number */
#define NUMBERED_BYTES_MIN 60  /* of one sample */
#define NUMBERED_GAVE_UP 1

/* Events: call chains, raw data, and a dummy for side-band. seed decides the file id. */
struct recording_meta *numbered_meta(uint8_t seed);

/*
 * Appends sample number n, and before some a COMM that also has the number. Allocates nothing
 * while out has NUMBERED_BYTES_MAX to spare.
 */
void numbered_record(struct buf *out, uint64_t n);

/* --- writing ----------------------------------------------------------------------------- */

struct numbered_script {
	uint64_t first; /* number; 0: 1 */
	unsigned int passes, per_pass;
	uint32_t block_bytes, index_every;
	unsigned int sync_every;  /* passes; 0: never */
	unsigned int small_every; /* passes between small blocks of other types; 0: never */
	bool verbatim;		  /* not by columns */
	unsigned int retries;	  /* in a row, after an error, before giving up */
};

/* Kept current while it writes; may be in memory that outlives the writer. */
struct numbered_progress {
	uint64_t given;	  /* the last number that was to be written */
	uint64_t written; /* up to here the writer has said that it is in the file */
	uint64_t synced;  /* and up to here that it is on the disk */
};

/*
 * Writes a recording as a recorder does, tries again after an error, and closes it. What
 * recording_writer_close() (or _open()) says; NUMBERED_GAVE_UP when it abandoned it.
 * No allocation but the writer's.
 */
int numbered_write(struct io_sink *sink, const struct recording_meta *meta,
		   const struct numbered_script *s, struct numbered_progress *progress);

/* --- reading ----------------------------------------------------------------------------- */

struct numbered_result {
	int error;		     /* of opening or reading; 0 */
	uint64_t count;		     /* samples that came */
	uint64_t columnar, verbatim; /* RECORDS blocks of either encoding */
	uint64_t prefix;	     /* first, first + 1... up to this one came; first - 1: none */
	bool twice;		     /* a number that came before */
	bool order;		     /* no number came after a larger one */
	bool strange;		     /* a record that was never written, or not so */
	struct recording_health health;
	struct fmt_where where;
};

/*
 * Reads all records of a file in which only numbers of [first, last] may be. seen (may be
 * NULL) gets a byte for each of them. The source is taken over.
 */
void numbered_read(struct io_source *source, uint64_t first, uint64_t last, uint8_t *seen,
		   struct numbered_result *ret);

/* Fails the test unless the file has first..at least `least`, in order, each once, no other. */
void numbered_assert_prefix(const struct numbered_result *r, uint64_t first, uint64_t least,
			    uint64_t most, const char *what, uint64_t at);

/* --- a sink ------------------------------------------------------------------------------ */

enum fault_op { FAULT_WRITE, FAULT_SYNC, FAULT_CUT };

/* What was asked of a sink, and what became of it. */
struct fault_event {
	enum fault_op op;
	uint64_t offset; /* WRITE: where; CUT: the new size */
	uint64_t n;	 /* WRITE: bytes that reached the file */
	size_t bytes;	 /* where they are in fault_file.bytes */
	int error;
};

struct fault_file {
	uint8_t *p; /* with room for all, from the start */
	size_t n, cap;
	unsigned int ops;      /* calls so far */
	unsigned int fail_at;  /* the call (1, 2...) that fails; 0: none */
	unsigned int fail_for; /* calls from there on; 0: for ever */
	int fail_errno;
	size_t left_behind; /* bytes of a failing write that reach the file all the same */
	bool closed, sync_failed;
	unsigned int after_failed_sync; /* calls, but for close */
	bool logs;
	struct fault_event *events;
	size_t nr_events, events_cap;
	uint8_t *bytes; /* that were written */
	size_t nr_bytes, bytes_cap;
};

void fault_file_init(struct fault_file *f, size_t cap);
void fault_file_done(struct fault_file *f);
struct io_sink *fault_sink(struct fault_file *f);

/* xorshift: the same numbers on every run. */
uint64_t numbered_roll(uint64_t *seed, uint64_t below);
/* An environment variable that makes a test longer, or what it is without. */
unsigned int numbered_env(const char *name, unsigned int otherwise);

#endif
