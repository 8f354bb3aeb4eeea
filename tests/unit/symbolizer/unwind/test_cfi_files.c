/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every row of every FDE of real files, read at once and, where there is a table, as they are asked for, against what
 * readelf makes of them. CFI_FILES: the paths
 * of others, with blanks between them, in place of those; CFI_TABLE: these have a table.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/unwind/cfi.h"
#include "tests/lab/elf_lab.h"

#define COLUMNS_MAX 40

#define NAMES CFI_REGISTERS

/* Names of readelf by DWARF number; "ra" is the column of return addresses. */
static const char *const x86_names[NAMES] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
					      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
					      "r12", "r13", "r14", "r15", "ra" };
static const char *const arm_names[NAMES] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "ra",  "sp",
};
static const char *const *names = x86_names;

/* NAMES: it is followed by nobody. */
static size_t
number_of(const char *name)
{
	size_t i = 0;

	while (i < NAMES && (!names[i] || strcmp(names[i], name) != 0))
		i++;
	return i;
}

/* As readelf writes a place. */
static void
place_text(const struct cfi_place *p, bool is_cfa, char out[32])
{
	switch (p->how) {
	case CFI_UNDEFINED:
		snprintf(out, 32, "u");
		break;
	case CFI_AT_CFA:
		snprintf(out, 32, "c%+" PRId32, p->offset);
		break;
	case CFI_IS_CFA:
		snprintf(out, 32, "v%+" PRId32, p->offset);
		break;
	case CFI_REGISTER:
		assert_true(p->reg < NAMES);
		if (is_cfa)
			snprintf(out, 32, "%s%+" PRId32, names[p->reg], p->offset);
		else
			snprintf(out, 32, "%s", names[p->reg]);
		break;
	case CFI_AT_EXPRESSION:
		snprintf(out, 32, "exp");
		break;
	default:
		snprintf(out, 32, is_cfa ? "exp" : "vexp");
	}
}

struct oracle {
	struct cfi *cfi;
	struct cfi *opened; /* NULL: it has no table */
	bool is_eh, in_fde;
	uint64_t end;
	size_t columns[COLUMNS_MAX], nr_columns;
	char cells[COLUMNS_MAX][32]; /* of the last row, which holds up to the next one */
	uint64_t from;
	bool has_row;
	uint64_t rows, fdes, wrong;
};

static bool
same_rule_of(const struct oracle *o, struct cfi *cfi, uint64_t pc)
{
	const char *of[NAMES + 1] = { NULL };
	struct cfi_rule rule;
	uint32_t number;
	char text[32];

	if (cfi_find(cfi, pc, &number) != 1)
		return false;
	rule = cfi_rule(cfi, number);
	for (size_t i = 0; i < o->nr_columns; i++)
		of[o->columns[i]] = o->cells[i + 1];
	for (size_t i = 0; i < rule.nr; i++) {
		struct cfi_place p = cfi_rule_place(&rule, i);
		const char *theirs = i == 0 ? o->cells[0] : p.target < NAMES ? of[p.target] : NULL;

		place_text(&p, i == 0, text);
		if (!theirs || strcmp(theirs, text) != 0)
			return false;
		if (i > 0)
			of[p.target] = NULL;
	}
	/* What we have nothing of has nothing to be had. */
	for (size_t i = 0; i < NAMES; i++)
		if (of[i] && strcmp(of[i], "u") != 0 && strcmp(of[i], "s") != 0)
			return false;
	return true;
}

static bool
same_rule(const struct oracle *o, uint64_t pc)
{
	return same_rule_of(o, o->cfi, pc) && (!o->opened || same_rule_of(o, o->opened, pc));
}

static void
row_over(struct oracle *o, uint64_t to)
{
	if (!o->has_row || to <= o->from)
		return;
	o->rows++;
	if (same_rule(o, o->from) && same_rule(o, to - 1))
		return;
	if (o->wrong++ < 5)
		fprintf(stderr, "# other rule at %" PRIx64 ", CFA %s\n", o->from, o->cells[0]);
}

static void
read_columns(struct oracle *o, char *line)
{
	char *save = NULL;

	o->nr_columns = 0;
	for (char *w = strtok_r(line, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
		if (strcmp(w, "LOC") != 0 && strcmp(w, "CFA") != 0) {
			assert_true(o->nr_columns < COLUMNS_MAX - 1);
			o->columns[o->nr_columns++] = number_of(w);
		}
}

static void
read_row(struct oracle *o, char *line)
{
	char *save = NULL, *w = strtok_r(line, " \n", &save);
	uint64_t pc = strtoull(w, NULL, 16);

	if (!o->in_fde)
		return;
	row_over(o, pc);
	for (size_t i = 0; i <= o->nr_columns; i++) {
		w = strtok_r(NULL, " \n", &save);
		/* A register that holds it: "r5 (rdi)". */
		if (w && save && *save == '(') {
			w = strtok_r(NULL, " \n", &save) + 1;
			w[strcspn(w, ")")] = '\0';
		}
		snprintf(o->cells[i], sizeof(o->cells[i]), "%s", w ? w : "?");
	}
	o->from = pc;
	o->has_row = true;
}

static void
read_line(struct oracle *o, char *line)
{
	const char *pc = strstr(line, " pc=");
	uint64_t start;

	if (strstr(line, " FDE ") && pc) {
		o->has_row = false;
		o->in_fde = sscanf(pc, " pc=%" SCNx64 "..%" SCNx64, &start, &o->end) == 2;
		o->fdes++;
	} else if (strstr(line, " CIE ")) {
		o->in_fde = false;
	} else if (strncmp(line, "   LOC", 6) == 0) {
		read_columns(o, line);
	} else if (strspn(line, "0123456789abcdef") == 16 && line[16] == ' ') {
		read_row(o, line);
	} else if (line[0] == '\n' && o->in_fde) {
		row_over(o, o->end);
		o->in_fde = false;
	}
}

static void
compare(const char *path, uint64_t least_fdes, bool has_table)
{
	struct elf_object *elf = elf_lab_open(path);
	struct oracle o = { 0 };
	char line[1024];
	FILE *f;

	assert_int_equal(cfi_new(elf, NULL, &o.cfi), 0);
	assert_int_equal(cfi_open(elf, SIZE_MAX, NULL, &o.opened), has_table ? 0 : -FMT_E_EMPTY);
	elf_object_close(elf);
	names = cfi_arch(o.cfi)->link_register ? arm_names : x86_names;
	f = lab_output("readelf -wNF '%s' 2>/dev/null", path);
	while (fgets(line, sizeof(line), f))
		read_line(&o, line);
	row_over(&o, o.end);
	assert_int_equal(pclose(f), 0);
	fprintf(stderr,
		"# %s: %" PRIu64 " FDEs, %" PRIu64 " rows, %" PRIu64 " other; %zu and %zu KiB\n",
		path, o.fdes, o.rows, o.wrong, cfi_bytes(o.cfi) >> 10,
		o.opened ? cfi_bytes(o.opened) >> 10 : 0);
	assert_int_equal(o.wrong, 0);
	assert_true(o.fdes >= least_fdes);
	cfi_free(o.cfi);
	cfi_free(o.opened);
}

/* Path of a library that this program has loaded. */
static const char *
loaded(const char *name)
{
	static char path[512];
	char line[600];
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, name) && sscanf(line, "%*s %*s %*s %*s %*s %511s", path) == 1;
	fclose(f);
	return found ? path : NULL;
}

static void
test_libraries(void **state)
{
	const char *libc = loaded("/libc.so"), *loader;

	assert_non_null(libc);
	compare(libc, 1000, true);
	loader = loaded("/ld-linux");
	assert_non_null(loader);
	compare(loader, 100, true);
}

static void
test_cxx(void **state)
{
	FILE *f = lab_output("${CXX:-g++} -print-file-name=libstdc++.so.6");
	char path[512] = "";

	assert_non_null(fgets(path, sizeof(path), f));
	pclose(f);
	path[strcspn(path, "\n")] = '\0';
	if (path[0] != '/')
		skip();
	compare(path, 1000, true);
}

/* Go has .debug_frame and no .eh_frame, and packs it. */
static void
test_go(void **state)
{
	static const char source[] =
		"package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }\n";

	if (system("command -v go >/dev/null 2>&1") != 0)
		skip();
	elf_lab_write(lab_path("m.go"), source, strlen(source));
	lab_run("HOME=\"$PWD\" GOCACHE=\"$PWD/cache\" GOFLAGS=-modcacherw go build -o m.exe m.go");
	compare(lab_path("m.exe"), 1000, false);
}

/* Without section headers .eh_frame is found by .eh_frame_hdr, and ends at its terminator. */
static void
compare_bare(const char *path)
{
	struct elf_object *elf = elf_lab_open(path);
	struct cfi_function f, g;
	struct cfi *whole, *bare;
	size_t size, nr = 0;
	uint8_t *bytes = lab_read(path, &size);

	assert_int_equal(cfi_new(elf, NULL, &whole), 0);
	elf_object_close(elf);
	memset(bytes + 0x28, 0, 8); /* e_shoff */
	memset(bytes + 0x3c, 0, 4); /* e_shnum, e_shstrndx */
	assert_int_equal(elf_object_open_memory(bytes, size, &elf), 0);
	assert_int_equal(cfi_new(elf, NULL, &bare), 0);
	elf_object_close(elf);
	for (; cfi_function(whole, nr, &f); nr++) {
		assert_true(cfi_function(bare, nr, &g));
		assert_true(f.start == g.start && f.end == g.end && f.offset == g.offset);
	}
	assert_true(nr > 3);
	assert_false(cfi_function(bare, nr, &g));
	cfi_free(whole);
	cfi_free(bare);
	free(bytes);
}

/* What the compiler leaves to the linker: stubs, realigned stacks, other forms of the section. */
static void
test_built(void **state)
{
	static const char source[] =
		"#include <stdio.h>\n#include <string.h>\n#include <alloca.h>\n"
		"typedef double wide __attribute__((vector_size(64)));\n"
		"int realigned(int a, int b, int c, int d, int e, int f, int g, wide *to, int n)\n"
		"{ wide v[n], *u = alloca(n); memset(v, n, sizeof v); *to = v[n / 2];"
		" puts((void *)u); return printf(\"%p\", (void *)v) + a + g; }\n"
		"int main(int c, char **v) { wide w; return realigned(1, 2, 3, 4, 5, 6, c, &w, c); }\n";
	const char *path;

	compare(lab_build("plain", source, 0, "-g"), 4, true);
	compare(lab_build("avx", source, 0, "-mavx512f -fomit-frame-pointer"), 4, true);
	compare(lab_build("debug_frame", source, 0,
			  "-g -gz=zlib -fno-asynchronous-unwind-tables -fno-exceptions"),
		2, false);
	path = lab_keep(lab_path("plain"));
	compare_bare(path);
}

/* Signed return addresses, frames by x29, and what is saved in pairs. */
static void
test_aarch64(void **state)
{
	static const char source[] =
		"int g(int *); void *memset(void *, int, unsigned long);\n"
		"int leaf(int x) { return x * 3; }\n"
		"int room(int n) { int v[n]; memset(v, n, sizeof v); return g(v) + leaf(n); }\n"
		"int large(int a) { volatile char r[9000]; r[a] = 1; return g((int *)&r[3]) + r[5]; }\n"
		"int many(int *p) { int s = 0; for (int i = 0; p[i]; i++) { s += g(p) * p[i + 1] - p[i + 2]"
		" * p[i + 3]; if (s > 9) return g(p + i); } return s; }\n";

	if (system("command -v clang >/dev/null 2>&1 && command -v ld.lld >/dev/null 2>&1") != 0)
		skip();
	elf_lab_write(lab_path("arm.c"), source, strlen(source));
	lab_run("for o in O0 O2 Os; do clang --target=aarch64-linux-gnu -$o -fPIC -mbranch-protection=standard"
		" -fasynchronous-unwind-tables -c arm.c -o arm.o; ld.lld -shared arm.o -o arm.$o; done");
	compare(lab_path("arm.O0"), 4, false);
	compare(lab_path("arm.O2"), 4, false);
	compare(lab_path("arm.Os"), 4, false);
}

static void
test_others(void **state)
{
	char *list = strdup(getenv("CFI_FILES")), *save = NULL;

	for (char *path = strtok_r(list, " ", &save); path; path = strtok_r(NULL, " ", &save))
		compare(path, 1, getenv("CFI_TABLE") != NULL);
	free(list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries), cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_go),	  cmocka_unit_test(test_built),
		cmocka_unit_test(test_aarch64),
	};
	const struct CMUnitTest more[] = { cmocka_unit_test(test_others) };

	if (getenv("CFI_FILES"))
		return cmocka_run_group_tests(more, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
