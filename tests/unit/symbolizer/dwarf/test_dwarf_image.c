/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What packed sections may become: no more than deflate could make of the whole file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>
#include <zstd.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_image.h"

#define COMPRESS_ZSTD 2
#define MIB ((size_t)1 << 20)

static void
put_header(struct buf *b, unsigned int type, unsigned int name, unsigned int flags, size_t at,
	   size_t size)
{
	const Elf64_Shdr shdr = { .sh_name = name,
				  .sh_type = type,
				  .sh_flags = flags,
				  .sh_offset = at,
				  .sh_size = size };

	buf_append(b, &shdr, sizeof(shdr));
}

/* An ELF file whose .debug_info is so many zeros; times: of as many sections of the same bytes. */
static int
open_zeros(size_t bytes, unsigned int times, struct dwarf_image **ret)
{
	static const char names[] = "\0.debug_info\0.shstrtab";
	const Elf64_Chdr chdr = { .ch_type = COMPRESS_ZSTD, .ch_size = bytes };
	const size_t room = ZSTD_compressBound(bytes);
	uint8_t *zeros = calloc(1, bytes), *packed = malloc(room);
	Elf64_Ehdr e = { .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_ehsize = sizeof(e),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = (Elf64_Half)(times + 2),
			 .e_shstrndx = (Elf64_Half)(times + 1) };
	struct buf b;
	size_t len, at_names;
	int fd, error;

	assert_true(zeros && packed);
	len = ZSTD_compress(packed, room, zeros, bytes, 1);
	assert_false(ZSTD_isError(len));
	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	e.e_ident[EI_VERSION] = EV_CURRENT;
	buf_init(&b);
	buf_append(&b, &e, sizeof(e));
	buf_append(&b, &chdr, sizeof(chdr));
	buf_append(&b, packed, len);
	at_names = b.len;
	buf_append(&b, names, sizeof(names));
	buf_zero(&b, -b.len & 7);
	((Elf64_Ehdr *)(void *)b.p)->e_shoff = b.len;
	put_header(&b, SHT_NULL, 0, 0, 0, 0);
	for (unsigned int i = 0; i < times; i++)
		put_header(&b, SHT_PROGBITS, 1, SHF_COMPRESSED, sizeof(e), sizeof(chdr) + len);
	put_header(&b, SHT_STRTAB, 13, 0, at_names, sizeof(names));
	assert_false(buf_failed(&b));
	fd = memfd_create("image", MFD_CLOEXEC);
	assert_int_equal(write(fd, b.p, b.len), b.len);
	error = dwarf_image_open(fd, ret);
	close(fd);
	buf_done(&b);
	free(zeros);
	free(packed);
	return error;
}

static void
test_small(void **state)
{
	struct dwarf_image *image;

	(void)state;
	assert_int_equal(open_zeros(8 * MIB, 1, &image), 0);
	assert_int_equal(dwarf_image_section(image, ".debug_info").len, 8 * MIB);
	dwarf_image_close(image);
}

/* 6 KB that become 64 MiB, and less than 2 KB that 40 sections have in common. */
static void
test_bombs(void **state)
{
	struct dwarf_image *image;

	(void)state;
	assert_int_equal(open_zeros(64 * MIB, 1, &image), -FMT_E_TOO_BIG);
	assert_int_equal(open_zeros(MIB, 40, &image), -FMT_E_TOO_BIG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
