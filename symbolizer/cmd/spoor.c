/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spoor's main: finds the subcommand, gives it its arguments, and at the end makes sure that
 * what it printed has arrived.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/nearest.h"
#include "format/bytes/option_wrong.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/cmd/perf_commands.h"
#include "symbolizer/text/screen_text.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
#define X(name, help) { #name, cmd_##name, help },
	CMD_COMMANDS(X)
#undef X
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int
unknown_command(const char *name)
{
	const char *instead = perf_commands_instead(name);
	struct nearest n;

	if (instead)
		return cli_usage_error(NULL, "no command '%s': %s", name, instead);
	nearest_init(&n, name);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		nearest_offer(&n, commands[i].name);
	if (n.best)
		return cli_usage_error(NULL, "no command '%s'; did you mean '%s'?", name, n.best);
	return cli_usage_error(NULL, "no command '%s'", name);
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static void
print_overview(void)
{
	printf("usage: spoor [--no-pager] [--color WHEN] COMMAND [ARGUMENTS]\n\n"
	       "Samples what a Linux host is doing, and says where the time went.\n\n"
	       "commands:\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("  %-10s %s\n\n", "help", "the options of a command");
	printf("options:\n"
	       "  --no-pager     print straight to the terminal\n"
	       "  --color WHEN   auto, always or never\n"
	       "  --version      print the version\n"
	       "  -h, --help     print this\n\n"
	       "`spoor COMMAND --help` says more; `man spoor-COMMAND` says all.\n");
}

static int
run_help(int argc, char **argv)
{
	static char help[] = "--help";
	const struct command *command;

	if (argc < 2) {
		print_overview();
		return EXIT_DONE;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return command->run(2, (char *[]){ argv[1], help, NULL });
}

static int
spoor_run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "no-pager", no_argument, NULL, 'P' },
		{ "color", required_argument, NULL, 'C' },
		{ NULL, 0, NULL, 0 },
	};
	const struct command *command;
	char wrong[OPTION_WRONG_BYTES];
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:hV", longs, NULL)) != -1) {
		if (c == 'h') {
			print_overview();
			return EXIT_DONE;
		} else if (c == 'V') {
			puts("spoor " SPOOR_VERSION);
			return EXIT_DONE;
		} else if (c == 'P') {
			pager_disable();
		} else if (c == 'C') {
			if (!cli_set_color(optarg))
				return cli_usage_error(NULL, "--color %s: auto, always or never",
						       optarg);
		} else {
			option_wrong_text(c, argv, longs, wrong, sizeof(wrong));
			return cli_usage_error(NULL, "%s", wrong);
		}
	}
	argc -= optind;
	argv += optind;
	optind = 0; /* the command's own getopt_long() starts afresh */
	if (argc == 0)
		return cli_usage_error(NULL, "what should it do? record, report...");
	if (strcmp(argv[0], "help") == 0)
		return run_help(argc, argv);
	command = find_command(argv[0]);
	if (!command)
		return unknown_command(argv[0]);
	return command->run(argc, argv);
}

/* What was printed has arrived, or that is said and the status tells. */
static int
finish_stdout(int status)
{
	if (pager_finish() == 0)
		return status;
	errno = 0;
	/* What failed before has forgotten why: it fails again, and says so. */
	if (ferror(stdout) && write(STDOUT_FILENO, "\n", 1) > 0)
		errno = EIO;
	else if (fflush(stdout) == 0 && !ferror(stdout) && (fclose(stdout) == 0))
		return status;
	if (errno != EPIPE)
		screen_text_warn("standard output: %s", strerror(errno ? errno : EIO));
	return status == EXIT_DONE ? EXIT_FAILED : status;
}

int
main(int argc, char **argv)
{
	/* With 0, 1 or 2 closed, a file opened later would become the standard output. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return EXIT_FAILED;
	/* Names are UTF-8 whatever the locale says, and numbers keep their dot. */
	setlocale(LC_CTYPE, "C.UTF-8");
	cli_look_at_screen();
	return finish_stdout(spoor_run(argc, argv));
}
