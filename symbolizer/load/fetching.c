/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/fetching.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/input/exit_status.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

#define MIB (1024.0 * 1024.0)

/* A line that is broken cannot be written over. */
static void
cut_line(char *line, int columns)
{
	const char *end = line, *next = line;
	int room = columns;

	while (*next) {
		room -= screen_text_next(&next);
		if (room <= 0)
			break;
		end = next;
	}
	line[end - line] = '\0';
}

/* One line, written over and over. */
static void
fetching_show(void *arg, const struct object_fetch_progress *p)
{
	const char *slash = strrchr(p->name, '/');
	char *name = escape_dup(slash ? slash + 1 : p->name);
	char size[64] = "", line[512];

	(void)arg;
	if (p->total > 0)
		snprintf(size, sizeof(size), ", %.1f of %.1f MiB", (double)p->bytes / MIB,
			 (double)p->total / MIB);
	else if (p->bytes > 0)
		snprintf(size, sizeof(size), ", %.1f MiB", (double)p->bytes / MIB);
	snprintf(line, sizeof(line), "debuginfod: %s%s%s", name ? name : "a file",
		 p->what == OBJECT_FETCH_EXECUTABLE ? "" : ", debug information", size);
	free(name);
	cut_line(line, screen_text_columns(STDERR_FILENO));
	fprintf(stderr, "\r%s\033[K", p->ended ? "" : line);
	fflush(stderr);
}

int
fetching_start(const char *cache, bool lines, struct object_fetch **ret)
{
	const struct object_fetch_options o = {
		.cache = cache,
		.lines = lines,
		.progress = screen_text_columns(STDERR_FILENO) > 0 ? fetching_show : NULL,
	};
	const char *urls = getenv("DEBUGINFOD_URLS");
	int error;

	if (!urls || urls[strspn(urls, " ")] == '\0')
		screen_text_warn(
			"--debuginfod: DEBUGINFOD_URLS is not set: it has the addresses of "
			"the servers, as https://debuginfod.debian.net");
	else if (!cache)
		screen_text_warn("--debuginfod: there is no place for what is fetched: set HOME");
	else if ((error = object_fetch_start(&o, ret)) == 0)
		return 0;
	else if (error == -ENOENT)
		screen_text_warn("--debuginfod: libdebuginfod.so.1 cannot be loaded (package "
				 "libdebuginfod1 or elfutils-debuginfod-client)");
	else
		warnx("--debuginfod: %s", strerror(-error));
	return EXIT_FAILED;
}

void
fetching_warn(const struct object_fetch *f, const char *of)
{
	enum object_fetch_outcome outcome;
	const char *object;
	int error;

	for (size_t i = 0; object_fetch_trouble(f, i, &object, &outcome, &error); i++) {
		char *name = escape_dup(object);

		screen_text_warn("%s: debuginfod: %s: %s%s%s", of, name ? name : "a file",
				 object_fetch_outcome_text(outcome), error ? ": " : "",
				 error ? strerror(error) : "");
		free(name);
	}
}
