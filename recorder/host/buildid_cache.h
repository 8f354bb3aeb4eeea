/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buildid_cache: the build-ids of files that processes have mapped, remembered by inode.
 *
 * The files are those of other people: only regular ones are read, and file systems whose
 * answers another process gives (FUSE) are left alone, since they could stall the recorder. Before
 * Linux 5.12, which cannot look up a name in its cache alone, a path is looked up all the same.
 *
 * Anybody can make a file whose inode number is that of another one on another file system, and map it
 * where that was mapped a moment ago. So a file is the mapped one only if its file system is, too. Where
 * stat(2) does not tell that (btrfs, overlayfs), its mount does.
 */
#ifndef RECORDER_HOST_BUILDID_CACHE_H
#define RECORDER_HOST_BUILDID_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/host/mapped_file.h"

struct perf_mmap;

/* As a record tells it; mapped_ns: its time. The path is the record's. */
struct buildid_map buildid_map_of(const struct perf_mmap *m, uint64_t mapped_ns);

/* Bounded. */
struct buildid_cache;

/* What is known of one file, for another cache. */
struct buildid_fact {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint64_t size;
	int64_t ctime_sec;
	uint32_t ctime_nsec;
	uint8_t known;	  /* enum buildid_known */
	uint8_t own_path; /* found by its path as this process sees it */
	uint8_t numbered; /* other files of its file system may have its number, as on btrfs */
	/*
	 * CLOCK_MONOTONIC: the file was like this all the time between the two. OUT_OF_REACH: seen_ns
	 * is when it was looked for.
	 */
	uint64_t changed_ns, seen_ns;
	uint64_t peers_ns; /* when it was looked for through other processes */
	uint64_t gone_ns;  /* when it was found to be out of reach; 0: it was not */
	struct buildid id;
};

/* OUT_OF_REACH: nothing is known, and where one would look was looked just now. */
enum buildid_known { BUILDID_NOTHING, BUILDID_KNOWN, BUILDID_NONE, BUILDID_OUT_OF_REACH };

struct buildid_cache *buildid_cache_new(void); /* NULL: out of memory */
void buildid_cache_free(struct buildid_cache *c);

/*
 * What is known for certain, asking nobody: 0; -ENODATA: it has none. What buildid_cache_get() would
 * look for: -EAGAIN, nothing is known of its inode; -ESTALE, something is, but from before.
 */
int buildid_cache_known(struct buildid_cache *c, const struct buildid_map *map,
			struct buildid *ret);

/*
 * The build-id of a mapped file. A file that is not known, or may have changed since it was last
 * looked at and before it was mapped, is looked for through /proc/PID/map_files, which names the
 * very inode, then by its path as pid, this process and peer see it, where that is still the
 * same inode; and read. 0; -ENODATA: it has none; -ESTALE: it is not in reach (any more), and
 * another peer may be tried; -ENOENT: it is not, and another peer was tried a moment ago; -errno.
 */
int buildid_cache_get(struct buildid_cache *c, const struct buildid_map *map, struct buildid *ret);

/* A mapped file that was opened. */
struct buildid_file {
	int fd; /* for reading */
	struct buildid id;
	bool ephemeral; /* as of mapped_file_ephemeral() */
};

/*
 * Opens a mapped file as buildid_cache_get() finds it, or where the map has no inode, one with its build-id.
 * 0; -ESTALE: it is not in reach; -EOPNOTSUPP: it is not to be opened; -errno. Nothing is remembered.
 */
int buildid_cache_open(struct buildid_cache *c, const struct buildid_map *map,
		       struct buildid_file *ret);

/* What the cache holds in the place of this inode, for one that is in another process. */
void buildid_cache_fact(const struct buildid_cache *c, const struct buildid_map *map,
			struct buildid_fact *ret);
void buildid_cache_learn(struct buildid_cache *c, const struct buildid_fact *fact);

#endif
