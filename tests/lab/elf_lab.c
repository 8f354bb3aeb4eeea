/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/elf_lab.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

const char lab_program[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"int plain(int x) { return puts(\"x\") + abs(x); }\n"
	"static __attribute__((noinline, used)) int hidden_one(int x)\n"
	"{ char b[64]; memset(b, x, 64); return b[x & 63] + getpid_(x); }\n"
	"extern int weak_one(int) __attribute__((weak, alias(\"plain\")));\n"
	"static int impl(void) { return 7; }\n"
	"static int (*choose(void))(void) { return impl; }\n"
	"int chosen(void) __attribute__((ifunc(\"choose\")));\n"
	"void unused_one(void) { puts(\"never\"); }\n"
	"__asm__(\".text\\n.globl asm_label\\nasm_label: nop; nop; nop; nop\\n\"\n"
	"\".globl asm_func\\n.type asm_func, @function\\n\"\n"
	"\"asm_func: nop; nop; ret\\n.p2align 6\\n\");\n"
	"__attribute__((noreturn, noinline)) void dies(void) { abort(); }\n"
	"__attribute__((noinline)) int caller(int x) { if (x > 3) dies(); return x; }\n"
	"int main(int c, char **v)\n"
	"{ return plain(c) + hidden_one(c) + chosen() + weak_one(c) + caller(c)\n"
	" + (int)strlen(v[0]); }\n";

static char dir[64];

static void
remove_dir(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command) != 0)
		fprintf(stderr, "# %s is left\n", dir);
}

const char *
lab_dir(void)
{
	if (dir[0] == '\0') {
		snprintf(dir, sizeof(dir), "/tmp/spoor-elf.XXXXXX");
		if (mkdtemp(dir) == NULL)
			abort();
		atexit(remove_dir);
	}
	return dir;
}

const char *
lab_keep(const char *s)
{
	static struct kept {
		struct kept *next;
		char s[];
	} * all;
	struct kept *k = malloc(sizeof(*k) + strlen(s) + 1);

	if (k == NULL)
		abort();
	memcpy(k->s, s, strlen(s) + 1);
	k->next = all;
	all = k;
	return k->s;
}

static char *__attribute__((format(printf, 1, 0))) in_dir(const char *format, va_list ap)
{
	char *command = NULL, *whole = NULL;

	if (vasprintf(&command, format, ap) < 0 ||
	    asprintf(&whole, "cd '%s' && export LC_ALL=C && { %s\n}", lab_dir(), command) < 0)
		abort();
	free(command);
	return whole;
}

void
lab_run(const char *format, ...)
{
	va_list ap;
	char *command;

	va_start(ap, format);
	command = in_dir(format, ap);
	va_end(ap);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
	free(command);
}

FILE *
lab_output(const char *format, ...)
{
	va_list ap;
	char *command;
	FILE *f;

	va_start(ap, format);
	command = in_dir(format, ap);
	va_end(ap);
	f = popen(command, "r");
	if (f == NULL)
		fail_msg("failed: %s", command);
	free(command);
	return f;
}

const char *
lab_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", lab_dir(), name);
	return path;
}

const char *
lab_build(const char *name, const char *source, int cxx, const char *flags)
{
	char file[128];

	snprintf(file, sizeof(file), "%s.%s", name, cxx ? "cc" : "c");
	elf_lab_write(lab_path(file), source, strlen(source));
	lab_run("%s -O1 -w -Dgetpid_=abs -fno-inline %s -o %s %s",
		cxx ? "${CXX:-g++}" : "${CC:-gcc}", flags, name, file);
	return lab_path(name);
}

void *
lab_read(const char *path, size_t *ret_size)
{
	struct stat st;
	FILE *f = fopen(path, "re");
	char *bytes;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	*ret_size = fread(bytes, 1, (size_t)st.st_size, f);
	fclose(f);
	return bytes;
}

void
elf_lab_write(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

size_t
lab_nm(const char *path, const char *flags, struct lab_symbol **ret)
{
	FILE *f = lab_output("nm --defined-only %s '%s'", flags, path);
	struct lab_symbol *list = NULL;
	size_t n = 0;
	char line[2048];

	while (fgets(line, sizeof(line), f) != NULL) {
		struct lab_symbol s = { 0 };
		char *version;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %1023s", &s.address, &s.size, &s.type,
			   s.name) != 4) {
			s.size = 0;
			if (sscanf(line, "%" SCNx64 " %c %1023s", &s.address, &s.type, s.name) != 3)
				continue;
		}
		if (strchr("tTwWi", s.type) == NULL)
			continue;
		/* A mark of systemtap's among the data of a static libc; nm's letter does not tell. */
		if (strcmp(s.name, "_.stapsdt.base") == 0)
			continue;
		version = strchr(s.name + 1, '@');
		if (version != NULL)
			*version = '\0';
		list = reallocarray(list, n + 1, sizeof(*list));
		assert_non_null(list);
		list[n++] = s;
	}
	pclose(f);
	*ret = list;
	return n;
}

struct elf_object *
elf_lab_open(const char *path)
{
	struct elf_object *o = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_object_open(fd, &o), 0);
	return o;
}

struct symtab *
lab_symtab_of(struct elf_object *o, struct symtab **ret_stubs)
{
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t = NULL;

	assert_int_equal(elf_object_symbols(o, 0, b), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	if (ret_stubs != NULL) {
		b = symtab_builder_new();
		assert_int_equal(elf_object_plt(o, t, b), 0);
		assert_int_equal(symtab_build(b, ret_stubs), 0);
	}
	return t;
}

struct symtab *
lab_symtab(const char *path, struct symtab **ret_stubs)
{
	struct elf_object *o = elf_lab_open(path);
	struct symtab *t = lab_symtab_of(o, ret_stubs);

	elf_object_close(o);
	return t;
}

void
lab_map(const char *path, uint64_t start, struct map_object *ret_object, struct task_map *ret_map)
{
	struct elf_object *o = elf_lab_open(path);
	const struct elf_segment *s;
	const uint8_t *id;
	size_t nr = elf_object_segments(o, &s), size = elf_object_build_id(o, &id), i = 0;

	while (i < nr && !s[i].exec)
		i++;
	assert_true(i < nr);
	*ret_object = (struct map_object){ .path = lab_keep(path),
					   .build_id = buildid_of(BUILDID_GNU, id, size) };
	*ret_map = (struct task_map){
		.start = start,
		.end = start + s[i].filesz + 8192,
		/* The loader maps whole pages. */
		.pgoff = s[i].offset & ~UINT64_C(4095),
		.prot = 5,
		.object = ret_object,
	};
	elf_object_close(o);
}
