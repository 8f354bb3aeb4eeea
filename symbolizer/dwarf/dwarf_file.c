/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_file.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_functions.h"
#include "symbolizer/dwarf/dwarf_image.h"
#include "symbolizer/dwarf/dwarf_lines.h"
#include "symbolizer/dwarf/dwarf_names.h"
#include "symbolizer/dwarf/dwarf_units.h"
#include "symbolizer/text/intern.h"

/* An address and its unit. */
struct asked {
	uint64_t address;
	uint32_t unit, index;
};

struct dwarf_file {
	struct dwarf_image *image, *alt_image;
	Dwarf *dwarf, *alt;
	struct dwarf_units *units;
	struct dwarf_splits *splits;
	struct dwarf_line_sections sections;
	struct intern *strings;
	struct dwarf_names *names;
	struct buf path;
};

/* Without the other file names are missing, and no more. */
static int
open_alt(struct dwarf_file *f, int fd)
{
	int error = fd >= 0 ? dwarf_image_open(fd, &f->alt_image) : -FMT_E_EMPTY;

	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	f->alt = dwarf_begin_elf(dwarf_image_elf(f->alt_image), DWARF_C_READ, NULL);
	if (f->alt)
		dwarf_setalt(f->dwarf, f->alt);
	return 0;
}

int
dwarf_file_open(const struct dwarf_source *source, struct dwarf_file **ret)
{
	struct dwarf_file *f = calloc(1, sizeof(*f));
	const struct dwarf_code *code;
	size_t nr_code;
	int error;

	if (!f)
		return -FMT_E_NOMEM;
	buf_init(&f->path);
	error = dwarf_image_open(source->fd, &f->image);
	if (error)
		goto fail;
	error = -FMT_E_NOMEM;
	f->strings = intern_new(INTERN_BYTES_MAX);
	f->names = f->strings ? dwarf_names_new(f->strings) : NULL;
	if (!f->names)
		goto fail;
	error = -FMT_E_CORRUPT;
	f->dwarf = dwarf_begin_elf(dwarf_image_elf(f->image), DWARF_C_READ, NULL);
	if (!f->dwarf)
		goto fail;
	error = open_alt(f, source->alt_fd);
	if (error)
		goto fail;
	f->sections = (struct dwarf_line_sections){
		.line = dwarf_image_section(f->image, ".debug_line"),
		.line_str = dwarf_image_section(f->image, ".debug_line_str"),
		.str = dwarf_image_section(f->image, ".debug_str"),
	};
	nr_code = dwarf_image_code(f->image, &code);
	error = dwarf_units_read(f->dwarf, code, nr_code, &f->units);
	if (error)
		goto fail;
	f->splits = dwarf_splits_new(f->units, f->image, f->strings, source->split, source->arg);
	error = f->splits ? 0 : -FMT_E_NOMEM;
	if (error)
		goto fail;
	*ret = f;
	return 0;
fail:
	dwarf_file_close(f);
	return error;
}

void
dwarf_file_close(struct dwarf_file *f)
{
	if (!f)
		return;
	dwarf_names_free(f->names);
	dwarf_splits_free(f->splits);
	dwarf_units_free(f->units);
	dwarf_end(f->dwarf);
	dwarf_end(f->alt);
	dwarf_image_close(f->image);
	dwarf_image_close(f->alt_image);
	intern_free(f->strings);
	buf_done(&f->path);
	free(f);
}

/* --- a unit ------------------------------------------------------------------------------ */

/* Its addresses, in their order. */
struct unit_batch {
	struct dwarf_file *f;
	struct dwarf_unit *unit;
	struct dwarf_half half; /* where its functions are: in the file itself, or another one */
	const struct dwarf_base *base;
	bool partial; /* that file is not here */
	const struct asked *asked;
	uint64_t *addresses;
	size_t n;
	uint32_t *inner; /* scopes; DWARF_NO_SCOPE: in no function */
	struct dwarf_line_row *rows;
	struct dwarf_scopes scopes;
	struct dwarf_lines lines;
	const char *comp_dir;
	dwarf_found_fn *found;
	void *arg;
};

static bool
word_of(Dwarf_Die *die, unsigned int name, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
		return false;
	*ret = word;
	return true;
}

static int
read_lines(struct unit_batch *b)
{
	const struct dwarf_code *code;
	size_t nr_code = dwarf_image_code(b->f->image, &code);
	uint64_t offset;
	int error;

	/* data4 of DWARF 2 and 3, sec_offset of later ones */
	if (!word_of(&b->unit->die, DW_AT_stmt_list, &offset))
		return 0;
	error = dwarf_lines_read(&b->f->sections, offset, &b->lines);
	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	(void)dwarf_lines_find(&b->lines, code, nr_code, b->addresses, b->n, b->rows);
	return 0;
}

/* Functions of the addresses that have none yet. */
static int
find_functions(struct unit_batch *b, bool deep, bool *ret_all)
{
	const struct dwarf_code *code;
	size_t nr_code = dwarf_image_code(b->f->image, &code);
	struct dwarf_functions functions;
	uint32_t number, next;
	int error;

	*ret_all = true;
	error = dwarf_functions_read(&functions, &b->half.code, b->base, code, nr_code, deep);
	for (size_t i = 0, end; !error && i < b->n; i = end) {
		end = i + 1;
		if (b->inner[i] != DWARF_NO_SCOPE)
			continue;
		if (!dwarf_ranges_find(&functions.ranges, b->addresses[i], &number)) {
			*ret_all = false;
			continue;
		}
		while (end < b->n && b->inner[end] == DWARF_NO_SCOPE &&
		       dwarf_ranges_find(&functions.ranges, b->addresses[end], &next) &&
		       next == number)
			end++;
		error = dwarf_scopes_read(&b->scopes, &functions.dies[number], &b->addresses[i],
					  end - i, &b->inner[i]);
	}
	dwarf_functions_done(&functions);
	return error;
}

static int
path_of(struct unit_batch *b, uint64_t file, const char **ret)
{
	struct buf *path = &b->f->path;

	*ret = NULL;
	buf_clear(path);
	if (!dwarf_lines_path(&b->lines, file, b->comp_dir, path))
		return 0;
	if (buf_failed(path))
		return -FMT_E_NOMEM;
	*ret = intern_string(b->f->strings, (const char *)path->p);
	return *ret ? 0 : -FMT_E_NOMEM;
}

/* Where the call stands that was inlined, and of what the frame around it is thus in. */
static int
call_site(struct unit_batch *b, Dwarf_Die *die, struct dwarf_frame *ret)
{
	uint64_t file = 0, line = 0;

	*ret = (struct dwarf_frame){ 0 };
	if (word_of(die, DW_AT_call_line, &line))
		ret->line = line <= UINT32_MAX ? (uint32_t)line : 0;
	return word_of(die, DW_AT_call_file, &file) ? path_of(b, file, &ret->file) : 0;
}

static int
tell(struct unit_batch *b, size_t i)
{
	struct dwarf_frame frames[DWARF_FRAMES_MAX] = { 0 };
	const struct dwarf_line_row *row = &b->rows[i];
	uint32_t scope = b->inner[i];
	size_t nr = 0;
	int error = 0;

	if (row->found) {
		frames[0].line = row->line;
		error = path_of(b, row->file, &frames[0].file);
	}
	for (; !error && scope != DWARF_NO_SCOPE && nr < DWARF_FRAMES_MAX; nr++) {
		struct dwarf_scope *s = &b->scopes.v[scope];

		error = dwarf_names_of(b->half.names, &s->die, &frames[nr].function);
		scope = s->parent;
		if (!error && scope != DWARF_NO_SCOPE && nr + 1 < DWARF_FRAMES_MAX)
			error = call_site(b, &s->die, &frames[nr + 1]);
	}
	if (nr == 0 && frames[0].file)
		nr = 1;
	if (error || (nr == 0 && !b->partial))
		return error;
	return b->found(b->arg, b->asked[i].index, frames, nr, b->partial);
}

static int
find_half(struct unit_batch *b)
{
	int found = b->unit->split ? dwarf_splits_find(b->f->splits, b->unit, &b->half) : 0;

	if (found <= 0) {
		b->partial = b->unit->split;
		b->half = (struct dwarf_half){ .code = b->unit->die, .names = b->f->names };
		return found;
	}
	b->scopes.base = b->base = &b->half.base;
	return 0;
}

static int
search_unit(struct unit_batch *b)
{
	Dwarf_Attribute attribute;
	bool all;
	int error;

	for (size_t i = 0; i < b->n; i++) {
		b->addresses[i] = b->asked[i].address;
		b->inner[i] = DWARF_NO_SCOPE;
		b->rows[i] = (struct dwarf_line_row){ 0 };
	}
	if (dwarf_attr(&b->unit->die, DW_AT_comp_dir, &attribute))
		b->comp_dir = dwarf_formstring(&attribute);
	error = read_lines(b);
	if (!error)
		error = find_half(b);
	if (!error)
		error = find_functions(b, false, &all);
	if (!error && !all)
		error = find_functions(b, true, &all);
	for (size_t i = 0; !error && i < b->n; i++)
		error = tell(b, i);
	return error;
}

static int
find_in_unit(struct dwarf_file *f, uint32_t unit, const struct asked *asked, size_t n,
	     dwarf_found_fn *found, void *arg, uint32_t *lacking)
{
	struct unit_batch b = { .f = f,
				.unit = dwarf_units_at(f->units, unit),
				.asked = asked,
				.addresses = calloc(n, sizeof(*b.addresses)),
				.n = n,
				.inner = calloc(n, sizeof(*b.inner)),
				.rows = calloc(n, sizeof(*b.rows)),
				.found = found,
				.arg = arg };
	int error = -FMT_E_NOMEM;

	if (b.addresses && b.inner && b.rows)
		error = search_unit(&b);
	*lacking += b.partial;
	free(b.addresses);
	free(b.inner);
	free(b.rows);
	dwarf_scopes_done(&b.scopes);
	dwarf_lines_done(&b.lines);
	return error;
}

/* --- all of them ------------------------------------------------------------------------- */

static int
compare_asked(const void *x, const void *y)
{
	const struct asked *a = x, *b = y;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

int
dwarf_file_find(struct dwarf_file *f, const uint64_t *addresses, size_t n, dwarf_found_fn *found,
		void *arg, uint32_t *ret_lacking)
{
	struct asked *asked = calloc(n + 1, sizeof(*asked));
	size_t nr = 0, end;
	int error = 0;

	*ret_lacking = 0;
	if (!asked || n > UINT32_MAX) {
		free(asked);
		return -FMT_E_NOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		asked[nr] = (struct asked){ .address = addresses[i], .index = (uint32_t)i };
		nr += dwarf_units_find(f->units, addresses[i], &asked[nr].unit);
	}
	if (nr > 0)
		qsort(asked, nr, sizeof(*asked), compare_asked);
	for (size_t i = 0; !error && i < nr; i = end) {
		for (end = i + 1; end < nr && asked[end].unit == asked[i].unit;)
			end++;
		error = find_in_unit(f, asked[i].unit, &asked[i], end - i, found, arg, ret_lacking);
	}
	free(asked);
	return error;
}
