/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retention: which files of the archive go, a pure decision.
 *
 * All files count; what is active, kept or pinned is never deleted. The rest goes oldest
 * first, but the newest RETENTION_KEEP segments (and captures of their time) only when
 * nothing else is left. Age and number have no such mercy: they are what was asked for.
 * Captures have a share of their own, within which they push out each other, so that whoever may
 * capture cannot make the history go.
 * Nothing here touches a disk.
 */
#ifndef DAEMON_ARCHIVE_RETENTION_H
#define DAEMON_ARCHIVE_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RETENTION_KEEP 8

enum retention_kind {
	RETENTION_SEGMENT,    /* sealed: may be deleted */
	RETENTION_ACTIVE,     /* being written */
	RETENTION_QUARANTINE, /* damaged or foreign: counts; deleted like a segment */
	RETENTION_KEPT,	      /* pinned: counts, never deleted here */
	RETENTION_CAPTURE,    /* counts; deleted like a segment, after all segments of its age */
};

struct retention_file {
	enum retention_kind kind;
	uint64_t bytes;	      /* what it takes on disk; 0 for a second link to a file that counts */
	uint64_t end_s;	      /* realtime of its last record, or its mtime: the order of deletion */
	uint64_t aged_from_s; /* the same, for max_age */
	bool pinned;	      /* has a link in kept/: deleting it frees nothing */
	bool capturing;	      /* ACTIVE: a capture's */
};

struct retention_limits {
	uint64_t max_use;   /* bytes; 0: none */
	uint64_t keep_free; /* bytes */
	uint64_t max_age_s; /* 0: none */
	uint64_t max_segments;
	uint64_t max_captures;	    /* bytes of captures, those being written too; 0: none */
	uint64_t max_capture_files; /* that may be deleted: each costs memory; 0: none */
};

struct retention_question {
	const struct retention_file *files; /* any order */
	size_t nr;
	struct retention_limits limits;
	uint64_t fs_free; /* bytes free on the file system now */
	uint64_t now_s;
	uint64_t need;	/* bytes about to be written */
	bool capturing; /* by a capture */
	bool only_need; /* just make room: age and count can wait */
};

/*
 * Fills out[] (room for nr) with indexes to delete, in the order to delete them. Returns how many.
 *
 * Limits that are exceeded already are a promise: as much goes as it takes, or all there is.
 * need is a wish: when no deletion could grant it, nothing is deleted for it.
 */
size_t retention_plan(const struct retention_question *q, size_t *out);

/* journald's kind of defaults: share per mille of the file system, capped at cap. */
uint64_t retention_share(uint64_t fs_bytes, uint32_t per_mille, uint64_t cap);

#endif
