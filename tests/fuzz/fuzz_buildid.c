/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as an ELF image, and as notes. */
#include <stdint.h>
#include <stdlib.h>

#include "recorder/buildid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buildid id = { 0 };

	if (buildid_read_image(data, size, &id) == 0 && (id.size == 0 || id.size > BUILDID_MAX))
		abort();
	(void)buildid_parse_notes(data, size, 4, &id);
	(void)buildid_parse_notes(data, size, 8, &id);
	return 0;
}
