/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line programs of each version, made by hand and at random, against a table of their rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dwarf.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_lines.h"

#define LINE_BASE (-5)
#define LINE_RANGE 14
#define OPCODE_BASE 14 /* one more than there are: an operation that nobody knows, of two numbers */
#define CODE_START 0x1000
#define CODE_END 0x100000
#define ROWS 400

static const struct dwarf_code code[] = { { CODE_START, CODE_END } };

/* --- making one -------------------------------------------------------------------------- */

struct kind {
	unsigned int version;
	bool is64;
	uint8_t min_instruction, max_operations;
};

static void
put_offset(struct buf *b, bool is64, uint64_t v)
{
	if (is64)
		buf_u64(b, v);
	else
		buf_u32(b, (uint32_t)v);
}

static void
put_uleb(struct buf *b, uint64_t v)
{
	do {
		buf_u8(b, (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
		v >>= 7;
	} while (v);
}

static void
put_sleb(struct buf *b, int64_t v)
{
	for (;;) {
		const uint8_t low = v & 0x7f;

		v >>= 7;
		if ((v == 0 && !(low & 0x40)) || (v == -1 && (low & 0x40))) {
			buf_u8(b, low);
			return;
		}
		buf_u8(b, low | 0x80);
	}
}

static void
put_text(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s) + 1);
}

static void
put_old_tables(struct buf *b)
{
	put_text(b, "/usr/include");
	put_text(b, "sub");
	buf_u8(b, 0);
	for (unsigned int i = 0; i < 3; i++) {
		put_text(b, (const char *[]){ "main.c", "head.h", "/else/where.c" }[i]);
		put_uleb(b, i); /* directory */
		put_uleb(b, 0);
		put_uleb(b, 300);
	}
	buf_u8(b, 0);
}

static void
put_new_tables(struct buf *b, bool is64)
{
	/* Directories: a path in place, and a block that nobody knows. */
	buf_u8(b, 2);
	put_uleb(b, DW_LNCT_path);
	put_uleb(b, DW_FORM_string);
	put_uleb(b, 0x2001);
	put_uleb(b, DW_FORM_block);
	put_uleb(b, 3);
	for (unsigned int i = 0; i < 3; i++) {
		put_text(b, (const char *[]){ "/build", "/usr/include", "sub" }[i]);
		put_uleb(b, 2);
		buf_u16(b, 0xffff);
	}
	/* Files: a path elsewhere, a directory, a checksum. */
	buf_u8(b, 3);
	put_uleb(b, DW_LNCT_path);
	put_uleb(b, DW_FORM_line_strp);
	put_uleb(b, DW_LNCT_directory_index);
	put_uleb(b, DW_FORM_udata);
	put_uleb(b, DW_LNCT_MD5);
	put_uleb(b, DW_FORM_data16);
	put_uleb(b, 3);
	for (unsigned int i = 0; i < 3; i++) {
		put_offset(b, is64, (const unsigned int[]){ 0, 7, 14 }[i]);
		put_uleb(b, i);
		buf_zero(b, 16);
	}
}

static const char line_str[] = "main.c\0head.h\0/else/where.c";

/* A section of other bytes, and a unit with this program at *ret_offset. */
static struct buf
make_section(const struct kind *k, const struct buf *program, uint64_t *ret_offset)
{
	struct buf b, tables, head;

	buf_init(&b);
	buf_init(&tables);
	buf_init(&head);
	if (k->version < 5)
		put_old_tables(&tables);
	else
		put_new_tables(&tables, k->is64);
	buf_u8(&head, k->min_instruction);
	if (k->version >= 4)
		buf_u8(&head, k->max_operations);
	buf_u8(&head, 1);
	buf_u8(&head, (uint8_t)LINE_BASE);
	buf_u8(&head, LINE_RANGE);
	buf_u8(&head, OPCODE_BASE);
	buf_append(&head, "\0\1\1\1\1\0\0\0\1\0\0\1\2", OPCODE_BASE - 1);
	buf_append(&head, tables.p, tables.len);
	buf_append(&b, "other", 5);
	*ret_offset = b.len;
	if (k->is64)
		buf_u32(&b, UINT32_MAX);
	put_offset(&b, k->is64,
		   2 + (k->version >= 5 ? 2 : 0) + (k->is64 ? 8 : 4) + head.len + program->len);
	buf_u16(&b, (uint16_t)k->version);
	if (k->version >= 5) {
		buf_u8(&b, 8);
		buf_u8(&b, 0);
	}
	put_offset(&b, k->is64, head.len);
	buf_append(&b, head.p, head.len);
	buf_append(&b, program->p, program->len);
	assert_false(buf_failed(&b) || buf_failed(&tables) || buf_failed(&head));
	buf_done(&tables);
	buf_done(&head);
	return b;
}

static struct dwarf_line_sections
sections_of(const struct buf *section)
{
	return (struct dwarf_line_sections){ .line = buf_span(section),
					     .line_str = span_of(line_str, sizeof(line_str)) };
}

/* --- the model --------------------------------------------------------------------------- */

struct row {
	uint64_t address;
	uint32_t file, line;
	bool end;
};

struct model {
	const struct kind *kind;
	struct buf program;
	uint64_t address, operation;
	uint32_t file, line;
	struct row rows[ROWS];
	size_t n;
};

static void
model_row(struct model *m, bool end)
{
	assert_true(m->n < ROWS);
	m->rows[m->n++] = (struct row){ m->address, m->file, m->line, end };
}

static void
model_address(struct model *m, uint64_t address)
{
	buf_u8(&m->program, 0);
	put_uleb(&m->program, 9);
	buf_u8(&m->program, DW_LNE_set_address);
	buf_u64(&m->program, address);
	m->address = address;
	m->operation = 0;
}

static void
model_end(struct model *m)
{
	buf_append(&m->program, "\0\1\1", 3);
	model_row(m, true);
	m->address = m->operation = 0;
	m->file = m->line = 1;
}

static void
model_advance(struct model *m, uint64_t operations)
{
	const uint64_t max = m->kind->version >= 4 ? m->kind->max_operations : 1;

	for (; operations > 0; operations--)
		if (++m->operation >= max) {
			m->operation = 0;
			m->address += m->kind->min_instruction;
		}
}

/* Operations that change the registers, and then a row. */
static void
model_step(struct model *m)
{
	struct buf *p = &m->program;
	uint32_t advance = (uint32_t)rand() % 17;
	int32_t delta = rand() % LINE_RANGE + LINE_BASE;

	if ((int64_t)m->line + delta < 1)
		delta = 1;
	switch (rand() % 8) {
	case 0:
		m->file = 1 + (uint32_t)rand() % 2;
		buf_u8(p, DW_LNS_set_file);
		put_uleb(p, m->file);
		break;
	case 1:
		buf_u8(p, DW_LNS_advance_pc);
		put_uleb(p, advance * 20);
		model_advance(m, advance * 20);
		break;
	case 2:
		buf_u8(p, DW_LNS_advance_line);
		put_sleb(p, 1000 - (int64_t)m->line);
		m->line = 1000;
		break;
	case 3:
		buf_u8(p, DW_LNS_const_add_pc);
		model_advance(m, (255 - OPCODE_BASE) / LINE_RANGE);
		break;
	case 4:
		buf_u8(p, DW_LNS_fixed_advance_pc);
		buf_u16(p, (uint16_t)(advance * 3));
		m->address += advance * 3;
		m->operation = 0;
		break;
	case 5: /* of nobody */
		buf_u8(p, OPCODE_BASE - 1);
		put_uleb(p, 1u << 20);
		put_uleb(p, 1);
		break;
	case 6:
		buf_append(p, "\0\3\x80xy", 5);
		break;
	}
	if (rand() % 3 == 0) {
		buf_u8(p, DW_LNS_copy);
	} else {
		buf_u8(p, (uint8_t)(OPCODE_BASE + (delta - LINE_BASE) + LINE_RANGE * advance));
		m->line += (uint32_t)delta;
		model_advance(m, advance);
	}
	model_row(m, false);
}

/* The last row of an address, of a sequence that lies in code. */
static bool
model_find(const struct model *m, uint64_t address, struct row *ret)
{
	size_t first = 0;

	for (size_t i = 0; i + 1 < m->n; i++) {
		const struct row *r = &m->rows[i];

		if (i > 0 && r[-1].end)
			first = i;
		if (!r->end && m->rows[first].address >= CODE_START && r->address <= address &&
		    address < r[1].address) {
			*ret = *r;
			return true;
		}
	}
	return false;
}

/* --- tests ------------------------------------------------------------------------------- */

static void
compare(const struct model *m)
{
	uint64_t offset, *addresses = calloc(CODE_END, sizeof(*addresses));
	struct dwarf_line_row *rows = calloc(CODE_END, sizeof(*rows));
	struct buf section = make_section(m->kind, &m->program, &offset);
	const struct dwarf_line_sections sections = sections_of(&section);
	struct dwarf_lines l;
	size_t n = 0, found = 0;
	struct row want = { 0 };

	assert_non_null(addresses);
	assert_non_null(rows);
	for (uint64_t a = 0; a < 0x8000; a += 1 + (uint64_t)rand() % 3)
		addresses[n++] = a;
	assert_int_equal(dwarf_lines_read(&sections, offset, &l), 0);
	assert_true(dwarf_lines_find(&l, code, 1, addresses, n, rows));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].found, model_find(m, addresses[i], &want));
		if (rows[i].found) {
			assert_int_equal(rows[i].line, want.line);
			assert_int_equal(rows[i].file, want.file);
		}
		found += rows[i].found;
	}
	assert_true(found > 10);
	dwarf_lines_done(&l);
	buf_done(&section);
	free(addresses);
	free(rows);
}

static void
model_fill(struct model *m, const struct kind *k)
{
	*m = (struct model){ .kind = k, .file = 1, .line = 1 };
	buf_init(&m->program);
	/* Dropped code is at 0, or where no code is. */
	for (size_t sequence = 0; sequence < 5; sequence++) {
		model_address(m,
			      (const uint64_t[]){ 0x1000, 0, 0x5000, UINT64_MAX - 0xfffff,
						  0x3000 }[sequence]);
		model_row(m, false);
		buf_u8(&m->program, DW_LNS_copy);
		for (size_t i = 0; i < 20; i++)
			model_step(m);
		model_advance(m, 4);
		buf_u8(&m->program, DW_LNS_advance_pc);
		put_uleb(&m->program, 4);
		model_end(m);
	}
	assert_false(buf_failed(&m->program));
}

static void
test_versions(void **state)
{
	struct model m;

	(void)state;
	for (unsigned int round = 0; round < 50; round++)
		for (unsigned int version = 2; version <= 5; version++) {
			const struct kind k = { version, round & 1, (uint8_t)(1 + round % 4),
						(uint8_t)(1 + round / 4 % 3) };

			srand(round * 4 + version);
			model_fill(&m, &k);
			compare(&m);
			buf_done(&m.program);
		}
}

static void
assert_path(const struct dwarf_lines *l, uint64_t file, const char *comp_dir, const char *want)
{
	struct buf path;

	buf_init(&path);
	assert_true(dwarf_lines_path(l, file, comp_dir, &path));
	assert_string_equal((const char *)path.p, want);
	buf_done(&path);
}

static void
test_paths(void **state)
{
	struct buf program, section, path;
	struct dwarf_lines l;
	uint64_t offset;

	(void)state;
	buf_init(&program);
	buf_init(&path);
	for (unsigned int version = 2; version <= 5; version++) {
		const struct kind k = { version, false, 1, 1 };
		const unsigned int base = version < 5;

		section = make_section(&k, &program, &offset);
		assert_int_equal(dwarf_lines_read(
					 &(struct dwarf_line_sections){
						 .line = buf_span(&section),
						 .line_str = span_of(line_str, sizeof(line_str)) },
					 offset, &l),
				 0);
		assert_path(&l, base + 0, "/build", "/build/main.c");
		assert_path(&l, base + 1, "/build/", "/usr/include/head.h");
		assert_path(&l, base + 2, "/build", "/else/where.c");
		if (version < 5)
			assert_path(&l, 1, NULL, "main.c");
		assert_false(dwarf_lines_path(&l, base + 3, "/build", &path));
		assert_false(dwarf_lines_path(&l, UINT64_MAX, "/build", &path));
		if (version < 5)
			assert_false(dwarf_lines_path(&l, 0, "/build", &path));
		dwarf_lines_done(&l);
		buf_done(&section);
	}
}

/* A copy of exactly these bytes, so that a sanitizer sees what is read behind them. */
static void
run_copy(const struct buf *section, size_t len, size_t at, uint8_t value, uint64_t offset)
{
	uint8_t *bytes = malloc(len ? len : 1);
	uint64_t addresses[] = { 0x1000, 0x1010, 0x3000, 0x5004 };
	struct dwarf_line_row rows[4] = { 0 };
	struct dwarf_lines l;
	struct buf path;

	assert_non_null(bytes);
	memcpy(bytes, section->p, len);
	if (at < len)
		bytes[at] = value;
	const struct dwarf_line_sections s = { .line = span_of(bytes, len),
					       .line_str = span_of(line_str, sizeof(line_str)) };

	buf_init(&path);
	if (dwarf_lines_read(&s, offset, &l) == 0) {
		(void)dwarf_lines_find(&l, code, 1, addresses, 4, rows);
		for (size_t i = 0; i < 4; i++)
			if (rows[i].found)
				(void)dwarf_lines_path(&l, rows[i].file, "/build", &path);
	}
	dwarf_lines_done(&l);
	buf_done(&path);
	free(bytes);
}

static void
test_damage(void **state)
{
	static const uint8_t values[] = { 0, 1, 2, 0x7f, 0x80, 0xff };
	struct dwarf_lines l;
	struct buf section;
	struct model m;
	uint64_t offset;

	(void)state;
	for (unsigned int version = 2; version <= 5; version++) {
		const struct kind k = { version, version == 3, 1, 1 };

		srand(version);
		model_fill(&m, &k);
		section = make_section(&k, &m.program, &offset);
		for (size_t i = 0; i < section.len; i++) {
			for (size_t v = 0; v < sizeof(values); v++)
				run_copy(&section, section.len, i, values[v], offset);
			run_copy(&section, i, SIZE_MAX, 0, offset);
			/* Its length is wrong: nothing is read of it. */
			const struct dwarf_line_sections cut = {
				.line = span_of(section.p, i),
				.line_str = span_of(line_str, sizeof(line_str))
			};
			assert_int_equal(dwarf_lines_read(&cut, offset, &l), -FMT_E_CORRUPT);
			dwarf_lines_done(&l);
		}
		assert_int_equal(dwarf_lines_read(&(struct dwarf_line_sections){ 0 }, UINT64_MAX,
						  &l),
				 -FMT_E_CORRUPT);
		buf_done(&section);
		buf_done(&m.program);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests_name("dwarf_lines", tests, NULL, NULL);
}
