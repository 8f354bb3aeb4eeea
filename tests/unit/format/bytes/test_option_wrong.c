/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "format/bytes/option_wrong.h"

static void
expect(char *typed, const char *words)
{
	static char name[] = "program";
	static const struct option longs[] = {
		{ "percentage", required_argument, NULL, 'P' },
		{ "percent-limit", required_argument, NULL, 0x100 },
		{ "call-graph", optional_argument, NULL, 0x101 },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	char *argv[] = { name, typed, NULL };
	char text[160], cut[12];
	int c;

	opterr = 0;
	optind = 0;
	c = getopt_long(2, argv, ":P:j", longs, NULL);
	assert_true(c == '?' || c == ':');
	option_wrong_text(c, argv, longs, text, sizeof(text));
	assert_string_equal(text, words);
	option_wrong_text(c, argv, longs, cut, sizeof(cut));
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	assert_memory_equal(cut, words, sizeof(cut) - 1);
}

static void
words(void **state)
{
	char typed[][128] = { "--callgraph",	"--call-grpah=dwarf", "--per", "--percentage",
			      "--json=pretty",	"--frequency",	      "-x",    "-P",
			      "--no-such=--per" };

	(void)state;
	expect(typed[0], "unknown option '--callgraph'; did you mean --call-graph?");
	expect(typed[1], "unknown option '--call-grpah=dwarf'; did you mean --call-graph?");
	expect(typed[2], "'--per' can be any of --percentage or --percent-limit");
	expect(typed[3], "--percentage needs an argument");
	expect(typed[4], "'--json=pretty': this option takes no argument");
	expect(typed[5], "unknown option '--frequency'");
	expect(typed[6], "unknown option '-x'");
	expect(typed[7], "-P needs an argument");
	expect(typed[8], "unknown option '--no-such=--per'");
}

static void
tasks(void **state)
{
	static const struct {
		const char *typed;
		char letter;
		const char *words;
	} of[] = {
		{ "nginx", 'p',
		  "'nginx' is not the number of a process; by name: -p $(pgrep -d, nginx)" },
		{ "php8.2-fpm", 't',
		  "'php8.2-fpm' is not the number of a thread; by name: -t $(pgrep -w -d, php8.2-fpm)" },
		{ "systemd-journald", 'p',
		  "'systemd-journald' is not the number of a process; by name: -p $(pgrep -d, -f "
		  "systemd-journald)" },
		{ "0", 'p', "'0' is not the number of a process" },
		{ "", 'p', "'' is not the number of a process" },
		{ "--duration", 'p', "'--duration' is not the number of a process" },
		{ "$(reboot)", 'p', "'$(reboot)' is not the number of a process" },
		{ "a b", 't', "'a b' is not the number of a thread" },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		option_wrong_task_text(of[i].typed, of[i].letter, text, sizeof(text));
		assert_string_equal(text, of[i].words);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
