/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_lines.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/leb128.h"

#define TABLE_MAX (1u << 20) /* directories or files: more than any unit has */
#define FORMATS_MAX 16

void
dwarf_lines_done(struct dwarf_lines *l)
{
	free(l->dirs);
	free(l->files);
	*l = (struct dwarf_lines){ 0 };
}

/* --- the head ---------------------------------------------------------------------------- */

static bool
take_string_at(struct span section, uint64_t offset, const char **ret)
{
	return offset < section.len && span_skip(&section, (size_t)offset) &&
		span_string(&section, ret);
}

static int
add_dir(struct dwarf_lines *l, const char *name)
{
	if (l->nr_dirs == TABLE_MAX)
		return -FMT_E_CORRUPT;
	if (array_reserve(l->dirs, l->nr_dirs, l->cap_dirs, 1) < 0)
		return -FMT_E_NOMEM;
	l->dirs[l->nr_dirs++] = name;
	return 0;
}

static int
add_file(struct dwarf_lines *l, const char *name, uint64_t dir)
{
	if (l->nr_files == TABLE_MAX)
		return -FMT_E_CORRUPT;
	if (array_reserve(l->files, l->nr_files, l->cap_files, 1) < 0)
		return -FMT_E_NOMEM;
	l->files[l->nr_files++] = (struct dwarf_line_file){ name, dir };
	return 0;
}

/* Up to DWARF 4: strings one after another, up to an empty one; the 0th are the unit's own. */
static int
read_old_tables(struct dwarf_lines *l, struct span *s)
{
	const char *name;
	uint64_t dir, time, size;
	int error = add_dir(l, "");

	while (!error) {
		if (!span_string(s, &name))
			return -FMT_E_CORRUPT;
		if (*name == '\0')
			break;
		error = add_dir(l, name);
	}
	if (!error)
		error = add_file(l, NULL, 0);
	while (!error) {
		if (!span_string(s, &name))
			return -FMT_E_CORRUPT;
		if (*name == '\0')
			break;
		if (!span_uleb(s, &dir) || !span_uleb(s, &time) || !span_uleb(s, &size))
			return -FMT_E_CORRUPT;
		error = add_file(l, name, dir);
	}
	return error;
}

struct entry_format {
	uint64_t content, form;
};

/* One field of an entry: a string in *ret_text, or a number. */
static bool
take_field(const struct dwarf_line_sections *sections, bool is64, uint64_t form, struct span *s,
	   const char **ret_text, uint64_t *ret)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;

	switch (form) {
	case DW_FORM_string:
		return span_string(s, ret_text);
	case DW_FORM_line_strp:
		return span_u32_or_u64(s, is64, ret) &&
			take_string_at(sections->line_str, *ret, ret_text);
	case DW_FORM_strp:
		return span_u32_or_u64(s, is64, ret) &&
			take_string_at(sections->str, *ret, ret_text);
	case DW_FORM_udata:
		return span_uleb(s, ret);
	case DW_FORM_data1:
		if (!span_u8(s, &u8))
			return false;
		*ret = u8;
		return true;
	case DW_FORM_data2:
		if (!span_u16(s, &u16))
			return false;
		*ret = u16;
		return true;
	case DW_FORM_data4:
		if (!span_u32(s, &u32))
			return false;
		*ret = u32;
		return true;
	case DW_FORM_data8:
		return span_u64(s, ret);
	case DW_FORM_data16:
		return span_skip(s, 16);
	case DW_FORM_block:
		return span_uleb(s, ret) && *ret <= s->len && span_skip(s, (size_t)*ret);
	}
	return false;
}

/* DWARF 5: a table says itself what its entries are of. */
static int
read_table(struct dwarf_lines *l, const struct dwarf_line_sections *sections, struct span *s,
	   bool files)
{
	struct entry_format formats[FORMATS_MAX];
	uint64_t nr, value, dir;
	const char *text, *name;
	uint8_t nr_formats;
	int error = 0;

	if (!span_u8(s, &nr_formats) || nr_formats > FORMATS_MAX)
		return -FMT_E_CORRUPT;
	for (size_t i = 0; i < nr_formats; i++)
		if (!span_uleb(s, &formats[i].content) || !span_uleb(s, &formats[i].form))
			return -FMT_E_CORRUPT;
	if (!span_uleb(s, &nr) || (nr > 0 && nr_formats == 0))
		return -FMT_E_CORRUPT;
	while (!error && nr-- > 0) {
		name = NULL;
		dir = 0;
		for (size_t i = 0; i < nr_formats; i++) {
			text = NULL;
			value = 0;
			if (!take_field(sections, l->is64, formats[i].form, s, &text, &value))
				return -FMT_E_CORRUPT;
			if (formats[i].content == DW_LNCT_path)
				name = text;
			else if (formats[i].content == DW_LNCT_directory_index)
				dir = value;
		}
		error = files ? add_file(l, name, dir) : add_dir(l, name ? name : "");
	}
	return error;
}

static bool
take_unit(struct span section, uint64_t offset, bool *ret_is64, struct span *ret)
{
	uint64_t length;
	uint32_t low;

	if (offset > section.len || !span_skip(&section, (size_t)offset) ||
	    !span_u32(&section, &low))
		return false;
	*ret_is64 = low == UINT32_MAX;
	length = low;
	if (*ret_is64 && !span_u64(&section, &length))
		return false;
	return length <= section.len && span_take(&section, (size_t)length, ret);
}

/* What stands before the tables; *s is what is left of the head, l->program what follows it. */
static int
read_fixed(struct dwarf_lines *l, struct span *s)
{
	uint8_t is_statement, address_bytes, selector_bytes, line_base;
	uint64_t length;
	uint16_t version;
	struct span head;

	if (!span_u16(s, &version))
		return -FMT_E_CORRUPT;
	if (version < 2 || version > 5)
		return -FMT_E_UNSUPPORTED;
	l->version = version;
	if (version >= 5 && (!span_u8(s, &address_bytes) || !span_u8(s, &selector_bytes)))
		return -FMT_E_CORRUPT;
	if (!span_u32_or_u64(s, l->is64, &length) || length > s->len ||
	    !span_take(s, (size_t)length, &head))
		return -FMT_E_CORRUPT;
	l->program = *s;
	l->max_operations = 1;
	if (!span_u8(&head, &l->min_instruction) ||
	    (version >= 4 && !span_u8(&head, &l->max_operations)) ||
	    !span_u8(&head, &is_statement) || !span_u8(&head, &line_base) ||
	    !span_u8(&head, &l->line_range) || !span_u8(&head, &l->opcode_base) ||
	    l->opcode_base == 0 || l->line_range == 0 || l->max_operations == 0 ||
	    !span_take(&head, l->opcode_base - 1u, &l->lengths))
		return -FMT_E_CORRUPT;
	l->line_base = (int8_t)line_base;
	*s = head;
	return 0;
}

int
dwarf_lines_read(const struct dwarf_line_sections *sections, uint64_t offset,
		 struct dwarf_lines *ret)
{
	struct span s;
	int error;

	*ret = (struct dwarf_lines){ 0 };
	if (!take_unit(sections->line, offset, &ret->is64, &s))
		return -FMT_E_CORRUPT;
	error = read_fixed(ret, &s);
	if (error)
		return error;
	if (ret->version < 5)
		return read_old_tables(ret, &s);
	error = read_table(ret, sections, &s, false);
	return error ? error : read_table(ret, sections, &s, true);
}

/* --- the program ------------------------------------------------------------------------- */

struct machine {
	const struct dwarf_lines *l;
	const uint64_t *addresses;
	size_t n;
	struct dwarf_line_row *rows;
	const struct dwarf_code *code;
	size_t nr_code;
	/* The row that is being made, and the one before it in this sequence. */
	uint64_t address, operation;
	uint64_t file, line;
	uint64_t last_address;
	struct dwarf_line_row last; /* not found: there is none, or nobody is interested */
	bool begun;
	size_t next; /* of the addresses */
};

bool
dwarf_code_has(const struct dwarf_code *code, size_t nr, uint64_t address)
{
	for (size_t i = 0; i < nr; i++)
		if (address >= code[i].start && address < code[i].end)
			return true;
	return false;
}

static void
begin_sequence(struct machine *m)
{
	m->address = m->operation = 0;
	m->file = m->line = 1;
	m->begun = m->last.found = false;
}

static size_t
first_not_below(const uint64_t *addresses, size_t n, uint64_t address)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (addresses[middle] < address)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/*
 * A row ends the one before it: what lies between them is that one's. A linker that drops code
 * leaves its sequence, at an address where no code is.
 */
static void
end_row(struct machine *m, bool end)
{
	if (!m->begun) {
		m->begun = true;
		m->last.found = m->address != 0 && dwarf_code_has(m->code, m->nr_code, m->address);
		m->next = m->last.found ? first_not_below(m->addresses, m->n, m->address) : m->n;
	} else if (m->last.found && m->address > m->last_address) {
		for (; m->next < m->n && m->addresses[m->next] < m->address; m->next++)
			if (!m->rows[m->next].found && m->addresses[m->next] >= m->last_address)
				m->rows[m->next] = m->last;
	}
	m->last_address = m->address;
	m->last.file = (uint32_t)m->file;
	m->last.line = (uint32_t)m->line;
	if (end)
		begin_sequence(m);
}

static void
advance(struct machine *m, uint64_t operations)
{
	const struct dwarf_lines *l = m->l;

	if (l->max_operations == 1) {
		m->address += operations * l->min_instruction;
		return;
	}
	operations += m->operation;
	m->address += operations / l->max_operations * l->min_instruction;
	m->operation = operations % l->max_operations;
}

static bool
run_extended(struct machine *m, struct span *s)
{
	uint64_t length;
	struct span own;
	uint32_t low;
	uint8_t code;

	if (!span_uleb(s, &length) || length == 0 || length > s->len ||
	    !span_take(s, (size_t)length, &own) || !span_u8(&own, &code))
		return false;
	if (code == DW_LNE_end_sequence) {
		end_row(m, true);
	} else if (code == DW_LNE_set_address) {
		m->operation = 0;
		if (own.len == 4 && span_u32(&own, &low))
			m->address = low;
		else if (!span_u64(&own, &m->address))
			return false;
	}
	return true;
}

/* Operations that somebody else invented say how many numbers follow them. */
static bool
skip_operands(const struct dwarf_lines *l, uint8_t code, struct span *s)
{
	uint64_t ignored;

	for (uint8_t i = l->lengths.p[code - 1]; i > 0; i--)
		if (!span_uleb(s, &ignored))
			return false;
	return true;
}

static bool
run_standard(struct machine *m, uint8_t code, struct span *s)
{
	uint16_t fixed;
	uint64_t v;
	int64_t d;

	switch (code) {
	case DW_LNS_copy:
		end_row(m, false);
		return true;
	case DW_LNS_advance_pc:
		if (!span_uleb(s, &v))
			return false;
		advance(m, v);
		return true;
	case DW_LNS_advance_line:
		if (!span_sleb(s, &d))
			return false;
		m->line += (uint64_t)d;
		return true;
	case DW_LNS_set_file:
		return span_uleb(s, &m->file);
	case DW_LNS_const_add_pc:
		advance(m, (255u - m->l->opcode_base) / m->l->line_range);
		return true;
	case DW_LNS_fixed_advance_pc:
		if (!span_u16(s, &fixed))
			return false;
		m->address += fixed;
		m->operation = 0;
		return true;
	}
	return skip_operands(m->l, code, s);
}

bool
dwarf_lines_find(const struct dwarf_lines *l, const struct dwarf_code *code, size_t nr_code,
		 const uint64_t *addresses, size_t n, struct dwarf_line_row *rows)
{
	struct machine m = { .l = l,
			     .addresses = addresses,
			     .n = n,
			     .rows = rows,
			     .code = code,
			     .nr_code = nr_code };
	struct span s = l->program;
	uint8_t op;

	begin_sequence(&m);
	while (span_u8(&s, &op)) {
		if (op >= l->opcode_base) {
			op = (uint8_t)(op - l->opcode_base);
			advance(&m, op / l->line_range);
			m.line += (uint64_t)(int64_t)(l->line_base + op % l->line_range);
			end_row(&m, false);
		} else if (!(op == 0 ? run_extended(&m, &s) : run_standard(&m, op, &s))) {
			return false;
		}
	}
	return true;
}

/* --- files ------------------------------------------------------------------------------- */

static void
append_dir(struct buf *b, const char *dir)
{
	if (!dir || *dir == '\0')
		return;
	buf_append(b, dir, strlen(dir));
	if (dir[strlen(dir) - 1] != '/')
		buf_u8(b, '/');
}

bool
dwarf_lines_path(const struct dwarf_lines *l, uint64_t file, const char *comp_dir, struct buf *ret)
{
	const struct dwarf_line_file *f;
	const char *dir;

	if (file >= l->nr_files || !l->files[file].name)
		return false;
	f = &l->files[file];
	dir = f->dir < l->nr_dirs ? l->dirs[f->dir] : "";
	if (f->name[0] != '/') {
		if (dir[0] != '/')
			append_dir(ret, comp_dir);
		append_dir(ret, dir);
	}
	buf_append(ret, f->name, strlen(f->name) + 1);
	return true;
}
