/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as an ELF file with debug sections, packed or not. What libdw makes of them is not tried
 * here: its faults are known, and a worker's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizer/dwarf/dwarf_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { ".debug_info", ".debug_line", ".debug_str" };
	const struct dwarf_code *code;
	struct dwarf_image *image;
	volatile uint8_t sum = 0;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (dwarf_image_open(fd, &image) == 0) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			struct span s = dwarf_image_section(image, names[i]);

			for (size_t k = 0; k < s.len; k++)
				sum ^= s.p[k];
		}
		for (size_t i = dwarf_image_code(image, &code); i > 0; i--)
			if (code[i - 1].end < code[i - 1].start)
				abort();
		dwarf_image_close(image);
	}
	close(fd);
	return 0;
}
