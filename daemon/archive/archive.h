/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archive: the directory of segments, and the promise that it never outgrows its bounds.
 *
 *   <UTC start>-<boot>-<seq>.spoor          sealed segment
 *   <UTC start>-<boot>-<seq>.spoor.active   being written
 *   captures/NAME.spoor   kept/LABEL/...spoor (hard links)   *.spoor~ quarantined
 *
 * No manifest: the directory is the truth. It is locked, so that two daemons never share one. What
 * a dead daemon left active is sealed as it is, by rename: never opened for writing again. Every
 * byte is asked for before it is written: a sink from here makes room by deleting what retention
 * says, or refuses with ENOSPC. What counts is everything in the directory, its directories and
 * foreign files too, in whole blocks. Symbolic links are not followed. Thread-safe: one mutex
 * inside, not held while data are written.
 */
#ifndef DAEMON_ARCHIVE_ARCHIVE_H
#define DAEMON_ARCHIVE_ARCHIVE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/config/config.h"
#include "format/bytes/io.h"
#include "recorder/ground/session_error.h"

struct archive;
struct clock_triple;

/*
 * Opens, locks, seals leftovers, accounts. config is read here and at archive_reload(). 0, -errno
 * with *error, as all that follows: "archive_directory /x: Permission denied".
 */
int archive_open(const struct config *c, struct archive **ret, struct session_error *error);
/* While a sink is open still, all is left to the end of the process. */
void archive_close(struct archive *a);
/* New limits; the directory itself cannot change. Enforces them at once. */
void archive_reload(struct archive *a, const struct config *c);

/*
 * A new active segment and its sink. realtime_ns: now, for the name. The sink's write() is
 * -ENOSPC when the bounds leave no room: cut() and try again later. close() seals it: rename,
 * then sync of the directory. An empty one is removed instead. Where no inode is free, the oldest
 * file makes way for it. hidden: from the group that may read the archive.
 */
int archive_segment(struct archive *a, uint64_t realtime_ns, const uint8_t boot_id[16], bool hidden,
		    struct io_sink **ret, struct session_error *error);

/* The same for captures/: name is made here, returned in ret_name (size ARCHIVE_NAME_MAX). */
#define ARCHIVE_NAME_MAX 256
int archive_capture(struct archive *a, uint64_t realtime_ns, bool hidden, struct io_sink **ret,
		    char *ret_name, struct session_error *error);

/* A hidden one that is open is for the group, too. 0, -errno: it stays hidden. */
int archive_show(struct archive *a, const struct io_sink *sink);

/*
 * Pins sealed segments that overlap [from_s, until_s] (realtime) under kept/label (config_value.h). *ret_pins (may be
 * NULL): what is to be done to pin the copies of mapped files that name what was not kept there before, or NULL.
 * Returns how many, or -errno: -EINVAL the label; -ENOSPC: with these pinned as well, max_use
 * would leave no room for two more segments, or kept/ has too many files. Keeping takes no room,
 * but gives it up for ever: deleting kept/LABEL (a shell does it) unpins.
 *
 * member: for a member of control_group. What the labels of all members pin is half of max_use at most, and half of the
 * files that kept/ may have (-EDQUOT), whether root has pinned some of it as well or not. A label of root's takes nothing of
 * a member's (-EEXIST); what root adds to a label of members is theirs.
 */
struct archive_pins;
int archive_keep(struct archive *a, const char *label, uint64_t from_s, uint64_t until_s,
		 bool member, struct archive_pins **ret_pins, struct session_error *error);
/* Reads on in one recording, for a moment, and pins what it has mapped when that was its end. False: all are done. */
bool archive_pins_step(struct archive_pins *p);
/* Whether they are done or not; before archive_close(). */
void archive_pins_free(struct archive_pins *p);

/*
 * Deletes down to these limits (0: not this one), beyond the configured ones, copies of mapped files last
 * (*ret_copies of them; may be NULL). Returns how many other files; *ret_bytes is of both.
 */
int archive_vacuum(struct archive *a, uint64_t max_use, uint64_t max_age_s, uint64_t max_segments,
		   uint64_t *ret_bytes, uint32_t *ret_copies, struct session_error *error);

/*
 * Age and count limits: call every few seconds. Age goes by the clock on the wall; when that has
 * been set, nothing is old for an hour.
 */
void archive_tick(struct archive *a, const struct clock_triple *now);

/*
 * What has others' hands done to the directories, and to the files that are being written? Directories
 * that are gone are made again, those that were replaced are locked and used. A file that is gone
 * is logged, and its sink fails with -ESTALE from then on; one that was renamed in its directory is
 * to be ended. Call it every few seconds, and before it is said that something is safe. May wait for a disk.
 */
#define ARCHIVE_LOST_BYTES 512
struct archive_sight {
	bool gone, renamed;	       /* some segment that has not been closed yet */
	bool astray;		       /* and no other one can be begun, which has been logged */
	uint32_t lost_files;	       /* segments that were gone, since archive_open() */
	char lost[ARCHIVE_LOST_BYTES]; /* the last of them, as a sentence */
};
void archive_look(struct archive *a, struct archive_sight *ret);

/*
 * Room for copies of mapped files (store_objects, objects_share): looks at those that there are, and
 * deletes the longest unused when there are too many. Call it every ten seconds or so; may wait for a disk.
 */
struct archive_objects {
	char dir[PATH_MAX];	/* theirs */
	uint64_t allowed_bytes; /* that may be stored from now on; what was allowed before is void */
	uint64_t user_bytes;	/* of it an hour, of what a user other than root runs */
};
void archive_objects(struct archive *a, struct archive_objects *ret);

struct archive_entry {
	char name[ARCHIVE_NAME_MAX]; /* relative to the archive directory */
	const char *kind;	     /* "segment", "active", "kept", "capture", "quarantined" */
	uint64_t bytes, start_s, end_s;
};
/* All files, oldest first; free(*ret). Returns how many, or -errno. */
ssize_t archive_list(struct archive *a, struct archive_entry **ret);

struct archive_usage {
	uint64_t bytes;			      /* counted against max_use */
	uint64_t max_use, keep_free, fs_free; /* as in force */
	uint64_t objects_bytes;		      /* of bytes: copies of mapped files */
	uint64_t segment_bytes;		      /* at which to close one: 8 fit into max_use */
	uint32_t segments, kept, captures, quarantined;
	uint64_t deleted_segments, deleted_bytes; /* since archive_open() */
	uint32_t lost_files;			  /* as of archive_look() */
	char lost[ARCHIVE_LOST_BYTES];
	int astray; /* why its directories cannot be used, -errno; 0: they can */
};
/* Never waits for a disk: while the archive is busy with one, it is as it was last. */
void archive_usage(struct archive *a, struct archive_usage *ret);

/* Why a segment last took no bytes, and what to do about it, as words for the log. */
#define ARCHIVE_TROUBLE_BYTES 512
void archive_trouble(struct archive *a, char out[ARCHIVE_TROUBLE_BYTES]);

#endif
