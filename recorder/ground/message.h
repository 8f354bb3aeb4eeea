/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message: what the drain tells the writer, over the queue. The kinds, and what a, b and the bytes
 * of a struct queue_message are in each.
 */
#ifndef RECORDER_GROUND_MESSAGE_H
#define RECORDER_GROUND_MESSAGE_H

#include <stdint.h>

enum message {
	MESSAGE_RECORDS, /* bytes: whole records */
	MESSAGE_KEPT, /* likewise, out of rings that were overwritten until now: see MESSAGE_DUMP */
	MESSAGE_WINDOW,	 /* a: what is in those rings is younger; ns */
	MESSAGE_DUMP,	 /* MESSAGE_KEPT follow: the file is to have what names them */
	MESSAGE_PASS,	 /* a: all records older than this have been given; b: now; both ns */
	MESSAGE_LOSS,	 /* a: cpu << 32 | cause, b: total so far */
	MESSAGE_RESYNC,	 /* side-band was lost; b: now, ns */
	MESSAGE_MODULES, /* a kernel module came or went */
	MESSAGE_IDS,	 /* bytes: struct message_id, before the first record that has them */
	MESSAGE_GAP,	 /* bytes: struct gap */
	MESSAGE_RATE,	 /* bytes: struct rate */
	MESSAGE_NOTE,	 /* bytes: a line for the notes of the file, with its NUL */
	MESSAGE_ROTATE,	 /* a: struct session_request *, which is answered */
	MESSAGE_SYNC,	 /* likewise */
	MESSAGE_AUX,	 /* bytes: struct message_aux, and what a tracer wrote */
	MESSAGE_END,	 /* nothing follows */
};

/* A descriptor that was opened, or closed. */
struct message_id {
	uint64_t id;
	uint32_t event; /* index in meta->events */
	uint32_t closed;
};

/* Before the bytes of an AUX area; as struct aux_piece has it. */
struct message_aux {
	uint64_t offset;
	uint32_t ring, cpu, tid;
	uint32_t flags; /* AUX_PIECE_* */
};

#endif
