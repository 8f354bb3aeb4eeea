/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_package.h"

#include "format/bytes/fmt_error.h"

#define COLUMNS_MAX 64 /* sections; there are eight kinds */

/* Of both versions; other sections are not read. */
enum { SECTION_INFO = 1, SECTION_ABBREV = 3, SECTION_STR_OFFSETS = 6, SECTION_RNGLISTS = 8 };

struct index {
	uint32_t version, columns, units, slots;
	struct span ids;     /* u64 a slot */
	struct span rows;    /* u32 a slot: from 1; 0: the slot is empty */
	struct span kinds;   /* u32 a column */
	struct span offsets; /* u32 a column, of each row */
	struct span sizes;   /* likewise */
};

static uint32_t
word_at(struct span s, uint64_t i)
{
	return le32dec(s.p + i * 4);
}

static bool
take_words32(struct span *s, uint64_t n, struct span *ret)
{
	return n <= s->len / 4 && span_take(s, (size_t)n * 4, ret);
}

static bool
read_index(struct span s, struct index *ret)
{
	/* DWARF 5 has made two u16 of it: the version, and nothing. */
	if (!span_u32(&s, &ret->version) || (ret->version != 2 && ret->version != 5) ||
	    !span_u32(&s, &ret->columns) || !span_u32(&s, &ret->units) ||
	    !span_u32(&s, &ret->slots))
		return false;
	if (ret->columns == 0 || ret->columns > COLUMNS_MAX || ret->slots == 0 ||
	    (ret->slots & (ret->slots - 1)) != 0)
		return false;
	return span_take_words(&s, ret->slots, 1, &ret->ids) &&
		take_words32(&s, ret->slots, &ret->rows) &&
		take_words32(&s, ret->columns, &ret->kinds) &&
		take_words32(&s, (uint64_t)ret->units * ret->columns, &ret->offsets) &&
		take_words32(&s, (uint64_t)ret->units * ret->columns, &ret->sizes);
}

/* The row of a unit, from 0. */
static bool
find_row(const struct index *x, uint64_t id, uint32_t *ret)
{
	const uint32_t mask = x->slots - 1, step = (uint32_t)(id >> 32 & mask) | 1;
	uint32_t slot = (uint32_t)id & mask, row;

	for (uint32_t i = 0; i < x->slots; i++, slot = (slot + step) & mask) {
		row = word_at(x->rows, slot);
		if (row == 0 || row > x->units)
			return false;
		if (span_word(x->ids, slot) == id) {
			*ret = row - 1;
			return true;
		}
	}
	return false;
}

/* A column that is not there has no bytes. */
static bool
take_part(const struct index *x, uint32_t row, uint32_t kind, struct span whole, struct span *ret)
{
	*ret = span_of(NULL, 0);
	for (uint32_t i = 0; i < x->columns; i++) {
		const uint64_t at = (uint64_t)row * x->columns + i;

		if (word_at(x->kinds, i) == kind)
			return span_skip(&whole, word_at(x->offsets, at)) &&
				span_take(&whole, word_at(x->sizes, at), ret);
	}
	return true;
}

bool
dwarf_package_find(struct span index, uint64_t dwo_id, const struct dwarf_split_sections *whole,
		   struct dwarf_split_sections *ret)
{
	struct dwarf_split_sections s = { .str = whole->str };
	struct index x;
	uint32_t row;

	if (!read_index(index, &x) || !find_row(&x, dwo_id, &row) ||
	    !take_part(&x, row, SECTION_INFO, whole->info, &s.info) ||
	    !take_part(&x, row, SECTION_ABBREV, whole->abbrev, &s.abbrev) ||
	    !take_part(&x, row, SECTION_STR_OFFSETS, whole->str_offsets, &s.str_offsets))
		return false;
	/* Of GNU's version this is another section, that of macros. */
	if (x.version == 5 && !take_part(&x, row, SECTION_RNGLISTS, whole->rnglists, &s.rnglists))
		return false;
	*ret = s;
	return true;
}
