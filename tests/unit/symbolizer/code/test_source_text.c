/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which file is the source, which must not be shown, and its lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbolizer/code/source_text.h"
#include "tests/lab/elf_lab.h"

#define STRANGER 54321 /* whose programs name files */

/* The line as it is shown; NULL: it is not. Of a name that is kept. */
static const char *
shown(const struct source_places *places, const char *name, uid_t named_by, uint32_t line)
{
	static char text[SOURCE_TEXT_LINE_MAX + 1];
	struct source_text *s = source_text_new(places);
	struct source_file f;
	const char *bytes;
	size_t len;
	int got;

	assert_non_null(s);
	got = source_text_line(s, name, named_by, line, &bytes, &len);
	assert_in_range(got, 0, 1);
	assert_true(source_text_file(s, 0, &f));
	assert_false(source_text_file(s, 1, &f));
	assert_ptr_equal(f.name, name);
	assert_false(got && f.why);
	if (got) {
		assert_in_range(len, 0, SOURCE_TEXT_LINE_MAX);
		memcpy(text, bytes, len);
		text[len] = '\0';
	}
	source_text_free(s);
	return got ? text : NULL;
}

/* A directory and its ancestors that everybody may come to. */
static int
make_directory(void **state)
{
	lab_run("chmod 755 . && mkdir -p src/deep shut other && echo outside >secret.c &&"
		"printf 'one\\n\\ttwo\\r\\n\\nfour' >src/a.c && : >src/empty.c && echo x >src/deep/b.c &&"
		"cp src/a.c shut/ && chmod 700 shut && cp src/a.c other/ && cp src/a.c src/notes &&"
		"cp src/a.c src/private.c && cp src/a.c src/private && chmod 600 src/private*");
	return 0;
}

static void
lines(void **state)
{
	const struct source_places none = { 0 };
	const char *a = lab_keep(lab_path("src/a.c"));

	assert_string_equal(shown(&none, a, STRANGER, 1), "one");
	assert_string_equal(shown(&none, a, STRANGER, 2), "\ttwo");
	assert_string_equal(shown(&none, a, STRANGER, 3), "");
	assert_string_equal(shown(&none, a, STRANGER, 4), "four");
	assert_null(shown(&none, a, STRANGER, 5));
	assert_null(shown(&none, a, STRANGER, 0));
	assert_null(shown(&none, a, STRANGER, UINT32_MAX));
	assert_null(shown(&none, lab_keep(lab_path("src/empty.c")), STRANGER, 1));
}

static void
long_lines(void **state)
{
	const struct source_places none = { 0 };

	lab_run("head -c 5000 /dev/zero | tr '\\0' x >src/long.c");
	assert_int_equal(strlen(shown(&none, lab_keep(lab_path("src/long.c")), STRANGER, 1)),
			 SOURCE_TEXT_LINE_MAX);
}

static void
not_for_everybody(void **state)
{
	const struct source_places none = { 0 },
				   given = { .given = { lab_keep(lab_path("src")) },
					     .nr_given = 1 };
	const char *private = lab_keep(lab_path("src/private.c"));
	const char *shut = lab_keep(lab_path("shut/a.c"));

	assert_null(shown(&none, private, STRANGER, 1));
	assert_string_equal(shown(&none, private, geteuid(), 1), "one");
	/* Everybody may read the file, but nobody else may come to it. */
	assert_null(shown(&none, shut, STRANGER, 1));
	assert_string_equal(shown(&none, shut, geteuid(), 1), "one");
	/* Its owner's, but not called as source is; what everybody may read needs no such name. */
	assert_null(shown(&none, lab_keep(lab_path("src/private")), geteuid(), 1));
	assert_string_equal(shown(&none, lab_keep(lab_path("src/notes")), STRANGER, 1), "one");
	/* The reader says that it is source. */
	assert_string_equal(shown(&given, private, STRANGER, 1), "one");
}

static void
no_file(void **state)
{
	static const char *const names[] = {
		"", "/", "a.c", "/dev/null", "/proc/self/mem", "..", "../src/a.c"
	};
	const struct source_places none = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(shown(&none, names[i], geteuid(), 1));
	lab_run("mkfifo src/fifo.c && mkdir src/dir.c");
	assert_null(shown(&none, lab_keep(lab_path("src/fifo.c")), geteuid(), 1));
	assert_null(shown(&none, lab_keep(lab_path("src/dir.c")), geteuid(), 1));
	assert_null(shown(&(struct source_places){ .none = true }, lab_keep(lab_path("src/a.c")),
			  STRANGER, 1));
}

static void
below_a_directory(void **state)
{
	const char *src = lab_keep(lab_path("src"));
	const struct source_places p = { .given = { src }, .nr_given = 1 };

	assert_string_equal(shown(&p, "/build/x/src/a.c", STRANGER, 1), "one");
	assert_string_equal(shown(&p, "a.c", STRANGER, 1), "one");
	assert_string_equal(shown(&p, "/build/./lib/../deep//b.c", STRANGER, 1), "x");
	/* As much of the name as there is. */
	assert_null(shown(&p, "/build/b.c", STRANGER, 1));
	/* Nothing that is beside it. */
	assert_null(shown(&p, "../secret.c", STRANGER, 1));
	assert_null(shown(&p, "deep/../../secret.c", STRANGER, 1));
	assert_null(shown(&p, "/build/../../secret.c", STRANGER, 1));
}

static void
in_place_of_another(void **state)
{
	char *rule = NULL, *root = NULL;
	struct source_places p = { .nr_given = 1 }, all = { .nr_given = 1 };

	assert_true(asprintf(&rule, "/build/x/=%s", lab_path("src")) > 0);
	assert_true(asprintf(&root, "/=%s", lab_path("src")) > 0);
	p.given[0] = rule;
	all.given[0] = root;
	assert_string_equal(shown(&p, "/build/x/a.c", STRANGER, 1), "one");
	assert_string_equal(shown(&p, "/build/x/y/../deep/b.c", STRANGER, 1), "x");
	assert_null(shown(&p, "/build/xy/a.c", STRANGER, 1));
	assert_null(shown(&p, "/build/x/../secret.c", STRANGER, 1));
	assert_null(shown(&p, "/build/x", STRANGER, 1));
	assert_string_equal(shown(&all, "/deep/b.c", STRANGER, 1), "x");
	free(rule);
	free(root);
}

static void
newer(void **state)
{
	const char *a = lab_keep(lab_path("src/a.c"));
	const struct source_places then = { .recorded_ns = 1000000000 };
	struct source_text *s = source_text_new(&then);
	struct source_file f;
	const char *bytes;
	size_t len;

	assert_int_equal(source_text_line(s, a, STRANGER, 1, &bytes, &len), 1);
	assert_int_equal(source_text_line(s, a, STRANGER, 9, &bytes, &len), 0);
	assert_true(source_text_file(s, 0, &f));
	assert_true(f.newer);
	assert_true(f.asked_lines);
	assert_null(f.why);
	source_text_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(not_for_everybody),
		cmocka_unit_test(no_file),
		cmocka_unit_test(below_a_directory),
		cmocka_unit_test(in_place_of_another),
		cmocka_unit_test(newer),
	};

	return cmocka_run_group_tests(tests, make_directory, NULL);
}
