/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cli/cli.h"

#include <err.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/option_wrong.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

#define OPTIONS_MAX 128
#define HELP_COLUMN 28
#define HELP_WIDTH 80

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
	char *text = NULL, *shown;
	va_list ap;

	if (!command)
		command = "";
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	/* Arguments are often names of files, as the shell found them. */
	shown = text ? escape_dup(text) : NULL;
	screen_text_print(stderr, screen_text_columns(STDERR_FILENO), "  ",
			  "spoor%s%s: %s (spoor %s%s--help says how)", blank, command,
			  shown ? shown : "(out of memory)", command, blank);
	free(shown);
	free(text);
	return EXIT_USAGE;
}

int
cli_no_memory(void)
{
	warnx("out of memory");
	return EXIT_FAILED;
}

bool
cli_percent(const char *text, double *ret)
{
	char *end;
	const double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
		return false;
	*ret = percent;
	return true;
}

int
cli_set_percent(const char *command, const char *option, const char *text, double *ret)
{
	if (cli_percent(text, ret))
		return CLI_GO_ON;
	return cli_usage_error(command, "--%s %s: not a percentage", option, text);
}

int
cli_set_percentage(const char *command, const char *text, bool *ret_absolute)
{
	*ret_absolute = strcmp(text, "absolute") == 0;
	if (*ret_absolute || strcmp(text, "relative") == 0)
		return CLI_GO_ON;
	return cli_usage_error(command, "--percentage %s: absolute or relative", text);
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

bool
cli_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *locale = getenv(names[i]);

		if (locale && *locale)
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return true;
}

int
cli_columns(void)
{
	return screen.columns;
}

void
cli_look_at_screen(void)
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
take_option(const struct cli_syntax *syntax, int (*set)(void *arg, int value, const char *text),
	    void *arg, int value, const char *text)
{
	switch (value) {
	case CLI_OPTION_COLOR:
		if (cli_set_color(text))
			return CLI_GO_ON;
		return cli_usage_error(syntax->command, "--color %s: auto, always or never", text);
	case CLI_OPTION_NO_PAGER:
		pager_disable();
		return CLI_GO_ON;
	}
	return set(arg, value, text);
}

int
cli_parse(const struct cli_syntax *syntax, int argc, char **argv,
	  int (*set)(void *arg, int value, const char *text), void *arg, int *ret_first)
{
	struct option longs[OPTIONS_MAX + 2];
	char letters[3 * OPTIONS_MAX + 4], wrong[OPTION_WRONG_BYTES];
	int c, status;

	make_getopt(syntax, longs, letters);
	opterr = 0;
	optind = 0; /* glibc: forget all of an earlier getopt */
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == 'h') {
			print_help(syntax);
			return EXIT_DONE;
		}
		if (c == '?' || c == ':') {
			option_wrong_text(c, argv, longs, wrong, sizeof(wrong));
			return cli_usage_error(syntax->command, "%s", wrong);
		}
		for (const struct cli_option *o = syntax->options; o->name; o++) {
			if (o->letter != c && o->value != c)
				continue;
			c = o->value;
			if (is_optional(o) && !optarg && optind < argc && syntax->is_argument &&
			    syntax->is_argument(c, argv[optind]))
				optarg = argv[optind++];
			break;
		}
		status = take_option(syntax, set, arg, c, optarg);
		if (status != CLI_GO_ON)
			return status;
	}
	*ret_first = optind;
	return CLI_GO_ON;
}

int
cli_parse_file(const struct cli_syntax *syntax, int argc, char **argv,
	       int (*set)(void *arg, int value, const char *text), void *arg, const char **path)
{
	int first, status = cli_parse(syntax, argc, argv, set, arg, &first);

	if (status != CLI_GO_ON || first >= argc)
		return status;
	if (*path || first + 1 < argc)
		return cli_usage_error(syntax->command, "'%s' is one file too many",
				       *path ? argv[first] : argv[first + 1]);
	*path = argv[first];
	return CLI_GO_ON;
}
