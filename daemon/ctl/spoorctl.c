/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoorctl: asks spoord to do things, over its control socket. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "daemon/ctl/ctl_command.h"
#include "daemon/ctl/ctl_option.h"
#include "format/bytes/nearest.h"

#define SOCKET_PATH "/run/spoor/io.spoor.Recorder"

static const struct command {
	const char *name, *help;
	int (*run)(struct ctl_client *c, int argc, char **argv);
} commands[] = {
#define X(name, arguments, help) { #name, help, ctl_command_##name },
	CTL_COMMANDS(X)
#undef X
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int
print_help(FILE *f)
{
	fputs("usage: spoorctl [--socket PATH] [--json] COMMAND [ARGUMENTS]\n\n", f);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\nspoorctl(1) tells of every command and its options.\n", f);
	return f == stdout ? CTL_DONE : CTL_USAGE;
}

/* Options before the command. -1: go on at argv[optind]. */
static int
read_options(struct ctl_client *c, int argc, char **argv)
{
	static const struct option options[] = { { "version", no_argument, NULL, 'V' },
						 CTL_OPTIONS };
	int o;

	while ((o = ctl_option_next(argc, argv, "+:h", options)) != -1) {
		if (o == 'h')
			return print_help(stdout);
		if (o == 'V')
			return printf("spoorctl %s\n", SPOOR_VERSION) < 0 ? CTL_FAILED : CTL_DONE;
		if (ctl_option_take(c, "", o) >= 0)
			return CTL_USAGE;
	}
	return optind < argc ? -1 : print_help(stderr);
}

static int
unknown_command(const char *name)
{
	struct nearest n;

	nearest_init(&n, name);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		nearest_offer(&n, commands[i].name);
	if (n.best)
		return ctl_option_wrong(NULL, "no command '%s'; did you mean '%s'?", name, n.best);
	return ctl_option_wrong(NULL, "no command '%s'", name);
}

int
main(int argc, char **argv)
{
	struct ctl_client client;
	const char *name;
	int r;

	ctl_client_init(&client, SOCKET_PATH);
	r = read_options(&client, argc, argv);
	if (r >= 0)
		return r;
	name = argv[optind];
	argc -= optind;
	argv += optind;
	optind = 0; /* begins anew, after argv[0] */
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (strcmp(commands[i].name, name) != 0)
			continue;
		r = commands[i].run(&client, argc, argv);
		ctl_client_done(&client);
		if (fflush(stdout) != 0 || ferror(stdout)) {
			warn("standard output");
			r = CTL_FAILED;
		}
		return r;
	}
	if (strcmp(name, "help") == 0)
		return print_help(stdout);
	return unknown_command(name);
}
