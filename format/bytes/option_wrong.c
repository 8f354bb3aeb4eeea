/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/option_wrong.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/nearest.h"

#define NAME_BYTES 64
#define COMM_BYTES_MAX 15 /* what pgrep compares without -f */

/* " --a, --b or --c": those that begin so. False: there is but one, or none. */
static bool
several(const char *name, const struct option *longs, char *out, size_t size)
{
	const size_t len = strlen(name);
	const struct option *last = NULL;
	size_t n = 0;

	for (const struct option *o = longs; o->name; o++)
		if (strncmp(o->name, name, len) == 0)
			last = o;
	out[0] = '\0';
	for (const struct option *o = longs; o->name; o++) {
		if (strncmp(o->name, name, len) != 0)
			continue;
		(void)strlcat(out, n == 0 ? " --" : o == last ? " or --" : ", --", size);
		(void)strlcat(out, o->name, size);
		n++;
	}
	return n > 1;
}

static void
unknown(const char *arg, const struct option *longs, char *out, size_t size)
{
	char name[NAME_BYTES], names[512];
	struct nearest n;

	(void)snprintf(out, size, "unknown option '%s'", arg);
	if (strncmp(arg, "--", 2) != 0)
		return;
	(void)strlcpy(name, arg + 2, sizeof(name));
	name[strcspn(name, "=")] = '\0';
	if (several(name, longs, names, sizeof(names))) {
		(void)snprintf(out, size, "'%s' can be any of%s", arg, names);
		return;
	}
	nearest_init(&n, name);
	for (; longs->name; longs++)
		nearest_offer(&n, longs->name);
	if (n.best)
		(void)snprintf(out, size, "unknown option '%s'; did you mean --%s?", arg, n.best);
}

void
option_wrong_text(int why, char *const *argv, const struct option *longs, char *out, size_t size)
{
	const char *arg = optind > 0 ? argv[optind - 1] : "";
	const char letter[3] = { '-', (char)optopt, '\0' };
	const bool is_long = strncmp(arg, "--", 2) == 0;

	/* getopt leaves the letter in optopt, and 0 or a long option's value for a word. */
	if (optopt > 0 && optopt < 256 && !is_long)
		arg = letter;
	if (why == ':')
		(void)snprintf(out, size, "%s needs an argument", arg);
	else if (optopt != 0 && is_long)
		(void)snprintf(out, size, "'%s': this option takes no argument", arg);
	else
		unknown(arg, longs, out, size);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The name of a command, which a shell takes as it is. */
static bool
is_command(const char *typed)
{
	return *typed != '-' && strpbrk(typed, LETTERS) &&
		strspn(typed, LETTERS "0123456789._+:@-") == strlen(typed);
}

void
option_wrong_task_text(const char *typed, char letter, char *out, size_t size)
{
	const bool thread = letter == 't';
	char pgrep[160] = "";

	if (is_command(typed))
		(void)snprintf(pgrep, sizeof(pgrep), "; by name: -%c $(pgrep %s-d, %s%.100s)",
			       letter, thread ? "-w " : "",
			       strlen(typed) > COMM_BYTES_MAX ? "-f " : "", typed);
	(void)snprintf(out, size, "'%s' is not the number of a %s%s", typed,
		       thread ? "thread" : "process", pgrep);
}

void
option_wrong_order_text(const char *event, const char *group, char *out, size_t size)
{
	(void)snprintf(
		out, size,
		"-e %.250s: give -G %.250s behind all -e for all events, or a list (-G %.250s,) for the events "
		"before",
		event, group, group);
}
