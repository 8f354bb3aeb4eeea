/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buildid: which build a file is: the id in the GNU note of an ELF file, or a surrogate for a
 * file that has none.
 *
 * The files belong to others: counts, offsets and lengths are bounded before they are used.
 */
#ifndef FORMAT_BYTES_BUILDID_H
#define FORMAT_BYTES_BUILDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/io.h"

/* A PERF_RECORD_MMAP2 holds no more. The kernel takes a longer note for none (lib/buildid.c). */
#define BUILDID_MAX 20

enum buildid_kind {
	BUILDID_GNU,
	/*
	 * SHA-1, of the Go build id where there is one, else of a small file's every byte, or of a
	 * large one's headers, size, and parts. Says which build a file is to spoor alone: no other
	 * tool knows the id.
	 */
	BUILDID_SURROGATE,
};

struct buildid {
	uint8_t size; /* 0: none */
	uint8_t kind;
	uint8_t bytes[BUILDID_MAX]; /* behind size: 0 */
};

/* size > BUILDID_MAX gives no id. */
struct buildid buildid_of(enum buildid_kind kind, const void *bytes, size_t size);
/* Orders; 0: both say the same, or both say nothing. */
int buildid_cmp(const struct buildid *a, const struct buildid *b);
/*
 * May both be of one file? As buildid_cmp(), but zeros at the end do not count: perf until 5.10 and simpleperf write
 * 20 bytes and no length.
 */
bool buildid_same(const struct buildid *a, const struct buildid *b);
/*
 * A GNU id of BUILDID_MAX bytes whose length was not told: 20 (SHA-1), or 16 (MD5, UUID) or 8 (xxHash) with zeros
 * behind it.
 */
struct buildid buildid_of_padded(const uint8_t bytes[BUILDID_MAX]);

/* The GNU id in a sequence of ELF notes with this alignment (4 or 8); none: size 0. */
struct buildid buildid_of_notes(const void *notes, size_t len, size_t align);
/* That of a file of nothing but notes, as sysfs has them. 0; -ENODATA: none; -errno. */
int buildid_of_notes_file(const char *path, struct buildid *ret);

/*
 * The id of an ELF file: its GNU note, looked for in PT_NOTE segments and then in SHT_NOTE
 * sections, else a surrogate. 0; -FMT_E_UNSUPPORTED (no little-endian ELF file),
 * -FMT_E_CORRUPT (no segment of code to make a surrogate of), -FMT_E_IO.
 */
int buildid_read(struct io_source *file, struct buildid *ret);

#endif
