/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as what is kept of debug information, with a right head: all that is said to be there is read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/crc32c.h"
#include "format/bytes/time_text.h"
#include "symbolizer/dwarf/dwarf_cache.h"

#define HEAD_BYTES 80 /* up to the numbers of addresses and frames */
#define BODY 96

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_all(const struct dwarf_cache *c, const uint8_t *bytes, size_t n)
{
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	size_t nr, length = 0;

	for (size_t at = BODY; at + 8 <= n; at += 8) {
		if (!dwarf_cache_find(c, le64dec(bytes + at), frames, &nr))
			continue;
		for (size_t i = 0; i < nr; i++)
			length += (frames[i].function ? strlen(frames[i].function) : 0) +
				(frames[i].file ? strlen(frames[i].file) : 0);
	}
	if (length == SIZE_MAX)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct buildid id = { .size = 20, .kind = BUILDID_GNU };
	int fd = memfd_create("debug", MFD_CLOEXEC);
	/* What everybody may write to is nobody's word. */
	struct dwarf_cache *c =
		fd >= 0 && fchmod(fd, 0600) == 0 ? dwarf_cache_open(NULL, &id, fd, -1) : NULL;
	uint8_t *bytes = malloc(HEAD_BYTES + size + 1);
	struct stat st;

	if (c && bytes && fstat(fd, &st) == 0 && HEAD_BYTES + size >= BODY) {
		memcpy(bytes, "spoorSYM", 8);
		le32enc(bytes + 8, 3);
		le64enc(bytes + 16, st.st_dev);
		le64enc(bytes + 24, st.st_ino);
		le64enc(bytes + 32, (uint64_t)st.st_size);
		le64enc(bytes + 40, (uint64_t)time_text_ns(&st.st_ctim));
		memset(bytes + 48, 0, 32);
		if (size > 0)
			memcpy(bytes + HEAD_BYTES, data, size);
		le32enc(bytes + 12, crc32c(0, bytes + BODY, HEAD_BYTES + size - BODY));
		(void)dwarf_cache_parse(c, span_of(bytes, HEAD_BYTES + size));
		read_all(c, bytes, HEAD_BYTES + size);
	}
	dwarf_cache_free(c);
	free(bytes);
	if (fd >= 0)
		close(fd);
	return 0;
}
