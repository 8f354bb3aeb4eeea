/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/session/session.h"
#include "symbolizer/record/record_list.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

/* Of a line that anybody may have written. */
static void
tell(const char *before, const char *text, const char *after)
{
	char *shown = escape_dup(text);

	screen_text_warn("%s%s%s", before, shown ? shown : "(out of memory)", after);
	free(shown);
}

bool
record_command_turn(const struct record_command *c, const char *event, bool on)
{
	struct session_error error = { 0 };
	int r = session_enable(c->session, event, on, &error);

	if (r < 0) {
		if (r != -ESHUTDOWN)
			tell("--control: ", error.text, "");
		return false;
	}
	if (c->quiet)
		return true;
	if (event)
		tell("event ", event, on ? " enabled" : " disabled");
	else
		tell(on ? "events enabled" : "events disabled", "", "");
	return true;
}

static bool
do_enable(const struct record_command *c, const char *event)
{
	return record_command_turn(c, event, true) || event;
}

static bool
do_disable(const struct record_command *c, const char *event)
{
	return record_command_turn(c, event, false) || event;
}

static bool
do_evlist(const struct record_command *c, const char *how)
{
	struct session_error error = { 0 };

	if (record_list_print(c->session, how ? how : "", &error) < 0)
		tell("--control: ", error.text, "");
	return true;
}

static bool
do_snapshot(const struct record_command *c, const char *rest)
{
	(void)rest;
	return c->snapshot(c->arg);
}

static bool
do_stop(const struct record_command *c, const char *rest)
{
	(void)rest;
	session_stop(c->session);
	return true;
}

static bool
do_ping(const struct record_command *c, const char *rest)
{
	(void)c;
	(void)rest;
	return true;
}

static const struct command_word {
	const char *word;
	bool takes_more;
	bool (*obey)(const struct record_command *c, const char *more);
} command_words[] = {
	{ "enable", true, do_enable }, { "disable", true, do_disable },
	{ "evlist", true, do_evlist }, { "snapshot", false, do_snapshot },
	{ "ping", false, do_ping },    { "stop", false, do_stop },
};

bool
record_command_obey(const struct record_command *c, const char *line)
{
	const char *more = strchr(line, ' ');
	size_t n = strcspn(line, " ");

	for (size_t i = 0; i < sizeof(command_words) / sizeof(command_words[0]); i++) {
		const struct command_word *w = &command_words[i];

		if (strlen(w->word) == n && memcmp(line, w->word, n) == 0 &&
		    (!more || w->takes_more))
			return w->obey(c, more && more[1] ? more + 1 : NULL);
	}
	tell("--control: '", line,
	     "' is none of enable [EVENT], disable [EVENT], evlist [-v|-F|-g], snapshot, ping, stop");
	return false;
}
