/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/log.h"
#include "daemon/process/log_kept.h"
#include "recorder/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct capture {
	FILE *file;
	int saved;
};

static void
capture_begin(struct capture *c)
{
	c->file = tmpfile();
	assert_non_null(c->file);
	c->saved = dup(STDERR_FILENO);
	assert_true(dup2(fileno(c->file), STDERR_FILENO) >= 0);
}

static void
capture_end(struct capture *c, char *out, size_t size)
{
	ssize_t n = pread(fileno(c->file), out, size - 1, 0);

	assert_true(n >= 0);
	out[n] = '\0';
	assert_true(dup2(c->saved, STDERR_FILENO) >= 0);
	close(c->saved);
	fclose(c->file);
}

static void
test_person(void **state)
{
	struct capture c;
	char got[4096];

	unsetenv("JOURNAL_STREAM");
	capture_begin(&c);
	errno = ENOSPC;
	log_error("%s: %d", "disk", 5);
	log_info("x");
	capture_end(&c, got, sizeof(got));
	assert_string_equal(got, "spoord: disk: 5\nspoord: x\n");
}

static void
test_errno(void **state)
{
	struct capture c;
	char got[4096];
	int after;

	capture_begin(&c);
	close(STDERR_FILENO);
	errno = ENOSPC;
	log_error("nobody hears this");
	after = errno;
	capture_end(&c, got, sizeof(got));
	assert_int_equal(after, ENOSPC);
	assert_string_equal(got, "");
}

static void
test_journal(void **state)
{
	struct capture c;
	char got[4096], stream[64];
	struct stat st;

	capture_begin(&c);
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_error("a");
	log_warning("b");
	log_notice("c");
	log_info("d");
	/* Inherited from a service, but stderr is not its stream any more. */
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_info("e");
	setenv("JOURNAL_STREAM", "nonsense", 1);
	log_info("f");
	capture_end(&c, got, sizeof(got));
	unsetenv("JOURNAL_STREAM");
	assert_string_equal(got, "<3>a\n<4>b\n<5>c\n<6>d\nspoord: e\nspoord: f\n");
}

static void
test_escape(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "two\nlines\x1b[31m", "two\\x0alines\\x1b[31m" },
		{ "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80",
		  "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80" },
		{ "\xc2\x9b", "\\xc2\\x9b" },	       /* C1: CSI */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" }, /* right to left */
		{ "\xff\xc0\x80\xed\xa0\x80", "\\xff\\xc0\\x80\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond Unicode */
		{ "cut\xe6\x97", "cut\\xe6\\x97" },
		{ "\x7f\\", "\\x7f\\" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct capture c;
		char got[4096], want[200];

		capture_begin(&c);
		log_info("%s", rows[i].text);
		capture_end(&c, got, sizeof(got));
		snprintf(want, sizeof(want), "spoord: %s\n", rows[i].want);
		assert_string_equal(got, want);
	}
}

/* Cut, but one line, and whole escapes. */
static void
test_long(void **state)
{
	struct capture c;
	char got[8192], *text = malloc(100001);

	memset(text, '\x01', 100000);
	text[100000] = '\0';
	capture_begin(&c);
	log_info("%s", text);
	capture_end(&c, got, sizeof(got));
	free(text);
	assert_true(strlen(got) > 1900 && strlen(got) <= 2048);
	assert_ptr_equal(strchr(got, '\n'), got + strlen(got) - 1);
	assert_memory_equal(got + strlen(got) - 5, "\\x01", 4);
}

/* Who asks later gets the last of each kind, the oldest first. */
static void
test_kept(void **state)
{
	struct capture c;
	char got[8192], line[LOG_KEPT_BYTES];

	capture_begin(&c);
	for (int i = 0; i < LOG_KEPT + 3; i++) {
		log_warning("%s\n%c", "warning", 'a' + i);
		log_notice("notice");
	}
	log_error("an error");
	capture_end(&c, got, sizeof(got));
	for (size_t i = 0; i < LOG_KEPT; i++) {
		assert_true(log_kept(i, line));
		/* "2026-11-22T12:03:10Z " */
		assert_int_equal(strspn(line, "0123456789-T:Z"), 20);
		snprintf(got, sizeof(got), i < LOG_KEPT - 1 ? "warning\\x0a%c" : "an error",
			 (char)('a' + i + 4));
		assert_string_equal(line + 21, got);
	}
	assert_false(log_kept(LOG_KEPT, line));
}

static size_t
kept_with(const char *words, char line[LOG_KEPT_BYTES])
{
	char one[LOG_KEPT_BYTES];
	size_t n = 0;

	for (size_t i = 0; log_kept(i, one); i++) {
		if (!strstr(one, words))
			continue;
		n++;
		memcpy(line, one, sizeof(one));
	}
	return n;
}

/* log_flood: every kind is remembered by itself, with its number, and no user fills the places of all. */
static void
test_kept_of_users(void **state)
{
	static const char kinds[] = "abcdefgh";
	struct capture c;
	char got[65536], line[LOG_KEPT_BYTES] = "";

	capture_begin(&c);
	for (int i = 0; i < 5; i++) {
		log_warning("a disk is slow: %d", i);
		log_error("no memory");
	}
	for (uint32_t uid = 1000; uid < 1100; uid++)
		for (const char *k = kinds; *k; k++)
			for (int i = 0; i < 10; i++)
				log_user_warning(uid, 1, "%s%c%s %u", "kind ", *k, " user",
						 (unsigned)uid);
	capture_end(&c, got, sizeof(got));
	assert_int_equal(kept_with("kind ", line), LOG_KEPT / 2);
	assert_int_equal(kept_with("user 1099", line), LOG_KEPT_EACH);
	assert_non_null(strstr(line, "kind h user 1099 (10 times since 2"));
	assert_int_equal(kept_with("no memory", line), 1);
	assert_non_null(strstr(line, "Z no memory (5 times since 2"));
	assert_int_equal(kept_with("a disk", line), 1);
	assert_non_null(strstr(line, "a disk is slow: 4 (5 times since 2"));
}

static unsigned int
lines_with(const char *text, const char *words)
{
	unsigned int n = 0;

	for (; (text = strstr(text, words)); text++)
		n++;
	return n;
}

/* log_flood: of each kind and user so many lines a minute; the others are told by their number. */
static void
test_limits(void **state)
{
	struct capture c;
	char got[65536];

	capture_begin(&c);
	for (int i = 0; i < 100; i++) {
		log_notice("ours: %d", i);
		log_user_info(2000, 1, "a file %d of user %u", i, 2000u);
		log_user_info(2001, 5, "a file %d of user %u", i, 2001u);
		log_user_info(0, 1, "a file %d of root", i);
	}
	capture_end(&c, got, sizeof(got));
	assert_int_equal(lines_with(got, "ours: "), LOG_A_MINUTE);
	assert_int_equal(lines_with(got, "of user 2000"), 1);
	assert_int_equal(lines_with(got, "of user 2001"), 5);
	capture_begin(&c);
	log_tick(host_now_ns());
	capture_end(&c, got, sizeof(got));
	assert_string_equal(got, "");
	capture_begin(&c);
	log_tick(host_now_ns() + UINT64_C(60000000000));
	log_user_info(2000, 1, "a file %d of user %u", 100, 2000u);
	capture_end(&c, got, sizeof(got));
	assert_non_null(strstr(got,
			       "spoord: a file 99 of user 2000 (99 lines like this in a minute, of "
			       "which this is the last)\n"));
	assert_non_null(strstr(got, "ours: 99 (80 lines like this"));
	assert_int_equal(lines_with(got, "of user 2000"), 1);
}

/* log_flood: users without end, each with kinds of his own, leave room for what is no user's. */
static void
test_many_users(void **state)
{
	struct capture c;
	char got[65536];

	capture_begin(&c);
	for (uint32_t uid = 5000; uid < 5300; uid++)
		for (int i = 0; i < 10; i++)
			log_user_info(uid, 1, "many: user %u", (unsigned)uid);
	log_info("still heard");
	capture_end(&c, got, sizeof(got));
	assert_in_range(lines_with(got, "many: "), 2, 33);
	assert_int_equal(lines_with(got, "still heard"), 1);
}

int
main(void)
{
	/* Limits first: the others fill the places of kinds. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),	      cmocka_unit_test(test_many_users),
		cmocka_unit_test(test_person),	      cmocka_unit_test(test_errno),
		cmocka_unit_test(test_journal),	      cmocka_unit_test(test_escape),
		cmocka_unit_test(test_long),	      cmocka_unit_test(test_kept),
		cmocka_unit_test(test_kept_of_users),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
