/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_split.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_copy.h"
#include "symbolizer/dwarf/dwarf_package.h"

#define STRINGS_MAX (256u << 20) /* bytes, of a unit */
#define LISTS_AT                                                                                   \
	16 /* in our .debug_ranges: to libdw a list at 0 or 1 is the first call, or the end */

/* What a skeleton says of its other half. */
struct skeleton {
	const char *dir, *name; /* NULL: not said */
	uint64_t id, addresses, lists;
	unsigned int version;
};

struct dwarf_splits {
	const struct dwarf_image *image;
	struct intern *strings;
	dwarf_split_fn *open;
	void *arg;
	uint64_t *addresses,
		*lists; /* where parts of .debug_addr and .debug_ranges begin, ascending */
	size_t nr;
	struct dwarf_image *package; /* NULL: there is none, or it was not looked for yet */
	int package_fd;
	bool package_sought;
	/* The half that was asked for last. */
	struct skeleton of; /* name NULL: it was in the package */
	struct buf bytes;
	Elf *elf;
	Dwarf *dwarf; /* NULL: it is not there */
	struct dwarf_names *names;
	struct span info, rnglists;
};

static const char *
text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static uint64_t
word_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &word) == 0 ? word
											    : 0;
}

static struct skeleton
skeleton_of(const struct dwarf_unit *unit)
{
	struct skeleton k = { .id = unit->dwo_id };
	Dwarf_Die die = unit->die;
	Dwarf_Half version = 0;

	(void)dwarf_cu_info(die.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	k.version = version;
	k.dir = text_of(&die, DW_AT_comp_dir);
	k.name = text_of(&die, version < 5 ? DW_AT_GNU_dwo_name : DW_AT_dwo_name);
	k.addresses = word_of(&die, version < 5 ? DW_AT_GNU_addr_base : DW_AT_addr_base);
	k.lists = version < 5 ? word_of(&die, DW_AT_GNU_ranges_base) : 0;
	return k;
}

/* --- the units of the file --------------------------------------------------------------- */

static int
compare_words(const void *x, const void *y)
{
	const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static bool
read_bases(struct dwarf_splits *s, const struct dwarf_units *units)
{
	const size_t n = dwarf_units_count(units);

	s->addresses = calloc(n + 1, sizeof(*s->addresses));
	s->lists = calloc(n + 1, sizeof(*s->lists));
	if (!s->addresses || !s->lists)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct dwarf_unit *unit = dwarf_units_at(units, (uint32_t)i);

		if (unit->split) {
			const struct skeleton k = skeleton_of(unit);

			s->addresses[s->nr] = k.addresses;
			s->lists[s->nr++] = k.lists;
		}
	}
	qsort(s->addresses, s->nr, sizeof(*s->addresses), compare_words);
	qsort(s->lists, s->nr, sizeof(*s->lists), compare_words);
	return true;
}

struct dwarf_splits *
dwarf_splits_new(struct dwarf_units *units, const struct dwarf_image *image, struct intern *strings,
		 dwarf_split_fn *open, void *arg)
{
	struct dwarf_splits *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->image = image;
	s->strings = strings;
	s->open = open;
	s->arg = arg;
	s->package_fd = -1;
	buf_init(&s->bytes);
	if (!read_bases(s, units)) {
		dwarf_splits_free(s);
		return NULL;
	}
	return s;
}

static void
forget_half(struct dwarf_splits *s)
{
	dwarf_names_free(s->names);
	dwarf_end(s->dwarf);
	elf_end(s->elf);
	buf_done(&s->bytes);
	s->names = NULL;
	s->dwarf = NULL;
	s->elf = NULL;
	s->of = (struct skeleton){ 0 };
}

void
dwarf_splits_free(struct dwarf_splits *s)
{
	if (!s)
		return;
	forget_half(s);
	dwarf_image_close(s->package);
	if (s->package_fd >= 0)
		close(s->package_fd);
	free(s->addresses);
	free(s->lists);
	free(s);
}

/* --- both halves in one file ------------------------------------------------------------- */

/* From a base to the next greater one: with all behind it 100,000 units would be copied as often. */
static struct span
part_from(struct span section, const uint64_t *bases, size_t nr, uint64_t base)
{
	size_t low = 0, n = nr;
	struct span part;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (bases[middle] <= base)
			low = middle + 1;
		else
			n = middle;
	}
	if (base > section.len || !span_skip(&section, (size_t)base))
		return span_of(NULL, 0);
	if (low < nr && span_take(&section, (size_t)(bases[low] - base), &part))
		return part;
	return section;
}

/*
 * The strings of a unit alone, in the order of their numbers: those of a package are of all its units,
 * and too many to be copied for each.
 */
static void
add_strings(struct dwarf_copy *c, const struct dwarf_split_sections *half, unsigned int version)
{
	const bool is64 = half->info.len >= 4 && le32dec(half->info.p) == UINT32_MAX;
	const size_t each = is64 ? 8 : 4;
	struct span rest = half->str_offsets, entry, head = { 0 };
	struct buf offsets, strings;

	buf_init(&offsets);
	buf_init(&strings);
	if (version >= 5)
		(void)span_take(&rest, is64 ? 16 : 8, &head);
	buf_append(&offsets, head.p, head.len);
	while (strings.len < STRINGS_MAX && span_take(&rest, each, &entry)) {
		const uint64_t at = is64 ? le64dec(entry.p) : le32dec(entry.p);
		struct span text = half->str;
		const char *string = NULL;
		uint64_t to = UINT64_MAX; /* none is there */

		if (at < text.len && span_skip(&text, (size_t)at) && span_string(&text, &string)) {
			to = strings.len;
			buf_append(&strings, string, strlen(string) + 1);
		}
		if (is64)
			buf_u64(&offsets, to);
		else
			buf_u32(&offsets, (uint32_t)to);
	}
	dwarf_copy_add(c, ".debug_str_offsets", buf_span(&offsets));
	dwarf_copy_add(c, ".debug_str", buf_span(&strings));
	c->bytes.failed |= buf_failed(&offsets) || buf_failed(&strings);
	buf_done(&offsets);
	buf_done(&strings);
}

/* The lists of DWARF 4 stayed in the file itself. */
static void
add_lists(const struct dwarf_splits *s, struct dwarf_copy *c, const struct skeleton *k)
{
	struct span lists = part_from(dwarf_image_section(s->image, ".debug_ranges"), s->lists,
				      s->nr, k->lists);
	uint8_t *room = dwarf_copy_room(c, lists.len + LISTS_AT);

	if (!room)
		return;
	memset(room, 0, LISTS_AT);
	if (lists.len > 0)
		memcpy(room + LISTS_AT, lists.p, lists.len);
	dwarf_copy_take(c, ".debug_ranges", lists.len + LISTS_AT);
}

/* 0, or -FMT_E_NOMEM; s->dwarf NULL: it is no good. */
static int
join(struct dwarf_splits *s, const struct skeleton *k, const struct dwarf_split_sections *half)
{
	struct dwarf_copy c;
	size_t info_at, lists_at;
	int error;

	dwarf_copy_init(&c);
	info_at = c.bytes.len;
	dwarf_copy_add(&c, ".debug_info", half->info);
	dwarf_copy_add(&c, ".debug_abbrev", half->abbrev);
	add_strings(&c, half, k->version);
	dwarf_copy_add(&c, ".debug_addr",
		       part_from(dwarf_image_section(s->image, ".debug_addr"), s->addresses, s->nr,
				 k->addresses));
	lists_at = c.bytes.len;
	if (k->version < 5)
		add_lists(s, &c, k);
	else
		dwarf_copy_add(&c, ".debug_rnglists", half->rnglists);
	error = dwarf_copy_open(&c, dwarf_image_elf(s->image), &s->bytes, &s->elf);
	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	s->info = span_of(s->bytes.p + info_at, half->info.len);
	s->rnglists = span_of(s->bytes.p + lists_at, half->rnglists.len);
	s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
	s->names = s->dwarf ? dwarf_names_new(s->strings) : NULL;
	return s->dwarf && !s->names ? -FMT_E_NOMEM : 0;
}

/* --- where the other half is ------------------------------------------------------------- */

/* *ret_fd is to be closed behind the image in any case, unless it is -1. */
static int
open_image(struct dwarf_splits *s, const char *dir, const char *name, struct dwarf_image **ret,
	   int *ret_fd)
{
	int fd = s->open ? s->open(s->arg, dir, name) : -1;
	int error = fd >= 0 ? dwarf_image_open(fd, ret) : 0;

	*ret_fd = fd;
	return error == -FMT_E_NOMEM ? error : 0;
}

/* Of DWARF 5, what a unit begins with: GCC gives each type unit of a .dwo a section of its own. */
static bool
has_no_types(struct span info)
{
	uint32_t length;
	uint16_t version;
	uint8_t type;

	return !span_u32(&info, &length) || (length == UINT32_MAX && !span_skip(&info, 8)) ||
		!span_u16(&info, &version) || version < 5 || !span_u8(&info, &type) ||
		(type != DW_UT_split_type && type != DW_UT_type);
}

static struct dwarf_split_sections
sections_of(const struct dwarf_image *image)
{
	return (struct dwarf_split_sections){
		.info = dwarf_image_section_if(image, ".debug_info.dwo", has_no_types),
		.abbrev = dwarf_image_section(image, ".debug_abbrev.dwo"),
		.str_offsets = dwarf_image_section(image, ".debug_str_offsets.dwo"),
		.rnglists = dwarf_image_section(image, ".debug_rnglists.dwo"),
		.str = dwarf_image_section(image, ".debug_str.dwo"),
	};
}

static int
from_package(struct dwarf_splits *s, const struct skeleton *k)
{
	struct dwarf_split_sections whole, half;
	int error = 0;

	if (!s->package_sought)
		error = open_image(s, NULL, NULL, &s->package, &s->package_fd);
	s->package_sought = true;
	if (error || !s->package)
		return error;
	whole = sections_of(s->package);
	if (!dwarf_package_find(dwarf_image_section(s->package, ".debug_cu_index"), k->id, &whole,
				&half))
		return 0;
	return join(s, k, &half);
}

/* One file may have several units, which share their addresses: link-time optimisation makes it. */
static bool
is_same(const struct skeleton *a, const struct skeleton *b)
{
	return a->name && b->name && strcmp(a->name, b->name) == 0 &&
		(a->dir ? b->dir && strcmp(a->dir, b->dir) == 0 : !b->dir) &&
		a->addresses == b->addresses && a->lists == b->lists && a->version == b->version;
}

static int
from_file(struct dwarf_splits *s, const struct skeleton *k)
{
	struct dwarf_image *image = NULL;
	struct dwarf_split_sections half;
	int error, fd;

	if (!k->name || !*k->name)
		return 0;
	s->of = *k;
	error = open_image(s, k->dir, k->name, &image, &fd);
	if (image) {
		half = sections_of(image);
		error = join(s, k, &half);
	}
	dwarf_image_close(image);
	if (fd >= 0)
		close(fd);
	return error;
}

/* The unit with this number. */
static bool
find_unit(Dwarf *dwarf, uint64_t id, Dwarf_Die *ret)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	uint64_t found;

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, &version, &type, ret, NULL) == 0)
		if ((type == DW_UT_split_compile || type == DW_UT_skeleton) &&
		    dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &found, NULL, NULL) == 0 &&
		    found == id)
			return true;
	return false;
}

int
dwarf_splits_find(struct dwarf_splits *s, const struct dwarf_unit *unit, struct dwarf_half *ret)
{
	const struct skeleton k = skeleton_of(unit);
	Dwarf_Die die = unit->die;
	Dwarf_Addr start;
	int error = 0;

	if (!is_same(&s->of, &k)) {
		forget_half(s);
		error = from_package(s, &k);
		if (!error && !find_unit(s->dwarf, k.id, &ret->code)) {
			forget_half(s);
			error = from_file(s, &k);
		}
	}
	if (error || !find_unit(s->dwarf, k.id, &ret->code))
		return error;
	ret->names = s->names;
	ret->base = (struct dwarf_base){
		.address = dwarf_lowpc(&die, &start) == 0 ? start : 0,
		.lists = k.version < 5 ? LISTS_AT : 0,
		.rnglists = s->rnglists,
		.info = s->info,
	};
	return 1;
}
