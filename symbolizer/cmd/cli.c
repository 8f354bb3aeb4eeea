/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spoor's main: finds the subcommand, gives it its arguments, and at the end makes sure that
 * what it printed has arrived.
 */
#include "symbolizer/cmd/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/cmd/pager.h"
#include "symbolizer/screen_text.h"

#define OPTIONS_MAX 64
#define HELP_COLUMN 28
#define HELP_WIDTH 80

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
#define X(name, help) { #name, cmd_##name, help },
	CLI_COMMANDS(X)
#undef X
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* What the terminal was before a pager took its place. */
static struct {
	enum color_when color;
	bool terminal;
	int columns;
} screen;

int
cli_usage_error(const char *command, const char *format, ...)
{
	const char *blank = command ? " " : "";
	char *text = NULL;
	va_list ap;

	if (!command)
		command = "";
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	screen_text_print(stderr, screen_text_columns(STDERR_FILENO), "  ",
			  "spoor%s%s: %s (spoor %s%s--help says how)", blank, command,
			  text ? text : "(out of memory)", command, blank);
	free(text);
	return EXIT_USAGE;
}

bool
cli_set_color(const char *when)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++)
		if (strcmp(when, words[i]) == 0) {
			screen.color = (enum color_when)i;
			return true;
		}
	return false;
}

bool
cli_color(void)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (screen.color != COLOR_AUTO)
		return screen.color == COLOR_ALWAYS;
	return screen.terminal && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

int
cli_columns(void)
{
	return screen.columns;
}

static void
look_at_screen(void)
{
	screen.columns = screen_text_columns(STDOUT_FILENO);
	screen.terminal = screen.columns > 0;
}

/* Help is as wide as the terminal, and never wider than text that is meant to be read. */
static int
help_columns(void)
{
	return cli_columns() > 0 && cli_columns() < HELP_WIDTH ? cli_columns() : HELP_WIDTH;
}

static void
print_option(const struct cli_option *o)
{
	char letter[] = { '-', (char)o->letter, ',', ' ', '\0' };
	char indent[HELP_COLUMN + 3], option[64];
	int n;

	snprintf(indent, sizeof(indent), "%*s", HELP_COLUMN + 2, "");
	n = snprintf(option, sizeof(option), "  %s--%s%s%s", o->letter ? letter : "    ", o->name,
		     o->arg ? " " : "", o->arg ? o->arg : "");
	if (n > HELP_COLUMN) {
		puts(option);
		option[0] = '\0';
	}
	screen_text_print(stdout, help_columns(), indent, "%-*s%s", HELP_COLUMN + 2, option,
			  o->help);
}

static void
print_help(const struct cli_syntax *syntax)
{
	static const struct cli_option help = { 'h', 'h', "help", NULL, "print this" };

	printf("usage: spoor %s %s\n\n", syntax->command, syntax->synopsis);
	screen_text_print(stdout, help_columns(), "", "%s", syntax->about);
	printf("\noptions:\n");
	for (const struct cli_option *o = syntax->options; o->name; o++)
		if (o->help)
			print_option(o);
	print_option(&help);
}

static bool
is_optional(const struct cli_option *o)
{
	return o->arg && *o->arg == '[';
}

/* Fills getopt's tables from ours. */
static void
make_getopt(const struct cli_syntax *syntax, struct option *longs, char *letters)
{
	char *l = letters;
	size_t n = 0;

	if (syntax->command_follows)
		*l++ = '+';
	*l++ = ':';
	*l++ = 'h';
	longs[n++] = (struct option){ "help", no_argument, NULL, 'h' };
	for (const struct cli_option *o = syntax->options; o->name && n < OPTIONS_MAX; o++) {
		int takes = !o->arg	 ? no_argument
			: is_optional(o) ? optional_argument
					 : required_argument;

		longs[n++] = (struct option){ o->name, takes, NULL, o->value };
		if (!o->letter)
			continue;
		*l++ = (char)o->letter;
		if (o->arg)
			*l++ = ':';
		if (is_optional(o))
			*l++ = ':';
	}
	longs[n] = (struct option){ NULL, 0, NULL, 0 };
	*l = '\0';
}

static int
bad_option(const struct cli_syntax *syntax, int why, char **argv)
{
	const char *arg = optind > 0 ? argv[optind - 1] : "";
	char letter[3] = { '-', (char)optopt, '\0' };

	/* getopt leaves the letter in optopt, and 0 or a long option's value for a word */
	if (optopt > 0 && optopt < 256 && strncmp(arg, "--", 2) != 0)
		arg = letter;
	if (why == ':')
		return cli_usage_error(syntax->command, "%s needs an argument", arg);
	if (optopt != 0 && strncmp(arg, "--", 2) == 0)
		return cli_usage_error(syntax->command, "'%s': this option takes no argument", arg);
	return cli_usage_error(syntax->command, "unknown option '%s'", arg);
}

int
cli_parse(const struct cli_syntax *syntax, int argc, char **argv,
	  int (*set)(void *arg, int value, const char *text), void *arg, int *ret_first)
{
	struct option longs[OPTIONS_MAX + 2];
	char letters[3 * OPTIONS_MAX + 4];
	int c, status;

	make_getopt(syntax, longs, letters);
	opterr = 0;
	optind = 0; /* glibc: forget all of an earlier getopt */
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == 'h') {
			print_help(syntax);
			return EXIT_DONE;
		}
		if (c == '?' || c == ':')
			return bad_option(syntax, c, argv);
		for (const struct cli_option *o = syntax->options; o->name; o++) {
			if (o->letter != c && o->value != c)
				continue;
			c = o->value;
			if (is_optional(o) && !optarg && optind < argc &&
			    syntax->is_argument(argv[optind]))
				optarg = argv[optind++];
			break;
		}
		status = set(arg, c, optarg);
		if (status != CLI_GO_ON)
			return status;
	}
	*ret_first = optind;
	return CLI_GO_ON;
}

int
cli_one_file(const char *command, int argc, char **argv, int first, const char **path)
{
	if (first >= argc)
		return CLI_GO_ON;
	if (*path || first + 1 < argc)
		return cli_usage_error(command, "'%s' is one file too many",
				       *path ? argv[first] : argv[first + 1]);
	*path = argv[first];
	return CLI_GO_ON;
}

/* Edits that turn a into b; names are short, so a row of 32 is plenty. */
static unsigned
edit_distance(const char *a, const char *b)
{
	unsigned row[33], n = (unsigned)strlen(b);

	if (n > 32)
		return 99;
	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

static int
unknown_command(const char *name)
{
	const char *best = NULL;
	unsigned least = 3;

	for (size_t i = 0; i < NR_COMMANDS; i++) {
		unsigned d = edit_distance(name, commands[i].name);

		if (*name && strncmp(commands[i].name, name, strlen(name)) == 0)
			d = 1;
		if (d < least) {
			least = d;
			best = commands[i].name;
		}
	}
	if (best)
		return cli_usage_error(NULL, "no command '%s'; did you mean '%s'?", name, best);
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
	       "`spoor COMMAND --help` says more; `man spoor` says all.\n");
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
run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "no-pager", no_argument, NULL, 'P' },
		{ "color", required_argument, NULL, 'C' },
		{ NULL, 0, NULL, 0 },
	};
	const struct command *command;
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
			return cli_usage_error(NULL, "bad option '%s'", argv[optind - 1]);
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
	look_at_screen();
	return finish_stdout(run(argc, argv));
}
