/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_elf.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_reduce.h"

#define NAMES_MAX (1u << 20) /* bytes of the names of all sections */
#define NAME_BYTES_MAX 64    /* of one that is looked at, with its NUL */

#define FIELD(e, p, type, name) ELF_FIELD((e)->is64, p, type, name)

int
stored_elf_bytes(struct io_source *file, uint64_t at, void *to, size_t n)
{
	uint8_t *p = to;

	while (n > 0) {
		ssize_t got = file->read(file, at, p, n);

		if (got < 0)
			return -FMT_E_IO;
		if (got == 0)
			return -FMT_E_TRUNCATED;
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static int
read_part(struct stored_elf *e, uint64_t at, uint64_t bytes, void *ret)
{
	uint8_t *p;
	int error;

	if (!stored_elf_inside(e, at, bytes))
		return -FMT_E_TRUNCATED;
	p = malloc(bytes ? (size_t)bytes : 1);
	if (!p)
		return -FMT_E_NOMEM;
	error = stored_elf_bytes(e->file, at, p, (size_t)bytes);
	if (error)
		free(p);
	else
		memcpy(ret, &p, sizeof(p));
	return error;
}

static int
read_header(struct stored_elf *e, bool apart)
{
	int64_t size = e->file->size(e->file);
	uint64_t type;
	int error;

	if (size < 0)
		return -FMT_E_IO;
	e->size = (uint64_t)size;
	if (e->size < sizeof(Elf64_Ehdr))
		return -FMT_E_UNSUPPORTED;
	error = stored_elf_bytes(e->file, 0, e->header, sizeof(e->header));
	if (error)
		return error;
	if (memcmp(e->header, ELFMAG, SELFMAG) != 0 || e->header[EI_DATA] != ELFDATA2LSB ||
	    (e->header[EI_CLASS] != ELFCLASS64 && e->header[EI_CLASS] != ELFCLASS32))
		return -FMT_E_UNSUPPORTED;
	e->is64 = e->header[EI_CLASS] == ELFCLASS64;
	type = FIELD(e, e->header, Ehdr, e_type);
	return type == ET_EXEC || type == ET_DYN || (apart && type == ET_REL) ? 0
									      : -FMT_E_UNSUPPORTED;
}

static int
read_segments(struct stored_elf *e)
{
	const size_t each = ELF_SIZE(e->is64, Phdr);

	if (FIELD(e, e->header, Ehdr, e_type) == ET_REL)
		return 0;
	e->segments_at = FIELD(e, e->header, Ehdr, e_phoff);
	e->nr_segments = (size_t)FIELD(e, e->header, Ehdr, e_phnum);
	if (e->nr_segments > STORED_SEGMENTS_MAX)
		return -FMT_E_TOO_BIG;
	if (e->nr_segments == 0 || FIELD(e, e->header, Ehdr, e_phentsize) != each)
		return -FMT_E_CORRUPT;
	return read_part(e, e->segments_at, e->nr_segments * each, &e->segments);
}

/* Their number is in the first section where a half word cannot hold it. */
static int
count_sections(struct stored_elf *e, uint64_t at)
{
	uint8_t first[sizeof(Elf64_Shdr)];
	uint64_t count = FIELD(e, e->header, Ehdr, e_shnum);
	int error;

	if (count == 0) {
		if (!stored_elf_inside(e, at, ELF_SIZE(e->is64, Shdr)))
			return -FMT_E_TRUNCATED;
		error = stored_elf_bytes(e->file, at, first, ELF_SIZE(e->is64, Shdr));
		if (error)
			return error;
		count = FIELD(e, first, Shdr, sh_size);
	}
	if (count > STORED_SECTIONS_MAX)
		return -FMT_E_TOO_BIG;
	e->nr_sections = (size_t)count;
	return 0;
}

static int
read_names(struct stored_elf *e)
{
	uint64_t index = FIELD(e, e->header, Ehdr, e_shstrndx), at, size;

	if (index == SHN_XINDEX)
		index = FIELD(e, stored_elf_section(e, 0), Shdr, sh_link);
	if (index == SHN_UNDEF || index >= e->nr_sections)
		return 0;
	at = FIELD(e, stored_elf_section(e, (size_t)index), Shdr, sh_offset);
	size = FIELD(e, stored_elf_section(e, (size_t)index), Shdr, sh_size);
	if (FIELD(e, stored_elf_section(e, (size_t)index), Shdr, sh_type) != SHT_STRTAB ||
	    size == 0 || size > NAMES_MAX || !stored_elf_inside(e, at, size))
		return 0;
	e->names_index = (size_t)index;
	e->names_len = (size_t)size;
	return read_part(e, at, size, &e->names);
}

/* None is no error: the segments have what loaders need. */
static int
read_sections(struct stored_elf *e)
{
	const size_t each = ELF_SIZE(e->is64, Shdr);
	uint64_t at = FIELD(e, e->header, Ehdr, e_shoff);
	int error;

	if (at == 0)
		return 0;
	if (FIELD(e, e->header, Ehdr, e_shentsize) != each)
		return -FMT_E_CORRUPT;
	error = count_sections(e, at);
	if (!error && e->nr_sections > 0)
		error = read_part(e, at, e->nr_sections * each, &e->sections);
	return error || e->nr_sections == 0 ? error : read_names(e);
}

const char *
stored_elf_name(const struct stored_elf *e, size_t i)
{
	uint64_t at = FIELD(e, stored_elf_section(e, i), Shdr, sh_name);
	size_t n = at < e->names_len ? (size_t)(e->names_len - at) : 0;

	n = n < NAME_BYTES_MAX ? n : NAME_BYTES_MAX;
	return n > 0 && memchr(e->names + at, 0, n) ? e->names + at : "";
}

/* A segment that is loaded, and what of it is in the file. False: the i-th is none. */
static bool
load_segment(const struct stored_elf *e, size_t i, uint64_t *ret_at, uint64_t *ret_n,
	     uint64_t *ret_vaddr)
{
	const uint8_t *p = stored_elf_segment(e, i);

	*ret_at = FIELD(e, p, Phdr, p_offset);
	*ret_n = FIELD(e, p, Phdr, p_filesz);
	*ret_vaddr = FIELD(e, p, Phdr, p_vaddr);
	if (*ret_at > e->size)
		*ret_at = e->size;
	if (*ret_n > e->size - *ret_at)
		*ret_n = e->size - *ret_at;
	return FIELD(e, p, Phdr, p_type) == PT_LOAD;
}

bool
stored_elf_vaddr(const struct stored_elf *e, uint64_t offset, uint64_t *ret)
{
	uint64_t at, n, vaddr;

	for (size_t i = 0; i < e->nr_segments; i++)
		if (load_segment(e, i, &at, &n, &vaddr) && offset >= at && offset - at < n) {
			*ret = vaddr + (offset - at);
			return true;
		}
	return false;
}

bool
stored_elf_offset(const struct stored_elf *e, uint64_t vaddr, uint64_t bytes, uint64_t *ret)
{
	uint64_t at, n, start;

	for (size_t i = 0; i < e->nr_segments; i++)
		if (load_segment(e, i, &at, &n, &start) && vaddr >= start && vaddr - start < n &&
		    bytes <= n - (vaddr - start)) {
			*ret = at + (vaddr - start);
			return true;
		}
	return false;
}

bool
stored_elf_is_loaded(const struct stored_elf *e, uint64_t from, uint64_t bytes)
{
	uint64_t at, n, vaddr;

	for (size_t i = 0; i < e->nr_segments; i++)
		if (load_segment(e, i, &at, &n, &vaddr) && n && bytes && from < at + n &&
		    (at <= from || bytes > at - from))
			return true;
	return false;
}

static void
find_span(struct stored_elf *e)
{
	e->lowest = UINT64_MAX;
	for (size_t i = 0; i < e->nr_segments; i++) {
		const uint8_t *p = stored_elf_segment(e, i);
		uint64_t from = FIELD(e, p, Phdr, p_vaddr), n = FIELD(e, p, Phdr, p_memsz);

		if (FIELD(e, p, Phdr, p_type) != PT_LOAD || n > UINT64_MAX - from)
			continue;
		if (from < e->lowest)
			e->lowest = from;
		if (from + n > e->highest)
			e->highest = from + n;
	}
}

int
stored_elf_read(struct stored_elf *e, struct io_source *file, bool apart)
{
	int error;

	*e = (struct stored_elf){ .file = file };
	error = read_header(e, apart);
	if (!error)
		error = read_segments(e);
	if (!error)
		find_span(e);
	if (!error)
		error = read_sections(e);
	return error;
}

void
stored_elf_done(struct stored_elf *e)
{
	free(e->segments);
	free(e->sections);
	free(e->names);
}
