/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_strings.h"

#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_window.h"

#define FIELD(e, p, type, name) ELF_FIELD((e)->is64, p, type, name)

static const struct stored_strings_part *
find_part(const struct stored_strings *s, size_t section)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->part[i].section == section)
			return &s->part[i];
	return NULL;
}

/* NULL: out of memory. */
static struct stored_strings_part *
make_part(struct stored_strings *s, const struct stored_elf *e, size_t section)
{
	const struct stored_strings_part *there = find_part(s, section);
	struct stored_strings_part *p = there ? &s->part[there - s->part] : &s->part[s->nr];

	if (there)
		return p;
	if (s->nr == STORED_STRINGS_MAX)
		return NULL;
	p->section = section;
	p->n = FIELD(e, stored_elf_section(e, section), Shdr, sh_size);
	p->starts = calloc(1, (size_t)(p->n / 8 + 1));
	s->nr += p->starts != NULL;
	return p->starts ? p : NULL;
}

static void
mark(struct stored_strings_part *p, uint64_t at)
{
	if (at < p->n)
		p->starts[at / 8] |= (uint8_t)(1u << at % 8);
}

int
stored_strings_of_symbols(struct stored_strings *s, const struct stored_elf *e, size_t i)
{
	const uint8_t *h = stored_elf_section(e, i), *p;
	const size_t each = ELF_SIZE(e->is64, Sym);
	const uint64_t at = FIELD(e, h, Shdr, sh_offset), n = FIELD(e, h, Shdr, sh_size);
	struct stored_strings_part *part = make_part(s, e, (size_t)FIELD(e, h, Shdr, sh_link));
	struct stored_window *w = part ? stored_window_new(e->file, at + n) : NULL;
	int error;

	if (!w)
		return -FMT_E_NOMEM;
	for (uint64_t k = 0; k < n && (p = stored_window_get(w, at + k, each)); k += each)
		mark(part, FIELD(e, p, Sym, st_name));
	error = w->error;
	free(w);
	return error;
}

int
stored_strings_of_sections(struct stored_strings *s, const struct stored_elf *e)
{
	struct stored_strings_part *part = make_part(s, e, e->names_index);

	if (!part)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < e->nr_sections; i++)
		mark(part, FIELD(e, stored_elf_section(e, i), Shdr, sh_name));
	return 0;
}

int
stored_strings_of_dynamic(struct stored_strings *s, const struct stored_elf *e,
			  const struct stored_dynamic *d, size_t strings)
{
	struct stored_strings_part *part = make_part(s, e, strings);
	struct stored_window *w = part ? stored_window_new(e->file, d->at + d->n) : NULL;
	const size_t each = ELF_SIZE(e->is64, Dyn);
	const uint8_t *p;
	int error;

	if (!w)
		return -FMT_E_NOMEM;
	for (uint64_t k = 0; k < d->n && (p = stored_window_get(w, d->at + k, each)); k += each)
		if (FIELD(e, p, Dyn, d_tag) == DT_NEEDED || FIELD(e, p, Dyn, d_tag) == DT_SONAME)
			mark(part, FIELD(e, p, Dyn, d_un.d_val));
	error = w->error;
	free(w);
	return error;
}

bool
stored_strings_has(const struct stored_strings *s, size_t section)
{
	return find_part(s, section) != NULL;
}

int
stored_strings_copy(const struct stored_strings *s, const struct stored_elf *e, size_t i,
		    uint64_t to, stored_put_fn *put, void *arg)
{
	const struct stored_strings_part *part = find_part(s, i);
	const uint64_t from = FIELD(e, stored_elf_section(e, i), Shdr, sh_offset);
	uint8_t chunk[STORED_WINDOW_BYTES];
	bool inside = false;
	int error = 0;

	for (uint64_t at = 0; at < part->n && !error; at += sizeof(chunk)) {
		const size_t n = part->n - at < sizeof(chunk) ? (size_t)(part->n - at)
							      : sizeof(chunk);

		error = stored_elf_bytes(e->file, from + at, chunk, n);
		for (size_t k = 0; k < n && !error; k++) {
			inside |= part->starts[(at + k) / 8] >> (at + k) % 8 & 1;
			inside &= chunk[k] != 0;
			if (!inside)
				chunk[k] = 0;
		}
		if (!error)
			error = put(arg, to + at, chunk, n);
	}
	return error;
}

void
stored_strings_done(struct stored_strings *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->part[i].starts);
	*s = (struct stored_strings){ .nr = 0 };
}
