/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_image: an ELF file of one segment of code around an .eh_frame of any bytes, without section
 * headers: .eh_frame_hdr leads to it.
 */
#ifndef TESTS_LAB_FRAME_IMAGE_H
#define TESTS_LAB_FRAME_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define FRAME_IMAGE_HEAD 256 /* bytes before .eh_frame */
#define FRAME_IMAGE_CODE UINT64_C(0x100000)
#define FRAME_IMAGE_CODE_BYTES UINT64_C(0x10000)
#define FRAME_IMAGE_ENTRY (FRAME_IMAGE_CODE + 0xe00)

/* to has room for FRAME_IMAGE_HEAD + n bytes; returns how many they are. */
static inline size_t
frame_image(uint8_t *to, uint16_t machine, const void *eh_frame, size_t n)
{
	const uint64_t header = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
	const Elf64_Ehdr e = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_entry = FRAME_IMAGE_ENTRY,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
	};
	const Elf64_Phdr p[3] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = FRAME_IMAGE_HEAD + n },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = FRAME_IMAGE_CODE,
		  .p_memsz = FRAME_IMAGE_CODE_BYTES },
		{ .p_type = PT_GNU_EH_FRAME, .p_offset = header, .p_vaddr = header, .p_filesz = 12 },
	};
	/* Version 1, .eh_frame as eight bytes, no table. */
	const uint8_t h[4] = { 1, 4, 0xff, 0xff };
	const uint64_t at = FRAME_IMAGE_HEAD;

	memset(to, 0, FRAME_IMAGE_HEAD);
	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), p, sizeof(p));
	memcpy(to + header, h, sizeof(h));
	memcpy(to + header + 4, &at, sizeof(at));
	if (n > 0)
		memcpy(to + FRAME_IMAGE_HEAD, eh_frame, n);
	return FRAME_IMAGE_HEAD + n;
}

/*
 * Appends a .eh_frame_hdr with a table of nr pairs to an image of so many bytes: address of code, address of its FDE. to has room for frame_image_table_bytes() more; returns how many all are.
 */
static inline size_t
frame_image_table_bytes(size_t nr)
{
	return 12 + nr * 2 * sizeof(int32_t);
}

static inline size_t
frame_image_table(uint8_t *to, size_t size, const int32_t (*pairs)[2], size_t nr)
{
	const size_t phdr = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
	const uint8_t h[4] = {
		1, 3, 3, 0x3b
	}; /* .eh_frame as four bytes, a count of four, datarel sdata4 */
	const int32_t frame = FRAME_IMAGE_HEAD;
	const uint32_t count = (uint32_t)nr;
	Elf64_Phdr p;

	memcpy(&p, to + phdr, sizeof(p));
	p.p_offset = p.p_vaddr = size;
	p.p_filesz = frame_image_table_bytes(nr);
	memcpy(to + phdr, &p, sizeof(p));
	memcpy(to + size, h, sizeof(h));
	memcpy(to + size + 4, &frame, sizeof(frame));
	memcpy(to + size + 8, &count, sizeof(count));
	for (size_t i = 0; i < nr; i++) {
		const int32_t relative[2] = { (int32_t)(pairs[i][0] - (int64_t)size),
					      (int32_t)(pairs[i][1] - (int64_t)size) };

		memcpy(to + size + 12 + i * sizeof(relative), relative, sizeof(relative));
	}
	return size + frame_image_table_bytes(nr);
}

#endif
