/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a perf map and of a jitdump is told, when, and how often. The files are temporary ones. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/host/jit_picker.h"

#define TOLD_MAX 64

struct told {
	size_t nr;
	struct jitsym v[TOLD_MAX];
	char names[TOLD_MAX][64];
	size_t longest;
};

static int
take(void *arg, const struct jitsym *s)
{
	struct told *t = arg;

	assert_true(t->nr < TOLD_MAX);
	t->v[t->nr] = *s;
	t->longest = s->name_len > t->longest ? s->name_len : t->longest;
	snprintf(t->names[t->nr++], 64, "%.*s", (int)s->name_len, s->name);
	return 0;
}

static int
temporary(void)
{
	char path[] = "/tmp/spoor-picker.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void
append(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void
want(struct jit_picker *p, uint64_t address)
{
	assert_int_equal(jit_picker_want(p, &address, 1), 0);
}

/* What one read tells, as "NAME@TIME NAME@TIME" */
static const char *
read_map(struct jit_picker *p, int fd, uint64_t complete_ns)
{
	static char text[1024];
	struct told t = { 0 };
	size_t n = 0;

	text[0] = 0;
	assert_int_equal(jit_picker_read(p, fd, NULL, 0, complete_ns, take, &t), 0);
	for (size_t i = 0; i < t.nr; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s@%llu", i ? " " : "",
				      t.names[i], (unsigned long long)t.v[i].time_ns);
	return text;
}

static void
test_map_grows(void **state)
{
	struct jit_picker *p = jit_picker_new();
	int fd = temporary();

	append(fd, "1000 100 a\n1080 10 b\nrubbish\n0x2000 0x10 unhit\n3000 10 cut");
	want(p, 0x1000);
	want(p, 0x1088);
	want(p, 0x5000);
	/* The last line that holds an address names it; one that is not whole may come yet. */
	assert_string_equal(read_map(p, fd, 10), "a@0 b@0");
	assert_string_equal(read_map(p, fd, 20), "");
	want(p, 0x1001);
	want(p, 0x3001);
	assert_string_equal(read_map(p, fd, 30), "");
	/* Over a known one from the last read on; over what had no name, since ever. */
	append(fd, "\n1000 40 c\n5000 10 late\n");
	assert_string_equal(read_map(p, fd, 40), "c@30 cut@30 cut@0 late@30 late@0");
	/* A line that was there before is as old as it is, for whoever asks later. */
	want(p, 0x1030);
	want(p, 0x10f0);
	append(fd, "1000 10 d\n");
	assert_string_equal(read_map(p, fd, 50), "d@40 c@30 a@0");
	/* Another file: all is told again. */
	jit_picker_forget(p);
	want(p, 0x1000);
	assert_string_equal(read_map(p, fd, 60), "d@40");
	jit_picker_free(p);
	close(fd);
}

/* A JVM that is asked again writes all of it anew. */
static void
test_map_written_anew(void **state)
{
	struct jit_picker *p = jit_picker_new();
	int fd = temporary();

	append(fd, "1000 100 first\n");
	want(p, 0x1000);
	assert_string_equal(read_map(p, fd, 10), "first@0");
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	append(fd, "1000 100 other\n2000 100 more\n");
	want(p, 0x2000);
	assert_string_equal(read_map(p, fd, 20), "other@10 more@10");
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_string_equal(read_map(p, fd, 30), "");
	assert_string_equal(read_map(p, -1, 40), "");
	jit_picker_free(p);
	close(fd);
}

/* Longer than a piece that is read at once, in lines and in one line; names have a bound. */
static void
test_map_is_large(void **state)
{
	struct jit_picker *p = jit_picker_new();
	const size_t size = 3 << 20;
	char *text = malloc(size + 1);
	struct told t = { 0 };
	int fd = temporary();
	char line[64];

	assert_non_null(text);
	memset(text, '1', size);
	text[size] = 0;
	for (unsigned i = 0; i < 40000; i++) {
		snprintf(line, sizeof(line), "%x 10 f%u\n", 0x10000 + i * 16, i);
		append(fd, line);
	}
	append(fd, text);
	append(fd, "\n10 10 ");
	text[10000] = 0;
	append(fd, text);
	append(fd, "\n20 10 end\n");
	free(text);
	want(p, 0x10000 + 39999 * 16);
	want(p, 0x10000);
	want(p, 0x18);
	want(p, 0x28);
	assert_int_equal(jit_picker_read(p, fd, NULL, 0, 1, take, &t), 0);
	assert_int_equal(t.nr, 4);
	assert_int_equal(t.longest, 4095);
	assert_string_equal(t.names[1], "end");
	assert_string_equal(t.names[2], "f0");
	assert_string_equal(t.names[3], "f39999");
	jit_picker_free(p);
	close(fd);
}

/* Each line holds each address: what that costs has a bound, and what is told is right as far as it goes. */
static void
test_map_is_hostile(void **state)
{
	struct jit_picker *p = jit_picker_new();
	struct told t = { 0 };
	int fd = temporary();

	for (unsigned i = 0; i < 8192; i++) {
		const uint64_t address = i;

		assert_int_equal(jit_picker_want(p, &address, 1), 0);
	}
	for (unsigned i = 0; i < 20000; i++)
		append(fd, "0 ffffffff x\n");
	assert_int_equal(jit_picker_read(p, fd, NULL, 0, 1, take, &t), 0);
	assert_true(t.nr > 0 && t.nr < 3);
	jit_picker_free(p);
	close(fd);
}

struct load {
	uint32_t id, total;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
	char name[8];
};

static void
append_load(int fd, uint64_t time, uint64_t address, const char *name)
{
	struct load l = { 0, sizeof(l), time, 1, 1, address, address, 0x10, time, "" };

	memcpy(l.name, name, strlen(name));
	assert_int_equal(write(fd, &l, sizeof(l)), sizeof(l));
}

static void
test_dump(void **state)
{
	const uint32_t header[10] = { 0x4a695444, 1, 40 };
	struct jit_picker *p = jit_picker_new();
	struct told t = { 0 };
	int fd = temporary();

	assert_int_equal(write(fd, header, sizeof(header)), sizeof(header));
	append_load(fd, 5, 0x1000, "a");
	append_load(fd, 6, 0x2000, "unhit");
	append_load(fd, 7, 0x1008, "b");
	want(p, 0x1008);
	assert_int_equal(jit_picker_read(p, -1, &fd, 1, 10, take, &t), 0);
	/* All that were ever there, each from its time on. */
	assert_int_equal(t.nr, 2);
	assert_int_equal(t.v[0].time_ns + t.v[1].time_ns, 5 + 7);
	append_load(fd, 12, 0x1000, "c");
	want(p, 0x2001);
	t.nr = 0;
	assert_int_equal(jit_picker_read(p, -1, &fd, 1, 20, take, &t), 0);
	assert_int_equal(t.nr, 2);
	assert_string_equal(t.names[0], "c");
	assert_string_equal(t.names[1], "unhit");
	assert_int_equal(t.v[0].time_ns, 12);
	assert_true(t.v[0].order > t.v[1].order);
	jit_picker_free(p);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_grows),    cmocka_unit_test(test_map_written_anew),
		cmocka_unit_test(test_map_is_large), cmocka_unit_test(test_map_is_hostile),
		cmocka_unit_test(test_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
