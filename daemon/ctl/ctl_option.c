/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ctl/ctl_option.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/ctl_command.h"
#include "daemon/ctl/ctl_print.h"
#include "format/bytes/option_wrong.h"

static const struct {
	const char *name, *arguments, *help;
} commands[] = {
#define X(name, arguments, help) { #name, arguments, help },
	CTL_COMMANDS(X)
#undef X
};

int
ctl_option_wrong(const char *command, const char *format, ...)
{
	const char *blank = command ? " " : "";
	char *text = NULL;
	va_list ap;

	command = command ? command : "";
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	fprintf(stderr, "spoorctl%s%s: ", blank, command);
	ctl_print_text(stderr, text ? text : "out of memory");
	fprintf(stderr, " (spoorctl %s%s--help)\n", command, blank);
	free(text);
	return CTL_USAGE;
}

int
ctl_option_no_memory(const char *command)
{
	fprintf(stderr, "spoorctl %s: out of memory\n", command);
	return CTL_FAILED;
}

int
ctl_option_set(json_t *parameters, const char *key, json_t *value, const char *command)
{
	return json_object_set_new(parameters, key, value) < 0 ? ctl_option_no_memory(command) : -1;
}

static int
print_usage(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			printf("usage: spoorctl %s%s%s\n\n%s; see spoorctl(1)\n", name,
			       *commands[i].arguments ? " " : "", commands[i].arguments,
			       commands[i].help);
	return CTL_DONE;
}

int
ctl_option_next(int argc, char **argv, const char *letters, const struct option *options)
{
	char wrong[OPTION_WRONG_BYTES];
	int o;

	opterr = 0;
	o = getopt_long(argc, argv, letters, options, NULL);
	if (o != '?' && o != ':')
		return o;
	option_wrong_text(o, argv, options, wrong, sizeof(wrong));
	ctl_option_wrong(*letters == '+' ? NULL : argv[0], "%s", wrong);
	return '?';
}

int
ctl_option_take(struct ctl_client *c, const char *command, int option)
{
	switch (option) {
	case CTL_OPTION_SOCKET:
		c->path = optarg;
		return -1;
	case CTL_OPTION_JSON:
		c->json = true;
		return -1;
	case 'h':
		return print_usage(command);
	}
	return CTL_USAGE;
}

int
ctl_option_arguments(struct ctl_client *c, int argc, char **argv, int wanted)
{
	static const struct option options[] = { CTL_OPTIONS };
	int o, r;

	while ((o = ctl_option_next(argc, argv, ":h", options)) != -1)
		if ((r = ctl_option_take(c, argv[0], o)) >= 0)
			return r;
	if (argc - optind == wanted)
		return -1;
	return ctl_option_wrong(argv[0], wanted ? "takes one argument" : "takes no arguments");
}
