/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_frames.h"
#include "format/stored/stored_reduce_internal.h"

#define LOOKED_MAX 4 /* times the most bytes of a copy: what is looked through, at most */

/* --- what is kept of it ---------------------------------------------------------------------- */

static bool
begins_with(const char *name, const char *front)
{
	return strncmp(name, front, strlen(front)) == 0;
}

static bool
is_among(const char *name, const char *const list[])
{
	while (*list && strcmp(name, *list) != 0)
		list++;
	return *list != NULL;
}

static bool
is_of_frames(const char *name)
{
	static const char *const list[] = { ".eh_frame_hdr", ".eh_frame", ".debug_frame",
					    ".zdebug_frame", NULL };

	return is_among(name, list);
}

/* Where lines and inlined functions come from: not where variables are, nor an index of names. */
static bool
is_of_lines(const char *name)
{
	static const char *const list[] = { "info",	   "types",    "abbrev",   "line",
					    "str",	   "line_str", "ranges",   "rnglists",
					    "aranges",	   "addr",     "cu_index", "tu_index",
					    "str_offsets", NULL };

	if (begins_with(name, ".debug_"))
		return is_among(name + strlen(".debug_"), list);
	return begins_with(name, ".zdebug_") && is_among(name + strlen(".zdebug_"), list);
}

static bool
is_named(const struct reduction *r, const char *name)
{
	static const char *const list[] = { ".iplt", ".gnu_debugdata", ".gnu_debuglink",
					    ".gnu_debugaltlink", NULL };

	return is_among(name, list) || strcmp(name, ".plt") == 0 || begins_with(name, ".plt.") ||
		strstr(name, ".gopclntab") != NULL ||
		(!r->extra.names_only && is_of_frames(name)) ||
		(r->extra.lines && is_of_lines(name));
}

/* By its header; what has strings is wanted with what refers to them. */
static bool
is_wanted(const struct reduction *r, size_t i)
{
	const uint8_t *s = stored_elf_section(&r->elf, i);

	switch (FIELD(r, s, Shdr, sh_type)) {
	case SHT_NULL:
	case SHT_NOBITS:
	case SHT_STRTAB:
	case SHT_DYNAMIC:
	case SHT_HASH:
	case SHT_GNU_HASH:
	case SHT_GNU_versym:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed:
		return false;
	case SHT_SYMTAB:
	case SHT_SYMTAB_SHNDX:
		return r->with_symtab;
	case SHT_DYNSYM:
	case SHT_NOTE:
		return true;
	case SHT_RELA:
	case SHT_REL:
		return FIELD(r, s, Shdr, sh_flags) & SHF_ALLOC;
	default: /* SHT_PROGBITS, and what a machine calls its call frame information */
		return is_named(r, stored_elf_name(&r->elf, i));
	}
}

/* Is it where its header says, of what is loaded or of what is not? A debug file's segments have no bytes of it. */
static bool
is_in_place(const struct reduction *r, size_t i)
{
	const uint8_t *s = stored_elf_section(&r->elf, i);
	const uint64_t at = FIELD(r, s, Shdr, sh_offset), n = FIELD(r, s, Shdr, sh_size);
	uint64_t there;

	if (!stored_elf_inside(&r->elf, at, n) || r->overlaps[i])
		return false;
	if (r->extra.apart || n == 0)
		return true;
	if (!(FIELD(r, s, Shdr, sh_flags) & SHF_ALLOC))
		return !stored_elf_is_loaded(&r->elf, at, n);
	return stored_elf_offset(&r->elf, FIELD(r, s, Shdr, sh_addr), n, &there) && there == at;
}

uint64_t
stored_choice_look(struct reduction *r, uint64_t n)
{
	const uint64_t max = r->max_bytes > UINT64_MAX / LOOKED_MAX ? UINT64_MAX
								    : r->max_bytes * LOOKED_MAX;

	n = n < max - r->looked ? n : max - r->looked;
	r->looked += n;
	return n;
}

/* How many of its bytes are call frame information. */
static int
check_frames(const struct reduction *r, const char *name, uint64_t at, uint64_t n, uint64_t *ret)
{
	const bool header = strcmp(name, ".eh_frame_hdr") == 0;
	uint64_t end = at, frames;
	int error;

	if (header)
		error = stored_frames_header(&r->elf, at, at + n, &end, &frames);
	else
		error = stored_frames_walk(r->elf.file, at, at + n,
					   strcmp(name, ".eh_frame") == 0 ? STORED_EH_FRAME
									  : STORED_DEBUG_FRAME,
					   &end);
	*ret = end - at;
	return error;
}

/* How many bytes of a section are what it says. 0, or an error. */
static int
check_section(struct reduction *r, size_t i, uint64_t *ret)
{
	const uint8_t *s = stored_elf_section(&r->elf, i);
	const uint64_t at = FIELD(r, s, Shdr, sh_offset), n = FIELD(r, s, Shdr, sh_size);
	const char *name = stored_elf_name(&r->elf, i);
	const bool packed = FIELD(r, s, Shdr, sh_flags) & SHF_COMPRESSED ||
		begins_with(name, ".zdebug_");
	int good;

	*ret = 0;
	if (stored_choice_look(r, n) < n)
		return 0;
	if (FIELD(r, s, Shdr, sh_type) != SHT_NOTE && is_of_frames(name) && !packed)
		return check_frames(r, name, at, n, ret);
	good = stored_check_section(&r->elf, &r->dynamic, i, is_of_frames(name) || r->extra.lines);
	if (good > 0)
		*ret = n;
	return good < 0 ? good : 0;
}

/* Symbols with their strings, one table of a kind. */
static int
keep_symbols(struct reduction *r, size_t i)
{
	const uint8_t *s = stored_elf_section(&r->elf, i);
	const size_t link = (size_t)FIELD(r, s, Shdr, sh_link);
	const bool dynamic = FIELD(r, s, Shdr, sh_type) == SHT_DYNSYM;
	int r_check;

	for (size_t k = 0; k < i; k++)
		if (r->kept[k] &&
		    FIELD(r, stored_elf_section(&r->elf, k), Shdr, sh_type) ==
			    FIELD(r, s, Shdr, sh_type)) {
			r->kept[i] = 0;
			return 0;
		}
	r_check = is_in_place(r, link) ? stored_check_strings(&r->elf, &r->dynamic, link) : 0;
	if (r_check <= 0) {
		r->kept[i] = 0;
		return r_check;
	}
	r->kept[link] = FIELD(r, stored_elf_section(&r->elf, link), Shdr, sh_size);
	/* Then plan() finds that it is too much; a hole may be of any size. */
	if (r->kept[link] > r->max_bytes)
		return 0;
	r_check = stored_strings_of_symbols(&r->strings, &r->elf, i);
	if (!r_check && dynamic)
		r_check = stored_strings_of_dynamic(&r->strings, &r->elf, &r->dynamic, link);
	return r_check;
}

/* The names of sections may lie among what is loaded, as Go's do: then they begin as such do. */
static bool
names_are_names(const struct reduction *r)
{
	const uint8_t *s = stored_elf_section(&r->elf, r->elf.names_index);
	bool all = true;

	if (r->extra.apart ||
	    !stored_elf_is_loaded(&r->elf, FIELD(r, s, Shdr, sh_offset),
				  FIELD(r, s, Shdr, sh_size)))
		return true;
	for (size_t i = 1; i < r->elf.nr_sections && all; i++)
		all = *stored_elf_name(&r->elf, i) == '.';
	return all;
}

static int
keep_names(struct reduction *r)
{
	const size_t i = r->elf.names_index;
	int good;

	if (i == 0 || r->overlaps[i] || !names_are_names(r))
		return 0;
	good = stored_check_strings(&r->elf, &r->dynamic, i);
	if (good <= 0)
		return good;
	r->kept[i] = FIELD(r, stored_elf_section(&r->elf, i), Shdr, sh_size);
	return stored_strings_of_sections(&r->strings, &r->elf);
}

int
stored_choice_sections(struct reduction *r)
{
	int error = keep_names(r);

	for (size_t i = 1; i < r->elf.nr_sections && !error; i++) {
		const uint8_t *s = stored_elf_section(&r->elf, i);
		const uint64_t type = FIELD(r, s, Shdr, sh_type);

		if (type == SHT_DYNAMIC && r->dynamic.n &&
		    FIELD(r, s, Shdr, sh_offset) == r->dynamic.at)
			r->kept[i] = r->dynamic.n;
		if (!is_wanted(r, i) || !is_in_place(r, i))
			continue;
		error = check_section(r, i, &r->kept[i]);
		if (!error && r->kept[i] && (type == SHT_SYMTAB || type == SHT_DYNSYM))
			error = keep_symbols(r, i);
	}
	return error;
}

/* --- sections that overlap others ------------------------------------------------------------ */

struct extent {
	uint64_t at, end;
	size_t section;
};

static int
compare_extents(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

int
stored_choice_overlaps(struct reduction *r)
{
	struct extent *all = calloc(r->elf.nr_sections + 1, sizeof(*all)), last = { 0 };
	size_t nr = 0;

	if (!all)
		return -FMT_E_NOMEM;
	for (size_t i = 1; i < r->elf.nr_sections; i++) {
		const uint8_t *s = stored_elf_section(&r->elf, i);
		const uint64_t at = FIELD(r, s, Shdr, sh_offset), n = FIELD(r, s, Shdr, sh_size);

		if (FIELD(r, s, Shdr, sh_type) != SHT_NULL &&
		    FIELD(r, s, Shdr, sh_type) != SHT_NOBITS && n &&
		    stored_elf_inside(&r->elf, at, n))
			all[nr++] = (struct extent){ at, at + n, i };
	}
	qsort(all, nr, sizeof(*all), compare_extents);
	for (size_t i = 0; i < nr; i++) {
		if (all[i].at < last.end)
			r->overlaps[all[i].section] = r->overlaps[last.section] = true;
		if (all[i].end > last.end)
			last = all[i];
	}
	free(all);
	return 0;
}
