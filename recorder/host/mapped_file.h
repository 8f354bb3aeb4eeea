/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_file: the very file that a process has mapped, found without a wait, and opened.
 *
 * The files are those of other people: only regular ones are opened, and file systems whose
 * answers another process gives (FUSE) are left alone, since they could stall the recorder. Before
 * Linux 5.12, which cannot look up a name in its cache alone, a path is looked up all the same.
 *
 * Anybody can make a file whose inode number is that of another one on another file system, and map it
 * where that was mapped a moment ago. So a file is the mapped one only if its file system is, too. Where
 * stat(2) does not tell that (btrfs, overlayfs), its mount does.
 */
#ifndef RECORDER_HOST_MAPPED_FILE_H
#define RECORDER_HOST_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "format/bytes/buildid.h"
#include "recorder/host/file_mount.h"

/* A file as a process mapped it. */
struct buildid_map {
	pid_t pid;
	uint64_t start, end;
	uint32_t maj, min;
	uint64_t ino;
	uint64_t ino_generation; /* 0: not known */
	const char *path;	 /* as pid saw it */
	uint64_t mapped_ns;	 /* CLOCK_MONOTONIC */
	pid_t peer;		 /* another process that may see the same files; 0: none */
	struct buildid known_id; /* the kernel told it, and no inode; size 0: it did not */
};

/* What is known of this host. All zero is none; mapped_files_init() before use. */
struct mapped_files {
	int root;	 /* O_PATH, of this process; -1 */
	int host_root;	 /* likewise, of the first process, where that may be had */
	dev_t memfds;	 /* the device of every memfd; 0: not known */
	int64_t tick_ns; /* of the clock that files bear the time of */
	bool no_map_files;
	bool overlays_told; /* this kernel's maps tell the device of an overlay, as one was seen to */
};

void mapped_files_init(struct mapped_files *c);
void mapped_files_done(struct mapped_files *c);

/* A file that was found. */
struct mapped_file {
	struct statx st;
	int fd;	  /* O_PATH: nobody has been asked to open it */
	pid_t by; /* the process through which it was found; 0: this one */
	bool by_map;
	bool has_mount; /* it has been looked for */
	struct file_mount mount;
	bool numbered;	     /* nothing but its generation tells it from others of its number */
	uint64_t changed_ns; /* CLOCK_MONOTONIC */
};

/*
 * EVERYWHERE: /proc/PID/map_files, which names the very inode, then the path as pid and this process
 * see it. With a peer, as that sees it, whatever is said here.
 */
enum mapped_where {
	MAPPED_EVERYWHERE,
	MAPPED_OWN_PATH_FIRST, /* that is where the file was, and the process may be gone */
	/* It was missed a moment ago, perhaps through another process: its own process alone is asked. */
	MAPPED_ITS_PROCESS,
};

/* True: ret->fd is the caller's. */
bool mapped_file_find(struct mapped_files *c, const struct buildid_map *m, enum mapped_where where,
		      struct mapped_file *ret);
/* For reading: its descriptor; -EOPNOTSUPP: it is not to be opened; -errno. */
int mapped_file_open(const struct mapped_files *c, struct mapped_file *f);
/* Of an open file. False: its file system has none. */
bool mapped_file_generation(int fd, uint64_t ino, uint32_t *ret);
/*
 * May it be gone when its process is? It has no name, or is in memory or in a container: on an overlay,
 * or not what the host has by that name. Or it was made just now, as by go run, a test or a build: then
 * it will soon be removed or made anew, and nobody sees that.
 */
bool mapped_file_ephemeral(struct mapped_files *c, const struct buildid_map *m,
			   const struct mapped_file *f);

#endif
