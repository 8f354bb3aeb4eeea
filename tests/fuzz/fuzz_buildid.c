/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as an ELF file, and as notes. */
#include <stdint.h>
#include <stdlib.h>

#include "format/bytes/buildid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct buildid *id)
{
	if (id->size > BUILDID_MAX || (id->size == 0 && id->kind != BUILDID_GNU))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct io_source *file = io_source_memory(data, size);
	struct buildid id = { 0 };

	if (!file)
		return 0;
	if (buildid_read(file, &id) == 0 && id.size == 0)
		abort();
	file->close(file);
	check(&id);
	for (size_t align = 4; align <= 8; align += 4) {
		id = buildid_of_notes(data, size, align);
		check(&id);
	}
	return 0;
}
