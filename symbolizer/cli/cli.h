/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: what spoor's subcommands share on the command line: options by table, usage errors,
 * colour, the screen.
 */
#ifndef SYMBOLIZER_CLI_CLI_H
#define SYMBOLIZER_CLI_CLI_H

#include <stdbool.h>

#include "symbolizer/input/exit_status.h"

/* Prints one line on stderr that ends in where to find help; returns EXIT_USAGE. */
int cli_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Says so on stderr; returns EXIT_FAILED. */
int cli_no_memory(void);

/* An option of a command. -h and --help need no row. set() gets NULL for an argument left out. */
struct cli_option {
	int value;	  /* what set() gets; its letter, or over 255 */
	int letter;	  /* 0: long name only */
	const char *name; /* long */
	const char *arg;  /* what help calls its argument; "[...]": may be left out; NULL: none */
	const char *help; /* NULL: another name of the row before it, which help does not print */
};

struct cli_syntax {
	const char *command;		  /* "report" */
	const char *synopsis;		  /* "[options] [FILE]" */
	const char *about;		  /* a sentence or two */
	const struct cli_option *options; /* ended by a row without name */
	bool command_follows; /* options end at the first free argument: the rest is another's */
	/* Is the word behind an option (its value) whose argument may be left out its argument? */
	bool (*is_argument)(int option, const char *word);
};

/* Rows of options that mean the same to every command that prints for people: set() does not see them. */
enum { CLI_OPTION_COLOR = 0xf00, CLI_OPTION_NO_PAGER };
#define CLI_COLOR_ROW { CLI_OPTION_COLOR, 0, "color", "WHEN", "auto, always or never" },
#define CLI_NO_PAGER_ROW                                                                           \
	{ CLI_OPTION_NO_PAGER, 0, "no-pager", NULL, "print straight to the terminal" },

#define CLI_GO_ON (-1)

/*
 * Gives every option of argv to set(), which returns CLI_GO_ON or the exit status to end
 * with. Returns CLI_GO_ON with *ret_first the index of the first free argument, or an exit
 * status: help was printed, or an error.
 */
int cli_parse(const struct cli_syntax *syntax, int argc, char **argv,
	      int (*set)(void *arg, int value, const char *text), void *arg, int *ret_first);

/* Likewise of a command that reads one file, the only free argument: into *path, if -i has not set it. */
int cli_parse_file(const struct cli_syntax *syntax, int argc, char **argv,
		   int (*set)(void *arg, int value, const char *text), void *arg,
		   const char **path);

/* "2.5" or "2.5%", from 0 to 100; false: it is none. */
bool cli_percent(const char *text, double *ret);
/* Likewise of an option, as set() returns: CLI_GO_ON, or EXIT_USAGE, said. */
int cli_set_percent(const char *command, const char *option, const char *text, double *ret);
/* Of --percentage: what shares are of. */
#define CLI_PERCENTAGE_ROW(value)                                                                  \
	{ value, 0, "percentage", "OF",                                                            \
	  "shares are relative, of what filters leave (default), or absolute, of the whole" },
int cli_set_percentage(const char *command, const char *text, bool *ret_absolute);

/* --color's argument; false: not one. */
bool cli_set_color(const char *when);
/* By --color, NO_COLOR and what stdout is. */
bool cli_color(void);

/* Does the environment's locale have UTF-8? As systemd has it: one that is not set does. */
bool cli_utf8(void);

/* At start, before a pager takes the place of the terminal. */
void cli_look_at_screen(void);
/* Columns of the terminal that was on stdout then, 0 for anything else. */
int cli_columns(void);

#endif
