/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base_stream_internal: what the stream (base_stream.c) and its chores (base_chores.c) share.
 */
#ifndef DAEMON_STREAM_BASE_STREAM_INTERNAL_H
#define DAEMON_STREAM_BASE_STREAM_INTERNAL_H

#include <stdatomic.h>

#include <bsd/sys/queue.h>

#include "daemon/stream/base_stream.h"
#include "daemon/stream/session_thread.h"
#include "daemon/stream/configured.h"
#include "format/bytes/time_text.h"
#include "recorder/ground/session_error.h"

#define ROTATE_AGAIN_NS (10 * SECOND_NS)

/* One session of it. The main thread's; chores use it while it is the present one, see retire(). */
struct base_session {
	struct base_stream *stream;
	struct session_thread *thread;
	struct session_options options;
	struct configured configured; /* what options point to */
	struct archive_objects objects;
	const struct io_sink *sink; /* of the first segment, until it records */
	uint64_t begun_ns;
	bool told;	     /* that it records, and what it could not get */
	bool failed;	     /* ended by itself: to be tried again */
	struct chore ending; /* waits for its end */
	LIST_ENTRY(base_session) link;
};

/* A chore of the stream's own, one of a kind at a time. */
struct stream_chore {
	struct chore chore;
	struct base_stream *stream;
	bool asked;
	int result;
	struct session_error error;
};

struct base_stream {
	uint64_t objects_ns; /* when the copies of files were last looked at */
	const struct config *config;
	struct archive *archive;
	struct chores *chores;
	int wake_fd;
	uint64_t hz, applied_hz;   /* as the governor has it; as the session knows it */
	uint64_t applied_limit_hz; /* likewise, of events with a frequency of their own */
	uint8_t boot_id[16];

	struct base_session *_Atomic now; /* NULL: it is tried again at retry_ns */
	uint64_t begun_ns, retry_ns, backoff_ns;
	uint64_t segment_ns, sync_ns, rotate_after_ns;
	uint64_t refused_after_ns;	  /* not sooner another file for one that refuses */
	struct session_stats before;	  /* of sessions that are over */
	LIST_HEAD(, base_session) ending; /* and of those that are about to be */
	uint64_t written, file_bytes;	  /* all bytes; of the current file when last asked */
	bool suspended;			  /* said so */
	uint64_t sideband;		  /* bytes a second, as the session knows it */
	_Atomic uint64_t share;		  /* and as configured; 0: no limit */
	unsigned int sideband_halved;	  /* by the governor, so often */

	struct base_session *next; /* of a reload: comes when it records */
	const struct config *next_config;
	int reloaded;
	struct session_error reload_error;

	struct stream_chore rotation, sync, frequency, look, counting;
	uint64_t look_ns;
	bool look_failed; /* the file is gone, and there is no new one yet */
	bool for_refusal; /* the rotation is for nothing else */
	struct base_session *frequency_of;
	uint64_t frequency_hz, frequency_limit_hz;
	struct base_session *counted_by, *counting_of; /* whose counters end, and whose begin */
	_Atomic uint64_t rotated_ns;		       /* by whom ever */
	uint64_t sync_tried_ns; /* when the last one began; the chores', as what follows */
	int sync_result;	/* what the last one returned, and its error */
	struct session_error sync_error;
	struct archive_sight sight;
	uint32_t lost_files; /* that who synced was told of */
	uint64_t lost_told_ns;
};

/* Another segment for a session to write to. From any thread. 0, or -errno with *error. */
int base_stream_segment(struct base_stream *b, bool hidden, struct io_sink **ret,
			struct session_error *error);

/* What the stream's own chores do. */
void base_chores_init(struct base_stream *b);
/* False: one of the kind is still to be done. */
bool base_chores_ask(struct base_stream *b, struct stream_chore *c);

#endif
