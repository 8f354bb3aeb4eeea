/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/stored/stored_frames.h"
#include "format/stored/stored_reduce_internal.h"
#include "format/stored/stored_window.h"

#define ALIGN_MAX 4096

/* --- ranges ---------------------------------------------------------------------------------- */

static int
add_range(struct reduction *r, uint64_t at, uint64_t bytes)
{
	if (at >= r->loaded_end || bytes == 0)
		return 0;
	if (bytes > r->loaded_end - at)
		bytes = r->loaded_end - at;
	if (array_reserve(r->ranges, r->nr_ranges, r->cap_ranges, 1) < 0)
		return -FMT_E_NOMEM;
	r->ranges[r->nr_ranges++] = (struct stored_range){ at, at + bytes };
	return 0;
}

static int
find_loaded_end(struct reduction *r)
{
	r->loaded_end = ELF_SIZE(r->elf.is64, Ehdr);
	if (r->elf.segments_at + r->elf.nr_segments * ELF_SIZE(r->elf.is64, Phdr) > r->loaded_end)
		r->loaded_end =
			r->elf.segments_at + r->elf.nr_segments * ELF_SIZE(r->elf.is64, Phdr);
	for (size_t i = 0; i < r->elf.nr_segments; i++) {
		const uint8_t *p = stored_elf_segment(&r->elf, i);
		uint64_t at = FIELD(r, p, Phdr, p_offset), end = r->elf.size;

		if (FIELD(r, p, Phdr, p_type) != PT_LOAD || at >= r->elf.size)
			continue;
		if (FIELD(r, p, Phdr, p_filesz) < r->elf.size - at)
			end = at + FIELD(r, p, Phdr, p_filesz);
		if (end > r->loaded_end)
			r->loaded_end = end;
	}
	return r->loaded_end <= STORED_LOADED_MAX ? 0 : -FMT_E_TOO_BIG;
}

static bool
has_frames(const struct reduction *r)
{
	for (size_t i = 0; i < r->elf.nr_sections; i++)
		if (r->kept[i] && strcmp(stored_elf_name(&r->elf, i), ".eh_frame") == 0)
			return true;
	return false;
}

/* A segment's bytes, all of them or none: of the smallest one a window is read. */
static bool
may_look(struct reduction *r, uint64_t n)
{
	return n < UINT64_MAX - STORED_WINDOW_BYTES &&
		stored_choice_look(r, n + STORED_WINDOW_BYTES) == n + STORED_WINDOW_BYTES;
}

/* PT_GNU_EH_FRAME, and where no section says where .eh_frame is, what it leads to, to the terminator. */
static int
keep_frames(struct reduction *r, uint64_t at, uint64_t n)
{
	uint64_t end, frames;
	int error;

	if (!may_look(r, n))
		return 0;
	error = stored_frames_header(&r->elf, at, at + n, &end, &frames);
	if (!error)
		error = add_range(r, at, end - at);
	if (error || !frames || has_frames(r))
		return error;
	for (size_t i = 0; i < r->elf.nr_segments; i++) {
		const uint8_t *p = stored_elf_segment(&r->elf, i);
		uint64_t from = FIELD(r, p, Phdr, p_offset), bytes = FIELD(r, p, Phdr, p_filesz);

		if (FIELD(r, p, Phdr, p_type) != PT_LOAD || from > frames ||
		    frames - from >= bytes || !stored_elf_inside(&r->elf, from, bytes))
			continue;
		error = stored_frames_walk(r->elf.file, frames,
					   frames + stored_choice_look(r, from + bytes - frames),
					   STORED_EH_FRAME_OPEN, &end);
		return error ? error : add_range(r, frames, end - frames);
	}
	return 0;
}

static int
keep_segment(struct reduction *r, const uint8_t *p)
{
	const uint64_t at = FIELD(r, p, Phdr, p_offset), n = FIELD(r, p, Phdr, p_filesz);
	const uint64_t type = FIELD(r, p, Phdr, p_type);
	int good;

	if (!stored_elf_inside(&r->elf, at, n))
		return 0;
	if (type == PT_GNU_EH_FRAME && !r->extra.names_only)
		return keep_frames(r, at, n);
	if (type != PT_NOTE || !may_look(r, n))
		return 0;
	good = stored_check_notes(&r->elf, at, at + n, FIELD(r, p, Phdr, p_align));
	return good > 0 ? add_range(r, at, n) : good;
}

static int
keep_segments(struct reduction *r)
{
	int error = add_range(r, 0, ELF_SIZE(r->elf.is64, Ehdr));

	if (!error)
		error = add_range(r, r->elf.segments_at,
				  r->elf.nr_segments * ELF_SIZE(r->elf.is64, Phdr));
	if (!error)
		error = add_range(r, r->dynamic.at, r->dynamic.n);
	for (size_t i = 0; i < r->elf.nr_segments && !error; i++)
		error = keep_segment(r, stored_elf_segment(&r->elf, i));
	return error;
}

static int
keep_sections(struct reduction *r)
{
	int error = 0;

	for (size_t i = 0; i < r->elf.nr_sections && !error; i++) {
		const uint8_t *s = stored_elf_section(&r->elf, i);
		uint64_t at = FIELD(r, s, Shdr, sh_offset), n = FIELD(r, s, Shdr, sh_size);

		if (r->kept[i] && at <= r->loaded_end && n <= r->loaded_end - at &&
		    !stored_strings_has(&r->strings, i))
			error = add_range(r, at, r->kept[i]);
	}
	return error;
}

static int
keep_code(struct reduction *r)
{
	int error = 0;

	for (size_t i = 0; i < r->extra.nr_code && !error; i++)
		error = add_range(r, r->extra.code[i].at,
				  r->extra.code[i].end - r->extra.code[i].at);
	return error;
}

static int
compare_ranges(const void *a, const void *b)
{
	const struct stored_range *x = a, *y = b;

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
		const struct stored_range next = r->ranges[i];

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
copy_range(const struct reduction *r, uint64_t from, uint64_t to, uint64_t bytes)
{
	uint8_t chunk[STORED_CHUNK];
	int error = 0;

	while (bytes > 0 && !error) {
		size_t n = bytes < sizeof(chunk) ? (size_t)bytes : sizeof(chunk);

		error = stored_elf_bytes(r->elf.file, from, chunk, n);
		if (!error)
			error = r->put(r->arg, to, chunk, n);
		from += n;
		to += n;
		bytes -= n;
	}
	return error;
}

/* Is some of its code kept? Then the rest of it is a hole. */
static bool
has_code(const struct reduction *r, const uint8_t *s)
{
	const uint64_t at = FIELD(r, s, Shdr, sh_offset), n = FIELD(r, s, Shdr, sh_size);
	bool some = false;

	for (size_t i = 0; i < r->extra.nr_code && !some; i++)
		some = r->extra.code[i].end > at && r->extra.code[i].at < at + n;
	return some && FIELD(r, s, Shdr, sh_flags) & SHF_EXECINSTR && is_loaded(r, s);
}

/* What the copy's tables say of a section that it has not got. */
static void
leave_out(struct reduction *r, uint8_t *s)
{
	uint64_t flags = FIELD(r, s, Shdr, sh_flags);

	if (FIELD(r, s, Shdr, sh_type) == SHT_NULL || FIELD(r, s, Shdr, sh_type) == SHT_NOBITS ||
	    has_code(r, s))
		return;
	ELF_FIELD_SET(r->elf.is64, s, Shdr, sh_type, SHT_NOBITS);
	ELF_FIELD_SET(r->elf.is64, s, Shdr, sh_flags, flags & ~(uint64_t)SHF_COMPRESSED);
	if (is_loaded(r, s))
		return;
	/* Without a size: readelf 2.44 reads a .symtab by its name, whatever its type. */
	ELF_FIELD_SET(r->elf.is64, s, Shdr, sh_offset, r->loaded_end);
	ELF_FIELD_SET(r->elf.is64, s, Shdr, sh_size, 0);
}

/* Relocations of a program that was linked statically name a .symtab that may be left out. */
static void
unlink_relocations(const struct reduction *r, uint8_t *s)
{
	uint64_t type = FIELD(r, s, Shdr, sh_type), link = FIELD(r, s, Shdr, sh_link);

	if ((type == SHT_RELA || type == SHT_REL) && link < r->elf.nr_sections && !r->kept[link])
		ELF_FIELD_SET(r->elf.is64, s, Shdr, sh_link, SHN_UNDEF);
}

static int
copy_section(const struct reduction *r, size_t i, uint64_t to)
{
	const uint8_t *s = stored_elf_section(&r->elf, i);

	if (stored_strings_has(&r->strings, i))
		return stored_strings_copy(&r->strings, &r->elf, i, to, r->put, r->arg);
	return copy_range(r, FIELD(r, s, Shdr, sh_offset), to, r->kept[i]);
}

/* Sections that are not loaded, then the table of all, from at on. *ret_end: where it ends. */
static int
copy_sections(struct reduction *r, uint64_t *ret_end)
{
	const size_t table = r->elf.nr_sections * ELF_SIZE(r->elf.is64, Shdr);
	uint64_t at = r->loaded_end;
	int error = 0;

	for (size_t i = 0; i < r->elf.nr_sections && !error; i++) {
		uint8_t *s = stored_elf_section(&r->elf, i);

		if (!r->kept[i]) {
			leave_out(r, s);
			continue;
		}
		unlink_relocations(r, s);
		if (is_loaded(r, s)) {
			if (stored_strings_has(&r->strings, i))
				error = copy_section(r, i, FIELD(r, s, Shdr, sh_offset));
			continue;
		}
		at = aligned(at, FIELD(r, s, Shdr, sh_addralign));
		error = copy_section(r, i, at);
		ELF_FIELD_SET(r->elf.is64, s, Shdr, sh_offset, at);
		at += FIELD(r, s, Shdr, sh_size);
	}
	at = aligned(at, 8);
	ELF_FIELD_SET(r->elf.is64, r->elf.header, Ehdr, e_shoff, table ? at : 0);
	for (size_t done = 0, n; done < table && !error; done += n) {
		n = table - done < STORED_CHUNK ? table - done : STORED_CHUNK;
		error = r->put(r->arg, at + done, r->elf.sections + done, n);
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
	r->looked = 0;
	memset(r->kept, 0, (r->elf.nr_sections + 1) * sizeof(*r->kept));
	stored_strings_done(&r->strings);
	error = stored_choice_sections(r);
	if (!error)
		error = keep_segments(r);
	if (!error)
		error = keep_sections(r);
	if (!error)
		error = keep_code(r);
	if (error)
		return error;
	bytes = merge_ranges(r) + r->elf.nr_sections * ELF_SIZE(r->elf.is64, Shdr);
	/* Each is in the file, whose size is less than 2^63; too much is found before it wraps. */
	for (size_t i = 0; i < r->elf.nr_sections && bytes <= r->max_bytes; i++)
		if (r->kept[i] &&
		    (!is_loaded(r, stored_elf_section(&r->elf, i)) ||
		     stored_strings_has(&r->strings, i)))
			bytes += FIELD(r, stored_elf_section(&r->elf, i), Shdr, sh_size);
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
		error = r->put(r->arg, 0, r->elf.header, ELF_SIZE(r->elf.is64, Ehdr));
	if (!error)
		*ret_size = end;
	return error;
}

/* What the file's own tables say of it, as far as that can be believed. */
static int
look_at_tables(struct reduction *r)
{
	int good;

	if (!stored_check_table(&r->elf)) {
		r->elf.nr_sections = 0;
		r->elf.names_index = 0;
	}
	r->kept = calloc(r->elf.nr_sections + 1, sizeof(*r->kept));
	r->overlaps = calloc(r->elf.nr_sections + 1, sizeof(*r->overlaps));
	if (!r->kept || !r->overlaps)
		return -FMT_E_NOMEM;
	good = stored_choice_overlaps(r);
	if (good == 0)
		good = stored_check_dynamic(&r->elf, &r->dynamic);
	return good < 0 ? good : 0;
}

int
stored_reduce_with(struct io_source *file, const struct stored_extra *extra, uint64_t max_bytes,
		   stored_put_fn *put, void *arg, uint64_t *ret_size)
{
	struct reduction r = { .extra = *extra, .max_bytes = max_bytes, .put = put, .arg = arg };
	int error = stored_elf_read(&r.elf, file, extra->apart);

	if (!error)
		error = find_loaded_end(&r);
	if (!error)
		error = look_at_tables(&r);
	if (!error)
		error = plan_within(&r);
	if (!error)
		error = reduction_copy(&r, ret_size);
	stored_elf_done(&r.elf);
	stored_strings_done(&r.strings);
	free(r.kept);
	free(r.overlaps);
	free(r.ranges);
	return error;
}

int
stored_reduce(struct io_source *file, uint64_t max_bytes, stored_put_fn *put, void *arg,
	      uint64_t *ret_size)
{
	return stored_reduce_with(file, &(struct stored_extra){ .lines = false }, max_bytes, put,
				  arg, ret_size);
}

int
stored_copy(struct io_source *file, uint64_t max_bytes, stored_put_fn *put, void *arg,
	    uint64_t *ret_size)
{
	struct reduction r = { .elf.file = file, .put = put, .arg = arg };
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
