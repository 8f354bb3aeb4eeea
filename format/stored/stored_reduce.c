/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_reduce.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/elf_field.h"
#include "format/bytes/fmt_error.h"

#define NAMES_MAX (1u << 20) /* bytes of the names of all sections */
#define NAME_BYTES_MAX 64    /* of one that is looked at, with its NUL */
#define ALIGN_MAX 4096

struct range {
	uint64_t at, end;
};

struct reduction {
	struct io_source *file;
	uint64_t file_size, max_bytes;
	bool is64, with_symtab;
	uint8_t header[sizeof(Elf64_Ehdr)];
	uint8_t *segments, *sections; /* the tables, as bytes */
	uint64_t segments_at;
	size_t nr_segments, nr_sections;
	size_t names_index; /* of the section of names; 0: none */
	char *names;
	size_t names_len;
	uint8_t *kept;	     /* by section */
	uint64_t loaded_end; /* of what stays where it was */
	struct range *ranges;
	size_t nr_ranges, cap_ranges;
	stored_put_fn *put;
	void *arg;
};

#define FIELD(r, p, type, name) ELF_FIELD((r)->is64, p, type, name)

static const uint8_t *
segment_at(const struct reduction *r, size_t i)
{
	return r->segments + i * ELF_SIZE(r->is64, Phdr);
}

static uint8_t *
section_at(const struct reduction *r, size_t i)
{
	return r->sections + i * ELF_SIZE(r->is64, Shdr);
}

/* --- what the file has ----------------------------------------------------------------------- */

/* Exactly n bytes: a file that got shorter is another one. */
static int
read_all(struct io_source *file, uint64_t at, void *to, size_t n)
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

/* Of a table or a section: is it in the file? */
static bool
is_inside(const struct reduction *r, uint64_t at, uint64_t bytes)
{
	return at <= r->file_size && bytes <= r->file_size - at;
}

static int
read_part(struct reduction *r, uint64_t at, uint64_t bytes, void *ret)
{
	uint8_t *p;
	int error;

	if (!is_inside(r, at, bytes))
		return -FMT_E_TRUNCATED;
	p = malloc(bytes ? (size_t)bytes : 1);
	if (!p)
		return -FMT_E_NOMEM;
	error = read_all(r->file, at, p, (size_t)bytes);
	if (error)
		free(p);
	else
		memcpy(ret, &p, sizeof(p));
	return error;
}

static int
read_header(struct reduction *r)
{
	int64_t size = r->file->size(r->file);
	uint64_t type;
	int error;

	if (size < 0)
		return -FMT_E_IO;
	r->file_size = (uint64_t)size;
	if (r->file_size < sizeof(Elf64_Ehdr))
		return -FMT_E_UNSUPPORTED;
	error = read_all(r->file, 0, r->header, sizeof(r->header));
	if (error)
		return error;
	if (memcmp(r->header, ELFMAG, SELFMAG) != 0 || r->header[EI_DATA] != ELFDATA2LSB ||
	    (r->header[EI_CLASS] != ELFCLASS64 && r->header[EI_CLASS] != ELFCLASS32))
		return -FMT_E_UNSUPPORTED;
	r->is64 = r->header[EI_CLASS] == ELFCLASS64;
	type = FIELD(r, r->header, Ehdr, e_type);
	return type == ET_EXEC || type == ET_DYN ? 0 : -FMT_E_UNSUPPORTED;
}

static int
read_segments(struct reduction *r)
{
	const size_t each = ELF_SIZE(r->is64, Phdr);

	r->segments_at = FIELD(r, r->header, Ehdr, e_phoff);
	r->nr_segments = (size_t)FIELD(r, r->header, Ehdr, e_phnum);
	if (r->nr_segments > STORED_SEGMENTS_MAX)
		return -FMT_E_TOO_BIG;
	if (r->nr_segments == 0 || FIELD(r, r->header, Ehdr, e_phentsize) != each)
		return -FMT_E_CORRUPT;
	return read_part(r, r->segments_at, r->nr_segments * each, &r->segments);
}

/* Their number is in the first section where a half word cannot hold it. */
static int
count_sections(struct reduction *r, uint64_t at)
{
	uint8_t first[sizeof(Elf64_Shdr)];
	uint64_t count = FIELD(r, r->header, Ehdr, e_shnum);
	int error;

	if (count == 0) {
		if (!is_inside(r, at, ELF_SIZE(r->is64, Shdr)))
			return -FMT_E_TRUNCATED;
		error = read_all(r->file, at, first, ELF_SIZE(r->is64, Shdr));
		if (error)
			return error;
		count = FIELD(r, first, Shdr, sh_size);
	}
	if (count > STORED_SECTIONS_MAX)
		return -FMT_E_TOO_BIG;
	r->nr_sections = (size_t)count;
	return 0;
}

static int
read_names(struct reduction *r)
{
	uint64_t index = FIELD(r, r->header, Ehdr, e_shstrndx), at, size;

	if (index == SHN_XINDEX)
		index = FIELD(r, section_at(r, 0), Shdr, sh_link);
	if (index == SHN_UNDEF || index >= r->nr_sections)
		return 0;
	at = FIELD(r, section_at(r, (size_t)index), Shdr, sh_offset);
	size = FIELD(r, section_at(r, (size_t)index), Shdr, sh_size);
	if (FIELD(r, section_at(r, (size_t)index), Shdr, sh_type) != SHT_STRTAB || size == 0 ||
	    size > NAMES_MAX || !is_inside(r, at, size))
		return 0;
	r->kept[index] = true;
	r->names_index = (size_t)index;
	r->names_len = (size_t)size;
	return read_part(r, at, size, &r->names);
}

/* None is no error: the segments have what loaders need. */
static int
read_sections(struct reduction *r)
{
	const size_t each = ELF_SIZE(r->is64, Shdr);
	uint64_t at = FIELD(r, r->header, Ehdr, e_shoff);
	int error;

	if (at == 0)
		return 0;
	if (FIELD(r, r->header, Ehdr, e_shentsize) != each)
		return -FMT_E_CORRUPT;
	error = count_sections(r, at);
	if (!error && r->nr_sections > 0)
		error = read_part(r, at, r->nr_sections * each, &r->sections);
	if (error || r->nr_sections == 0)
		return error;
	r->kept = calloc(r->nr_sections, 1);
	return r->kept ? read_names(r) : -FMT_E_NOMEM;
}

/* "" where it has none. Longer ones are not looked through: all sections may have one name of a MiB. */
static const char *
section_name(const struct reduction *r, size_t i)
{
	uint64_t at = FIELD(r, section_at(r, i), Shdr, sh_name);
	size_t n = at < r->names_len ? (size_t)(r->names_len - at) : 0;

	n = n < NAME_BYTES_MAX ? n : NAME_BYTES_MAX;
	return n > 0 && memchr(r->names + at, 0, n) ? r->names + at : "";
}

/* --- what is kept of it ---------------------------------------------------------------------- */

static bool
begins_with(const char *name, const char *front)
{
	return strncmp(name, front, strlen(front)) == 0;
}

static bool
is_named(const char *name)
{
	static const char *const exact[] = {
		".interp",	  ".iplt",	    ".eh_frame_hdr",
		".eh_frame",	  ".debug_frame",   ".zdebug_frame",
		".gnu_debugdata", ".gnu_debuglink", ".gnu_debugaltlink"
	};

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if (strcmp(name, exact[i]) == 0)
			return true;
	return strcmp(name, ".plt") == 0 || begins_with(name, ".plt.") ||
		strstr(name, ".gopclntab") != NULL;
}

static bool
is_wanted(const struct reduction *r, size_t i)
{
	const uint8_t *s = section_at(r, i);
	const bool loaded = FIELD(r, s, Shdr, sh_flags) & SHF_ALLOC;

	switch (FIELD(r, s, Shdr, sh_type)) {
	case SHT_NULL:
	case SHT_NOBITS:
		return false;
	case SHT_SYMTAB:
	case SHT_SYMTAB_SHNDX:
		return r->with_symtab;
	case SHT_DYNSYM:
	case SHT_NOTE:
	case SHT_GNU_versym:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed:
		return true;
	case SHT_STRTAB:
	case SHT_DYNAMIC:
	case SHT_HASH:
	case SHT_GNU_HASH:
	case SHT_RELA:
	case SHT_REL:
		return loaded;
	default: /* SHT_PROGBITS, and what a machine calls its call frame information */
		return is_named(section_name(r, i));
	}
}

/* With the strings of symbols. */
static void
choose_sections(struct reduction *r)
{
	for (size_t i = 0; i < r->nr_sections; i++) {
		const uint8_t *s = section_at(r, i);
		uint64_t type = FIELD(r, s, Shdr, sh_type), link = FIELD(r, s, Shdr, sh_link);

		if (!is_wanted(r, i) ||
		    !is_inside(r, FIELD(r, s, Shdr, sh_offset), FIELD(r, s, Shdr, sh_size)))
			continue;
		r->kept[i] = true;
		if ((type != SHT_SYMTAB && type != SHT_DYNSYM) || link >= r->nr_sections)
			continue;
		s = section_at(r, (size_t)link);
		if (FIELD(r, s, Shdr, sh_type) == SHT_STRTAB &&
		    is_inside(r, FIELD(r, s, Shdr, sh_offset), FIELD(r, s, Shdr, sh_size)))
			r->kept[link] = true;
	}
}

static int
add_range(struct reduction *r, uint64_t at, uint64_t bytes)
{
	if (at >= r->loaded_end || bytes == 0)
		return 0;
	if (bytes > r->loaded_end - at)
		bytes = r->loaded_end - at;
	if (array_reserve(r->ranges, r->nr_ranges, r->cap_ranges, 1) < 0)
		return -FMT_E_NOMEM;
	r->ranges[r->nr_ranges++] = (struct range){ at, at + bytes };
	return 0;
}

static int
find_loaded_end(struct reduction *r)
{
	r->loaded_end = ELF_SIZE(r->is64, Ehdr);
	if (r->segments_at + r->nr_segments * ELF_SIZE(r->is64, Phdr) > r->loaded_end)
		r->loaded_end = r->segments_at + r->nr_segments * ELF_SIZE(r->is64, Phdr);
	for (size_t i = 0; i < r->nr_segments; i++) {
		const uint8_t *p = segment_at(r, i);
		uint64_t at = FIELD(r, p, Phdr, p_offset), end = r->file_size;

		if (FIELD(r, p, Phdr, p_type) != PT_LOAD || at >= r->file_size)
			continue;
		if (FIELD(r, p, Phdr, p_filesz) < r->file_size - at)
			end = at + FIELD(r, p, Phdr, p_filesz);
		if (end > r->loaded_end)
			r->loaded_end = end;
	}
	return r->loaded_end <= STORED_LOADED_MAX ? 0 : -FMT_E_TOO_BIG;
}

static bool
has_frames(const struct reduction *r)
{
	for (size_t i = 0; i < r->nr_sections; i++)
		if (r->kept[i] && strcmp(section_name(r, i), ".eh_frame") == 0)
			return true;
	return false;
}

/*
 * Without sections nothing says how long .eh_frame is, to which .eh_frame_hdr points: it is in the same
 * segment.
 */
static int
keep_frames_of(struct reduction *r, uint64_t at)
{
	int error = 0;

	for (size_t i = 0; i < r->nr_segments && !error; i++) {
		const uint8_t *p = segment_at(r, i);
		uint64_t from = FIELD(r, p, Phdr, p_offset), n = FIELD(r, p, Phdr, p_filesz);

		if (FIELD(r, p, Phdr, p_type) == PT_LOAD && from <= at && at - from < n)
			error = add_range(r, from, n);
	}
	return error;
}

static int
keep_segments(struct reduction *r)
{
	const bool framed = has_frames(r);
	int error = add_range(r, 0, ELF_SIZE(r->is64, Ehdr));

	if (!error)
		error = add_range(r, r->segments_at, r->nr_segments * ELF_SIZE(r->is64, Phdr));
	for (size_t i = 0; i < r->nr_segments && !error; i++) {
		const uint8_t *p = segment_at(r, i);
		uint64_t at = FIELD(r, p, Phdr, p_offset);

		switch (FIELD(r, p, Phdr, p_type)) {
		case PT_GNU_EH_FRAME:
			if (!framed)
				error = keep_frames_of(r, at);
			/* fallthrough */
		case PT_NOTE:
		case PT_DYNAMIC:
		case PT_INTERP:
			if (!error)
				error = add_range(r, at, FIELD(r, p, Phdr, p_filesz));
			break;
		default:
			break;
		}
	}
	return error;
}

static int
keep_sections(struct reduction *r)
{
	int error = 0;

	for (size_t i = 0; i < r->nr_sections && !error; i++) {
		const uint8_t *s = section_at(r, i);
		uint64_t at = FIELD(r, s, Shdr, sh_offset), n = FIELD(r, s, Shdr, sh_size);

		if (r->kept[i] && at <= r->loaded_end && n <= r->loaded_end - at)
			error = add_range(r, at, n);
	}
	return error;
}

static int
compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Ranges that touch become one. Their bytes. */
static uint64_t
merge_ranges(struct reduction *r)
{
	size_t nr = 0;
	uint64_t bytes = 0;

	if (r->nr_ranges)
		qsort(r->ranges, r->nr_ranges, sizeof(*r->ranges), compare_ranges);
	for (size_t i = 0; i < r->nr_ranges; i++) {
		const struct range next = r->ranges[i];

		if (nr == 0 || next.at > r->ranges[nr - 1].end)
			r->ranges[nr++] = next;
		else if (next.end > r->ranges[nr - 1].end)
			r->ranges[nr - 1].end = next.end;
	}
	r->nr_ranges = nr;
	for (size_t i = 0; i < nr; i++)
		bytes += r->ranges[i].end - r->ranges[i].at;
	return bytes;
}

/* --- the copy -------------------------------------------------------------------------------- */

static uint64_t
aligned(uint64_t at, uint64_t align)
{
	if (align == 0 || align > ALIGN_MAX || (align & (align - 1)))
		return at;
	return (at + align - 1) & ~(align - 1);
}

/* Does it keep its place? */
static bool
is_loaded(const struct reduction *r, const uint8_t *s)
{
	uint64_t at = FIELD(r, s, Shdr, sh_offset), n = FIELD(r, s, Shdr, sh_size);

	return at <= r->loaded_end && n <= r->loaded_end - at;
}

static int
copy_range(struct reduction *r, uint64_t from, uint64_t to, uint64_t bytes)
{
	uint8_t chunk[STORED_CHUNK];
	int error = 0;

	while (bytes > 0 && !error) {
		size_t n = bytes < sizeof(chunk) ? (size_t)bytes : sizeof(chunk);

		error = read_all(r->file, from, chunk, n);
		if (!error)
			error = r->put(r->arg, to, chunk, n);
		from += n;
		to += n;
		bytes -= n;
	}
	return error;
}

/* What the copy's tables say of a section that it has not got. */
static void
leave_out(struct reduction *r, uint8_t *s)
{
	uint64_t flags = FIELD(r, s, Shdr, sh_flags);

	if (FIELD(r, s, Shdr, sh_type) == SHT_NULL || FIELD(r, s, Shdr, sh_type) == SHT_NOBITS)
		return;
	ELF_FIELD_SET(r->is64, s, Shdr, sh_type, SHT_NOBITS);
	ELF_FIELD_SET(r->is64, s, Shdr, sh_flags, flags & ~(uint64_t)SHF_COMPRESSED);
	if (is_loaded(r, s))
		return;
	/* Without a size: readelf 2.44 reads a .symtab by its name, whatever its type. */
	ELF_FIELD_SET(r->is64, s, Shdr, sh_offset, r->loaded_end);
	ELF_FIELD_SET(r->is64, s, Shdr, sh_size, 0);
}

/* Relocations of a program that was linked statically name a .symtab that may be left out. */
static void
unlink_relocations(const struct reduction *r, uint8_t *s)
{
	uint64_t type = FIELD(r, s, Shdr, sh_type), link = FIELD(r, s, Shdr, sh_link);

	if ((type == SHT_RELA || type == SHT_REL) && link < r->nr_sections && !r->kept[link])
		ELF_FIELD_SET(r->is64, s, Shdr, sh_link, SHN_UNDEF);
}

/* Sections that are not loaded, then the table of all, from at on. *ret_end: where it ends. */
static int
copy_sections(struct reduction *r, uint64_t *ret_end)
{
	const size_t table = r->nr_sections * ELF_SIZE(r->is64, Shdr);
	uint64_t at = r->loaded_end;
	int error = 0;

	for (size_t i = 0; i < r->nr_sections && !error; i++) {
		uint8_t *s = section_at(r, i);

		if (!r->kept[i]) {
			leave_out(r, s);
			continue;
		}
		unlink_relocations(r, s);
		if (is_loaded(r, s))
			continue;
		at = aligned(at, FIELD(r, s, Shdr, sh_addralign));
		error = copy_range(r, FIELD(r, s, Shdr, sh_offset), at, FIELD(r, s, Shdr, sh_size));
		ELF_FIELD_SET(r->is64, s, Shdr, sh_offset, at);
		at += FIELD(r, s, Shdr, sh_size);
	}
	at = aligned(at, 8);
	ELF_FIELD_SET(r->is64, r->header, Ehdr, e_shoff, table ? at : 0);
	for (size_t done = 0, n; done < table && !error; done += n) {
		n = table - done < STORED_CHUNK ? table - done : STORED_CHUNK;
		error = r->put(r->arg, at + done, r->sections + done, n);
	}
	*ret_end = at + table;
	return error;
}

/* How many bytes the copy would have. */
static int
plan(struct reduction *r, uint64_t *ret_bytes)
{
	uint64_t bytes;
	int error;

	r->nr_ranges = 0;
	choose_sections(r);
	error = keep_segments(r);
	if (!error)
		error = keep_sections(r);
	if (error)
		return error;
	bytes = merge_ranges(r) + r->nr_sections * ELF_SIZE(r->is64, Shdr);
	/* Each is in the file, whose size is less than 2^63; too much is found before it wraps. */
	for (size_t i = 0; i < r->nr_sections && bytes <= r->max_bytes; i++)
		if (r->kept[i] && !is_loaded(r, section_at(r, i)))
			bytes += FIELD(r, section_at(r, i), Shdr, sh_size);
	*ret_bytes = bytes;
	return 0;
}

/* All that is wanted; where that is too much, all but .symtab. */
static int
plan_within(struct reduction *r)
{
	uint64_t bytes = 0;
	int error;

	r->with_symtab = true;
	error = plan(r, &bytes);
	if (error || bytes <= r->max_bytes)
		return error;
	r->with_symtab = false;
	for (size_t i = 0; i < r->nr_sections; i++)
		r->kept[i] = i > 0 && i == r->names_index;
	error = plan(r, &bytes);
	if (error)
		return error;
	return bytes <= r->max_bytes ? 0 : -FMT_E_TOO_BIG;
}

static int
reduction_copy(struct reduction *r, uint64_t *ret_size)
{
	uint64_t end = 0;
	int error = 0;

	for (size_t i = 0; i < r->nr_ranges && !error; i++)
		error = copy_range(r, r->ranges[i].at, r->ranges[i].at,
				   r->ranges[i].end - r->ranges[i].at);
	if (!error)
		error = copy_sections(r, &end);
	/* Over what was read of it. */
	if (!error)
		error = r->put(r->arg, 0, r->header, ELF_SIZE(r->is64, Ehdr));
	if (!error)
		*ret_size = end;
	return error;
}

int
stored_reduce(struct io_source *file, uint64_t max_bytes, stored_put_fn *put, void *arg,
	      uint64_t *ret_size)
{
	struct reduction r = { .file = file, .max_bytes = max_bytes, .put = put, .arg = arg };
	int error = read_header(&r);

	if (!error)
		error = read_segments(&r);
	if (!error)
		error = find_loaded_end(&r);
	if (!error)
		error = read_sections(&r);
	if (!error)
		error = plan_within(&r);
	if (!error)
		error = reduction_copy(&r, ret_size);
	free(r.segments);
	free(r.sections);
	free(r.names);
	free(r.kept);
	free(r.ranges);
	return error;
}

int
stored_copy(struct io_source *file, uint64_t max_bytes, stored_put_fn *put, void *arg,
	    uint64_t *ret_size)
{
	struct reduction r = { .file = file, .put = put, .arg = arg };
	int64_t size = file->size(file);
	int error;

	if (size < 0)
		return -FMT_E_IO;
	if ((uint64_t)size > max_bytes)
		return -FMT_E_TOO_BIG;
	error = copy_range(&r, 0, 0, (uint64_t)size);
	if (!error)
		*ret_size = (uint64_t)size;
	return error;
}
