/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archive_internal: what the files of the archive share: the account (what is in the
 * directory, what it takes) and who changes it. Everything but the first section is called
 * with the mutex held.
 */
#ifndef DAEMON_ARCHIVE_ARCHIVE_INTERNAL_H
#define DAEMON_ARCHIVE_ARCHIVE_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <bsd/sys/queue.h>

#include "daemon/archive/archive.h"
#include "daemon/archive/archive_lock.h"
#include "daemon/archive/retention.h"
#include "format/recording/segment_name.h"

#define ARCHIVE_MAGIC 0x73704172u
#define ARCHIVE_CAPTURES "captures"
#define ARCHIVE_KEPT "kept"
#define ARCHIVE_SUFFIX SEGMENT_NAME_SUFFIX
#define ARCHIVE_ACTIVE SEGMENT_NAME_ACTIVE
#define ARCHIVE_MODE 0640
#define ARCHIVE_MODE_HIDDEN 0600
#define ARCHIVE_DIR_MODE 0750
/* The number of captures has a bound: a capture may have 4 KiB, and takes 200 bytes of memory, twice in a scan. */
#define ARCHIVE_CAPTURE_FILES 4096
/* Labels of members are marked by the sticky bit, which means nothing else in a directory of one owner. */
#define ARCHIVE_MEMBERS_MODE S_ISVTX

/* A file of the directory that none of our sinks writes. */
struct archive_file {
	char *name; /* relative to the archive directory; owned */
	enum retention_kind kind;
	dev_t dev;
	ino_t ino;
	bool linked; /* has other names. One that has none shares its number with the dead only */
	uint64_t bytes; /* on disk, in whole units */
	uint64_t start_s, end_s;
	uint64_t seq;	  /* from the name; 0: none */
	uint64_t order_s; /* end_s, where no clock was set back; see archive_order() */
	bool second;	  /* another entry of this inode counts the bytes */
	bool pinned;	  /* kept/ has a link to it, or is about to */
	bool of_label;	  /* this entry is in a label of members */
	bool of_members;  /* some entry of this inode is */
	bool stuck;	  /* could not be deleted; forgotten at the next scan */
};

struct archive_sink {
	struct io_sink io;
	struct archive *archive;
	struct io_sink *file; /* over fd */
	int fd, dir_fd;
	dev_t dev;
	ino_t ino;
	enum retention_kind kind;  /* once sealed */
	char *name;		   /* sealed, relative to the archive directory */
	char active[NAME_MAX + 1]; /* its last component while it is written */
	uint64_t size, bytes;
	uint64_t reserved; /* granted to a write that is under way */
	uint64_t start_s;
	bool gone;    /* no name here leads to it: what it had is lost */
	bool renamed; /* by somebody, in its directory: a segment only */
	bool entered; /* the directory's entry of it is on stable storage */
	LIST_ENTRY(archive_sink) link;
};

/* A file that was deleted while others had it open. */
struct archive_gone {
	int fd;
	uint64_t bytes;
};
#define ARCHIVE_GONE 8

struct archive {
	uint32_t magic;
	pthread_mutex_t lock;
	char *path;
	int dir_fd, captures_fd, kept_fd;
	struct archive_lock dir_lock;
	struct config_space max_use, keep_free; /* as configured */
	uint32_t captures_share;		/* thousandths of a percent of max_use */
	uint64_t segment_size;
	struct retention_limits limits; /* as in force */
	uint64_t unit;			/* files grow by this many bytes */

	struct archive_file *files; /* sorted by name */
	size_t nr, cap;		    /* cap leaves room for every open sink */
	uint64_t other;		    /* foreign files, directories in kept/ */
	uint64_t dirs;		    /* the three directories */
	uint64_t members_labels;    /* of other: directories of members' labels */
	uint64_t objects;	    /* copies of mapped files, when they were last looked at */
	uint64_t objects_pinned;    /* of these: what names what is kept */
	uint64_t objects_share;	    /* bytes for them; 0: none */
	bool objects_asked;	    /* archive_objects() was: these are set aside */
	uint32_t objects_per;	    /* thousandths of a percent of max_use; 0: none are stored */
	struct archive_gone gone[ARCHIVE_GONE]; /* the oldest first */
	size_t nr_gone;
	uint64_t gone_bytes;
	LIST_HEAD(, archive_sink) sinks;
	size_t nr_sinks;
	uint64_t seq; /* of the next segment */
	uint64_t deleted_segments, deleted_bytes;
	uint64_t scanned_ns;	    /* CLOCK_MONOTONIC */
	struct timespec changed[3]; /* when each directory had been, before it was last read */
	uint64_t clock_offset_ns;   /* CLOCK_REALTIME less CLOCK_BOOTTIME when last looked at */
	uint64_t clock_set_ns;	    /* CLOCK_BOOTTIME when that had changed */
	bool clock_doubted;	    /* not long ago */
	bool scan_wanted;
	int astray;	     /* why the directories cannot be used, -errno; 0: they can */
	uint32_t lost_files; /* segments that were taken while they were written */
	char lost[ARCHIVE_LOST_BYTES];

	pthread_mutex_t usage_lock; /* of the next one; taken last, and held for no call */
	struct archive_usage usage; /* when it was last asked for */
	_Atomic int refused;	    /* errno of the last segment that took no bytes */
};

/* --- without the mutex --- */

int archive_fail(struct session_error *error, int negative_errno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t archive_now_s(void); /* CLOCK_REALTIME */

/* --- archive.c: the limits in force --- */

/* Size at which a segment is to be closed. */
uint64_t archive_segment_bytes(const struct archive *a);

/* --- archive_dirs.c: where all of it is --- */

/* Is this what the name leads to? When that cannot be told, it is. */
bool archive_is_at(int dirfd, const char *name, int flags, const struct stat *st);
/*
 * Opens, or makes, the directories that are not open, or are not what is found under their names.
 * 1: some of them, so that a scan is due; 0; -errno: the others may have been.
 */
int archive_settle(struct archive *a, struct session_error *error);
/* Closes them. */
void archive_leave(struct archive *a);

/* --- archive_look.c: what others do to it --- */

void archive_look_at_sink(struct archive *a, struct archive_sink *s);
/* Directories, made again, and all sinks. 0, -errno: no file can be made now. */
int archive_look_around(struct archive *a, struct session_error *error);

/* --- archive_scan.c: the directory is the truth --- */

/*
 * Reads the directory anew, seals what a dead daemon left, quarantines what is no recording. One
 * that fails is tried again at the next tick.
 */
int archive_scan(struct archive *a);
/* Has there been another name, or one less, since? Seen of ours, too. */
bool archive_changed(const struct archive *a);
/* Bytes that a file or directory takes. */
uint64_t archive_bytes(const struct archive *a, const struct stat *st);
/*
 * Where each file stands in the order of deletion: one cannot be younger than a segment that was
 * begun after it, whatever the clock said.
 */
void archive_order(struct archive *a);
/* Who counts the bytes of several links, who is pinned, and by a label of members. */
void archive_recount(struct archive *a);
uint64_t archive_fs_free(const struct archive *a);
/* Refreshes what the directories take. */
void archive_dirs(struct archive *a);
/* The descriptor of the directory that name is in, and its last component. */
int archive_dirfd(const struct archive *a, const char *name, const char **ret_base);
/* Takes name over; room has been made by archive_reserve(). */
void archive_add(struct archive *a, const struct archive_file *f);
int archive_reserve(struct archive *a, size_t more);
/* Renames without replacing. 0, -errno. */
int archive_rename(int dirfd, const char *from, const char *to);

/* --- archive_objects.c: copies of mapped files --- */

/* What they take, or may take. */
uint64_t archive_objects_reserved(const struct archive *a);
/* Counts them, and those that are pinned. */
void archive_objects_scan(struct archive *a);
/* May so many bytes more of them be pinned? By what was last counted; who pins adds them to that. */
bool archive_objects_may_pin(const struct archive *a, uint64_t bytes);
/* Nothing else can make room: so many bytes of them go, the longest unused first. How many. */
uint32_t archive_objects_drop(struct archive *a, uint64_t bytes);
/* What one of them counts for: it has holes, and an inode. */
uint64_t archive_objects_bytes(const struct stat *st);
/* The directory that copies are in by their id; -1: there is none. */
int archive_objects_open(const struct archive *a);

/* --- archive_pins.c: copies that name what is kept --- */

/*
 * By what recordings in a label's directory have mapped. label: taken over. member: for one, so that half of what may be
 * pinned is left to root. NULL: out of memory.
 */
struct archive_pins *archive_pins_new(struct archive *a, int label, bool member);
int archive_pins_add(struct archive_pins *p, const char *name); /* 0, -ENOMEM */

/* --- archive_delete.c: deletion that gives the space back --- */

/*
 * As unlinkat(2); 0, -errno. A file without another name is emptied: at once if no other process has it open, or if deleted
 * files take too much; else by a later archive_gone_look().
 */
int archive_delete(struct archive *a, int dirfd, const char *name);
/* Empties deleted files that are open no more, and the oldest ones as long as all of them are too much. */
void archive_gone_look(struct archive *a);
/* Empties all deleted files, although they are read. */
void archive_gone_done(struct archive *a);

/* --- archive_room.c: what is taken, and who goes --- */

uint64_t archive_used(const struct archive *a);
/*
 * Room for need more bytes (capturing: of a capture) within the limits, by deleting what it takes.
 * 0, -ENOSPC.
 */
int archive_room(struct archive *a, uint64_t need, bool capturing);
/* The file system refuses (a quota, no inode) whatever it says is free: gives up that much. */
void archive_give_up(struct archive *a, uint64_t need);
/* All limits, now; of age only while the clock is not doubted. */
void archive_enforce(struct archive *a, uint64_t now_s);

struct archive_purge {
	struct retention_question question; /* its files are the account's */
	/* results */
	uint64_t files, bytes;
};
void archive_purge(struct archive *a, struct archive_purge *p);

#endif
