/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer: the thread that makes files of what the drain hands over.
 *
 * Takes messages from a queue; parses each record once, keeps the live model and the loss
 * ledger, closes blocks by age, goes on in another file when told so, and says when the disk
 * refuses. Compression and disk I/O happen here and nowhere else in the recorder.
 */
#ifndef RECORDER_WRITER_WRITER_H
#define RECORDER_WRITER_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/recording_meta.h"
#include "format/bytes/io.h"
#include "recorder/ground/news.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_stats.h"

struct aux_trace;
struct live;
struct queue;
struct session_requests;
struct stack_size;
struct writer;

struct writer_options {
	struct io_sink *sink;	     /* taken over, also on failure */
	struct recording_meta *meta; /* likewise; its events are what live parses by */
	struct live *live;
	struct session_requests *requests;
	const struct aux_trace *aux; /* of tracers, if there are any; borrowed */
	size_t sideband;	     /* index of the side-band event in meta->events */
	/* As the events are opened, by their indexes; borrowed until writer_open() returns. NULL: no stack is unwound. */
	const struct event_attr *opened;
	uint64_t stacks_bytes;	       /* memory for stacks that wait to be unwound */
	struct stack_size *stack_size; /* what these need is counted here; borrowed */
	bool count_lost_records;       /* events do not count their losses: believe LOST records */
	bool suspend_on_full;	       /* as in session_options */
	bool flight;		       /* nothing is written but after a MESSAGE_DUMP */
	uint64_t queue_bytes;
	uint64_t block_age_ns;
	uint32_t block_bytes;	       /* as in session_options */
	uint64_t sideband_bytes_per_s; /* as in session_options */
	int failure_fd;		       /* an eventfd that is written when the file cannot be */
};

/* Writes the header. Nothing runs yet: writer_state(), then writer_start(). */
int writer_open(const struct writer_options *options, struct writer **ret,
		struct session_error *error);

/* Of another part of the session, for people; safe from any thread. */
void writer_tell(struct writer *w, const char *line);

/* A line for people since the last call. Safe from any thread. False: none. */
bool writer_news(struct writer *w, struct news_line *ret);

/* A STATE block of these records, before the thread starts. */
int writer_state(struct writer *w, struct span records, struct session_error *error);

int writer_start(struct writer *w, struct session_error *error);

/* The producer's end is the drain's. */
struct queue *writer_queue(struct writer *w);

/* Safe from any thread. */
bool writer_failed(const struct writer *w);

/* From any thread: as in session_options, from the next pass on. */
void writer_set_sideband(struct writer *w, uint64_t bytes_per_s);
/* So many bytes of objects may be stored from here on; likewise. */
void writer_allow_objects(struct writer *w, uint64_t bytes);

/*
 * Safe from any thread: what the writer knows of session_stats (the rest is 0), as of the last pass,
 * or exact after writer_finish().
 */
void writer_stats(struct writer *w, struct session_stats *ret);

/* Safe from any thread: moves whenever the thread comes round. */
uint64_t writer_progress(const struct writer *w);

/*
 * After a MESSAGE_END: waits for the thread, closes the file in order. 0, or -errno with
 * *error: then what was written before is readable.
 */
int writer_finish(struct writer *w, struct session_error *error);

/* Without writer_finish() the file is left as a kill would leave it. */
void writer_free(struct writer *w);

#endif
