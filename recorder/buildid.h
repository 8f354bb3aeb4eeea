/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buildid: the GNU build-id note of files and images, read without libelf.
 *
 * The files are those that other people's processes have mapped: nothing in them is
 * believed before it is bounded, only regular files are read, and file systems whose
 * answers another process gives (FUSE) are left alone: they could stall the recorder.
 */
#ifndef RECORDER_BUILDID_H
#define RECORDER_BUILDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a PERF_RECORD_MMAP2 can carry. A longer one counts as none, as it does for the kernel. */
#define BUILDID_MAX 20

struct buildid {
	uint8_t size; /* 0: none */
	uint8_t bytes[BUILDID_MAX];
};

/* All return 0, -ENODATA (sound, but has no build-id), -ENOEXEC (not ELF, or broken), -errno. */

/* A sequence of ELF notes with this alignment (4 or 8). */
int buildid_parse_notes(const void *notes, size_t len, size_t align, struct buildid *ret);
/* An ELF file. Looks into PT_NOTE segments, then into SHT_NOTE sections. */
int buildid_read_fd(int fd, struct buildid *ret);
/* An image of an ELF file in memory, as the vDSO is. */
int buildid_read_image(const void *image, size_t len, struct buildid *ret);
/* The running kernel, its vDSO, one of its modules. */
int buildid_kernel(struct buildid *ret);
int buildid_vdso(struct buildid *ret);
int buildid_module(const char *name, struct buildid *ret);

/* A mapped file of a living process. */
struct buildid_map {
	pid_t pid;
	uint64_t start, end;
	uint32_t maj, min;
	uint64_t ino;
	const char *path;
};

/* Remembers what inodes had; an inode that changed since is read again. Bounded. */
struct buildid_cache;

struct buildid_cache *buildid_cache_new(void);
void buildid_cache_free(struct buildid_cache *c);

/*
 * The build-id of a mapped file: through /proc/PID/map_files, which names the very inode, or
 * else by path as PID sees it, if that is still the same inode. -ESTALE: it is not, or is gone.
 */
int buildid_cache_get(struct buildid_cache *c, const struct buildid_map *map, struct buildid *ret);

#endif
