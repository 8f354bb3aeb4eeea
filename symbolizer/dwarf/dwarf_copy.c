/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_copy.h"

#include <string.h>

#include <gelf.h>

#include "format/bytes/fmt_error.h"

#define PAD_BYTES 8 /* behind each section, and they are aligned by as many */

void
dwarf_copy_init(struct dwarf_copy *c)
{
	buf_init(&c->bytes);
	buf_init(&c->names);
	buf_init(&c->headers);
	buf_zero(&c->bytes, sizeof(Elf64_Ehdr));
	buf_u8(&c->names, 0);
	buf_zero(&c->headers, sizeof(Elf64_Shdr));
}

void
dwarf_copy_done(struct dwarf_copy *c)
{
	buf_done(&c->bytes);
	buf_done(&c->names);
	buf_done(&c->headers);
}

static void
add_header(struct dwarf_copy *c, const char *name, uint32_t type, size_t offset, size_t size)
{
	const Elf64_Shdr shdr = { .sh_name = (Elf64_Word)c->names.len,
				  .sh_type = type,
				  .sh_offset = offset,
				  .sh_size = size,
				  .sh_addralign = 1 };

	buf_append(&c->names, name, strlen(name) + 1);
	buf_append(&c->headers, &shdr, sizeof(shdr));
}

uint8_t *
dwarf_copy_room(struct dwarf_copy *c, size_t size)
{
	return size > SIZE_MAX - PAD_BYTES ? NULL : buf_reserve(&c->bytes, size + PAD_BYTES);
}

void
dwarf_copy_take(struct dwarf_copy *c, const char *name, size_t size)
{
	add_header(c, name, SHT_PROGBITS, c->bytes.len, size);
	c->bytes.len += size;
	buf_zero(&c->bytes, -c->bytes.len & (PAD_BYTES - 1));
}

void
dwarf_copy_add(struct dwarf_copy *c, const char *name, struct span bytes)
{
	uint8_t *out = dwarf_copy_room(c, bytes.len);

	if (!out)
		return;
	if (bytes.len > 0)
		memcpy(out, bytes.p, bytes.len);
	dwarf_copy_take(c, name, bytes.len);
}

static void
put_header(struct dwarf_copy *c, const GElf_Ehdr *like)
{
	const size_t nr = c->headers.len / sizeof(Elf64_Shdr);
	Elf64_Ehdr *e = (Elf64_Ehdr *)(void *)c->bytes.p;

	*e = (Elf64_Ehdr){ .e_type = like->e_type,
			   .e_machine = like->e_machine,
			   .e_version = EV_CURRENT,
			   .e_shoff = c->bytes.len,
			   .e_ehsize = sizeof(*e),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = (Elf64_Half)nr,
			   .e_shstrndx = (Elf64_Half)(nr - 1) };
	memcpy(e->e_ident, ELFMAG, SELFMAG);
	e->e_ident[EI_CLASS] = ELFCLASS64;
	e->e_ident[EI_DATA] = ELFDATA2LSB;
	e->e_ident[EI_VERSION] = EV_CURRENT;
}

static int
end_copy(struct dwarf_copy *c, Elf *like)
{
	GElf_Ehdr original;

	add_header(c, ".shstrtab", SHT_STRTAB, c->bytes.len, 0);
	buf_append(&c->bytes, c->names.p, c->names.len);
	buf_zero(&c->bytes, -c->bytes.len & (PAD_BYTES - 1));
	if (buf_failed(&c->bytes) || buf_failed(&c->names) || buf_failed(&c->headers))
		return -FMT_E_NOMEM;
	if (c->headers.len / sizeof(Elf64_Shdr) > DWARF_COPY_SECTIONS_MAX)
		return -FMT_E_TOO_BIG;
	if (!gelf_getehdr(like, &original))
		return -FMT_E_CORRUPT;
	((Elf64_Shdr *)(void *)(c->headers.p + c->headers.len))[-1].sh_size = c->names.len;
	put_header(c, &original);
	buf_append(&c->bytes, c->headers.p, c->headers.len);
	return buf_failed(&c->bytes) ? -FMT_E_NOMEM : 0;
}

int
dwarf_copy_open(struct dwarf_copy *c, Elf *like, struct buf *ret_bytes, Elf **ret_elf)
{
	int error = end_copy(c, like);
	Elf *elf = error ? NULL : elf_memory((char *)c->bytes.p, c->bytes.len);

	if (!elf) {
		dwarf_copy_done(c);
		return error ? error : -FMT_E_CORRUPT;
	}
	*ret_bytes = c->bytes;
	buf_init(&c->bytes);
	dwarf_copy_done(c);
	*ret_elf = elf;
	return 0;
}
