/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_usdt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/buf.h"
#include "recorder/event/command.h"
#include "recorder/event/event_spec.h"
#include "symbolizer/object/usdt_place.h"
#include "symbolizer/record/record_symbol.h"

#define MAPS_LINES_MAX 262144 /* of one process: more than vm.max_map_count is by default */

static const char *const place_words[] = {
	[USDT_PLACE_NO_FILE] = "no file that can be read",
	[USDT_PLACE_NO_ELF] = "neither a program nor a library",
	[USDT_PLACE_NONE] = "the file has no static probes (<sys/sdt.h>): readelf -n shows none",
	[USDT_PLACE_UNKNOWN] = "the file has no such probe: readelf -n lists those that it has",
	[USDT_PLACE_NO_CODE] = "a place of this probe is in no part of the file that is executed",
	[USDT_PLACE_NO_SEMAPHORE] = "the semaphore of this probe is in no part of the file",
	[USDT_PLACE_TOO_MANY] = "the probe is at more than 512 places",
	[USDT_PLACE_NO_MEMORY] = "out of memory",
};

_Static_assert(USDT_PLACES_MAX == 512, "the words above");

_Static_assert(USDT_PLACES_MAX <= EVENT_PLACES_MAX, "an event takes what is found");

struct search {
	char *provider, *name;
	const char *modifiers; /* "", or from their colon on */
	size_t modifiers_bytes;
	char path[PATH_MAX]; /* of the file that has it */
	struct stat file;    /* likewise, of one that a process has mapped */
	struct usdt_places places;
	enum usdt_place_result result; /* of a file where it was looked for */
	char *problem;
};

static bool
search_fails(const struct search *s, const char *what)
{
	(void)strlcpy(s->problem, what, RECORD_USDT_PROBLEM_BYTES);
	return false;
}

/* --- where ------------------------------------------------------------------------------- */

/* False: two files have it. */
static bool
look_in(struct search *s, const char *path)
{
	struct usdt_places found = { 0 };

	s->result = usdt_place_find(path, s->provider, s->name, &found);
	if (s->result > USDT_PLACE_UNKNOWN)
		return search_fails(s, place_words[s->result]);
	if (s->result != USDT_PLACE_FOUND)
		return true;
	/* It becomes a part of an event string, and the process chose the name. */
	if (path[strcspn(path, ",:{}")]) {
		usdt_places_done(&found);
		return search_fails(
			s,
			"the file that has it has one of , : { } in its path, and cannot "
			"be named in an event: a link to it can, usdt:PATH:PROVIDER:NAME");
	}
	if (!s->places.nr) {
		(void)strlcpy(s->path, path, sizeof(s->path));
		s->places = found;
		return true;
	}
	usdt_places_done(&found);
	(void)snprintf(s->problem, RECORD_USDT_PROBLEM_BYTES,
		       "%s and %s have this probe: give one, usdt:PATH:PROVIDER:NAME", s->path,
		       path);
	return false;
}

/* The path of a file that is mapped to be executed; NULL: the line tells of something else. */
static const char *
mapped_path(char *line)
{
	char exec;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*x-%*x %*c%*c%c%*c %*x %*s %*s %n", &exec, &at) != 1 || !at)
		return NULL;
	return exec == 'x' && line[at] == '/' ? line + at : NULL;
}

/* The file that a process has at a path, by one of ours; false: none is there any more. */
static bool
path_of(pid_t pid, const char *mapped, char ret[PATH_MAX], struct stat *ret_own)
{
	struct stat own, ours;
	int n = snprintf(ret, PATH_MAX, "/proc/%d/root%s", (int)pid, mapped);

	if (n < 0 || n >= PATH_MAX || stat(ret, &own) < 0)
		return false;
	if (stat(mapped, &ours) == 0 && own.st_dev == ours.st_dev && own.st_ino == ours.st_ino)
		(void)strlcpy(ret, mapped, PATH_MAX);
	*ret_own = own;
	return true;
}

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* In what a process has mapped. */
static bool
look_in_process(struct search *s, pid_t pid)
{
	struct stat own, before = { 0 };
	char maps[32], path[PATH_MAX], *line = NULL;
	const char *mapped;
	size_t cap = 0, nr = 0;
	bool good = true;
	FILE *f;

	(void)snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	f = fopen(maps, "re");
	if (!f) {
		(void)snprintf(s->problem, RECORD_USDT_PROBLEM_BYTES,
			       "%s, which tells what the process has mapped: %s", maps,
			       strerror(errno));
		return false;
	}
	while (good && nr++ < MAPS_LINES_MAX && getline(&line, &cap, f) > 0) {
		mapped = mapped_path(line);
		/* Of two processes the paths of one file may differ. */
		if (!mapped || !path_of(pid, mapped, path, &own) || same_file(&own, &before) ||
		    (s->places.nr && same_file(&own, &s->file)))
			continue;
		before = own;
		good = look_in(s, path);
		if (good && s->result == USDT_PLACE_FOUND)
			s->file = own;
	}
	free(line);
	(void)fclose(f);
	return good;
}

static bool
look_in_command(struct search *s, const char *command)
{
	char found[PATH_MAX], path[PATH_MAX];
	int r = command_find(command, found);

	if (r == 0 && !realpath(found, path))
		r = -errno;
	if (r < 0) {
		(void)snprintf(s->problem, RECORD_USDT_PROBLEM_BYTES, "cannot execute %s: %s",
			       command, strerror(-r));
		return false;
	}
	if (!look_in(s, path) || s->places.nr)
		return s->places.nr > 0;
	(void)snprintf(s->problem, RECORD_USDT_PROBLEM_BYTES,
		       "%s has no such probe%s: one of a library, or of a script's interpreter, is "
		       "usdt:PATH:PROVIDER:NAME",
		       path, s->result == USDT_PLACE_NO_ELF ? ", being no ELF file" : "");
	return false;
}

static bool
look_anywhere(struct search *s, const struct record_probed *probed)
{
	if (!probed->nr_pids && !probed->command)
		return search_fails(s,
				    "sdt: is of the command, or of the process of -p: name the "
				    "file otherwise, usdt:PATH:PROVIDER:NAME");
	if (!probed->nr_pids)
		return look_in_command(s, probed->command);
	for (size_t i = 0; i < probed->nr_pids; i++)
		if (!look_in_process(s, probed->pids[i]))
			return false;
	return s->places.nr ||
		search_fails(s,
			     "nothing that the process has mapped has such a probe: readelf -n "
			     "lists those of a file");
}

static bool
look_in_file(struct search *s, const char *typed, size_t n)
{
	if (!record_symbol_path(typed, n, s->path)) {
		*s->path = '\0';
		return search_fails(s, strerror(errno));
	}
	s->result = usdt_place_find(s->path, s->provider, s->name, &s->places);
	return s->result == USDT_PLACE_FOUND || search_fails(s, place_words[s->result]);
}

/* --- what is typed ------------------------------------------------------------------------ */

static void
put_places(const struct search *s, struct buf *out)
{
	char number[48];

	buf_text(out, s->path);
	buf_u8(out, ':');
	buf_text(out, s->provider);
	buf_u8(out, ':');
	buf_text(out, s->name);
	for (size_t i = 0; i < s->places.nr; i++) {
		const struct usdt_place *p = &s->places.p[i];

		(void)snprintf(number, sizeof(number), "%c0x%" PRIx64, i ? '+' : '=', p->offset);
		buf_text(out, number);
		if (!p->semaphore)
			continue;
		(void)snprintf(number, sizeof(number), "(0x%" PRIx64 ")", p->semaphore);
		buf_text(out, number);
	}
	buf_append(out, s->modifiers, s->modifiers_bytes);
}

/* PROVIDER:NAME[:MODS] of n bytes; false: it is not. */
static bool
cut_names(struct search *s, const char *text, size_t n)
{
	const char *colon = memchr(text, ':', n), *end = text + n, *name = colon ? colon + 1 : end;
	const char *mods = memchr(name, ':', (size_t)(end - name));

	mods = mods ? mods : end;
	s->modifiers = mods;
	s->modifiers_bytes = (size_t)(end - mods);
	if (!colon || colon == text || name == mods)
		return false;
	s->provider = strndup(text, (size_t)(colon - text));
	s->name = strndup(name, (size_t)(mods - name));
	return true;
}

/* As it is, with the whole path. */
static bool
put_given(struct search *s, const char *event, size_t path_bytes, size_t n, struct buf *out)
{
	if (!record_symbol_path(event, path_bytes, s->path))
		return search_fails(s, strerror(errno));
	buf_text(out, s->path);
	buf_append(out, event + path_bytes, n - path_bytes);
	return true;
}

bool
record_usdt_resolve(const char *event, size_t n, const struct record_probed *probed,
		    struct buf *out, const char **ret_where,
		    char problem[RECORD_USDT_PROBLEM_BYTES])
{
	const char *colon = probed ? NULL : memchr(event, ':', n);
	const char *names = colon ? colon + 1 : event;
	const size_t left = n - (size_t)(names - event);
	struct search s = { .problem = problem };
	bool good;

	*ret_where = event;
	if (colon && memchr(names, '=', left))
		return put_given(&s, event, (size_t)(colon - event), n, out);
	*ret_where = names;
	good = (probed || colon) && cut_names(&s, names, left);
	if (!good)
		(void)search_fails(&s,
				   probed ? "a static probe is PROVIDER:NAME, or with a file "
					    "usdt:PATH:PROVIDER:NAME"
					  : "a static probe is PATH:PROVIDER:NAME");
	else if (!s.provider || !s.name)
		good = search_fails(&s, "out of memory");
	else if (probed)
		good = look_anywhere(&s, probed);
	else if (!(good = look_in_file(&s, event, (size_t)(colon - event))) && !*s.path)
		*ret_where = event;
	if (good)
		put_places(&s, out);
	usdt_places_done(&s.places);
	free(s.provider);
	free(s.name);
	return good;
}
