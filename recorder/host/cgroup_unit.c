/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/cgroup_unit.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/nearest.h"
#include "format/bytes/unit_name.h"
#include "recorder/host/cgroup.h"

#define LIST_MAX 64 /* whose paths are kept */
#define TOLD 4

/* Groups that are called so, and not those below them. */
struct group_list {
	char *path[LIST_MAX];
	size_t nr, all;
	bool no_memory;
};

static void
group_list_done(struct group_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->path[i]);
}

static void
group_list_add(struct group_list *l, const char *path)
{
	l->all++;
	if (l->nr == LIST_MAX)
		return;
	l->path[l->nr] = strdup(path);
	if (l->path[l->nr])
		l->nr++;
	else
		l->no_memory = true;
}

static bool
is_below(const struct group_list *l, const char *path)
{
	for (size_t i = 0; i < l->nr; i++) {
		const size_t len = strlen(l->path[i]);

		if (strncmp(path, l->path[i], len) == 0 && path[len] == '/')
			return true;
	}
	return false;
}

/* --- words ------------------------------------------------------------------------------- */

/* A group is called what whoever made it likes. */
static void
say(char words[CGROUP_UNIT_WORDS], const char *text)
{
	size_t n = strlen(words);

	for (; *text && n + 1 < CGROUP_UNIT_WORDS; text++)
		words[n++] = *text >= ' ' && *text <= '~' ? *text : '?';
	words[n] = '\0';
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "A, B and 3 more" */
static void
say_list(char words[CGROUP_UNIT_WORDS], struct group_list *l)
{
	const size_t told = l->nr < TOLD ? l->nr : TOLD;
	char more[48];

	qsort(l->path, l->nr, sizeof(l->path[0]), by_name);
	for (size_t i = 0; i < told; i++) {
		say(words, i == 0 ? "" : i + 1 == l->all ? " and " : ", ");
		say(words, l->path[i]);
	}
	(void)snprintf(more, sizeof(more), " and %zu more", l->all - told);
	if (l->all > told)
		say(words, more);
}

/* --- units by name ----------------------------------------------------------------------- */

struct unit_search {
	const char *pattern;
	struct group_list own, others; /* of the host's systemd; of users and containers */
};

static const char *
last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A '\' in a unit's name is part of it. */
static bool
is_called(const char *pattern, const char *name)
{
	return strcmp(pattern, name) == 0 || fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

/* Is the group in slices alone, as those are that the host's systemd makes? */
static bool
is_own(const char *path)
{
	const char *end = strrchr(path, '/');

	while (path < end) {
		const size_t len = strcspn(++path, "/");

		if (path < end && !unit_name_is(path, len, ".slice"))
			return false;
		path += len;
	}
	return true;
}

static int
see_unit(void *arg, uint64_t id, const char *path)
{
	struct unit_search *s = arg;
	const char *name = last_component(path);

	(void)id;
	/* systemd has put a '_' in front of what could be a file of the kernel's. */
	if (!is_called(s->pattern, name) && !(*name == '_' && is_called(s->pattern, name + 1)))
		return 0;
	if (!is_below(&s->own, path) && !is_below(&s->others, path))
		group_list_add(is_own(path) ? &s->own : &s->others, path);
	return 0;
}

/* The nearest name of a unit, or of any group. */
struct near_search {
	const char *type; /* of units alone that are of it, or as a service; NULL: any */
	struct nearest nearest;
	char best[256], path[4096];
};

static int
see_near(void *arg, uint64_t id, const char *path)
{
	struct near_search *s = arg;
	const char *name = last_component(path);
	const bool slice = unit_name_is(name, strlen(name), ".slice");
	char offered[256];

	(void)id;
	if (!*name ||
	    (s->type &&
	     (!unit_name_valid(name, strlen(name)) || slice != (strcmp(s->type, ".slice") == 0))))
		return 0;
	unit_name_stem(name, offered, sizeof(offered));
	nearest_offer(&s->nearest, offered);
	if (s->nearest.best == offered) {
		(void)strlcpy(s->best, offered, sizeof(s->best));
		(void)strlcpy(s->path, path, sizeof(s->path));
		s->nearest.best = s->best;
	}
	return 0;
}

/* The path of the group whose last name is nearest; false: none is like it. */
static bool
find_near(const char *root, const char *name, const char *type, struct near_search *s)
{
	char typed[256];

	*s = (struct near_search){ .type = type };
	unit_name_stem(name, typed, sizeof(typed));
	nearest_init(&s->nearest, typed);
	if (cgroup_walk(root, see_near, s) < 0)
		return false;
	s->nearest.typed = NULL;
	return s->nearest.best != NULL;
}

static int
tell_none(const char *root, const char *name, const struct unit_search *u, const char *type,
	  char words[CGROUP_UNIT_WORDS])
{
	struct near_search *near = malloc(sizeof(*near));

	say(words, "no control group is of ");
	say(words, u->pattern);
	say(words, ": it does not run here");
	if (near && find_near(root, name, type, near)) {
		say(words, "; did you mean ");
		say(words, last_component(near->path));
		say(words, "?");
	}
	free(near);
	return -ENOENT;
}

/* Which of what was found it is. */
static int
choose(const char *root, const char *name, const char *type, struct unit_search *u, char *ret_path,
       size_t cap, char words[CGROUP_UNIT_WORDS])
{
	struct group_list *l = u->own.all > 0 ? &u->own : &u->others;

	if (u->own.no_memory || u->others.no_memory) {
		say(words, "out of memory");
		return -ENOMEM;
	}
	if (l->all == 0)
		return tell_none(root, name, u, type, words);
	if (l->all > 1) {
		say(words, "several are called ");
		say(words, u->pattern);
		say(words, ": ");
		say_list(words, l);
		say(words, "; --cgroup takes one of them");
		return -ENOTUNIQ;
	}
	if (strlcpy(ret_path, l->path[0], cap) >= cap)
		return -ENAMETOOLONG;
	if (l == &u->own && u->others.all > 0) {
		say(words, l->path[0]);
		say(words, ", and not ");
		say_list(words, &u->others);
	}
	return 0;
}

int
cgroup_unit_find(const char *root, const char *name, const char *type, char *ret_path, size_t cap,
		 char words[CGROUP_UNIT_WORDS])
{
	struct unit_search u = { .pattern = NULL };
	char *pattern;
	int r;

	words[0] = '\0';
	if (!*name || strchr(name, ',')) {
		say(words,
		    *name ? "one unit alone: events of several control groups are -G A,B"
			  : "a unit has a name");
		return -EINVAL;
	}
	pattern = unit_name_pattern(name, type);
	if (!pattern) {
		say(words, "out of memory");
		return -ENOMEM;
	}
	u.pattern = pattern;
	if (strchr(pattern, '/') || strcmp(pattern, "-.slice") == 0) {
		r = strlcpy(ret_path, strchr(pattern, '/') ? pattern : "/", cap) < cap
			? 0
			: -ENAMETOOLONG;
	} else {
		r = cgroup_walk(root, see_unit, &u);
		r = r < 0 ? r : choose(root, name, type, &u, ret_path, cap, words);
	}
	if (r < 0 && !*words)
		say(words, strerror(-r));
	group_list_done(&u.own);
	group_list_done(&u.others);
	free(pattern);
	return r;
}

/* --- groups that are not there ------------------------------------------------------------ */

struct end_search {
	const char *end;
	struct group_list groups;
};

static int
see_end(void *arg, uint64_t id, const char *path)
{
	struct end_search *s = arg;

	(void)id;
	if (cgroup_ends_in(path, s->end))
		group_list_add(&s->groups, path);
	return 0;
}

static void
hint_missing(const char *root, const char *name, char words[CGROUP_UNIT_WORDS])
{
	static const char *const types[] = { ".service", ".slice" };
	struct near_search *near = malloc(sizeof(*near));
	char unused[CGROUP_UNIT_WORDS];

	/* What a client of the daemon has typed is no pattern: matching one can take very long. */
	for (size_t i = 0; near && *name && !strpbrk(name, "*?[") && i < 2; i++) {
		if (cgroup_unit_find(root, name, types[i], near->path, sizeof(near->path), unused) <
		    0)
			continue;
		say(words, "; that of the ");
		say(words, i == 0 ? "unit" : "slice");
		say(words, " is ");
		say(words, near->path);
		say(words, i == 0 ? " (--unit " : " (--slice ");
		say(words, name);
		say(words, ")");
		goto out;
	}
	if (near && find_near(root, name, NULL, near)) {
		say(words, "; did you mean ");
		say(words, near->path);
		say(words, "?");
	}
out:
	free(near);
}

void
cgroup_unit_hint(const char *root, int error, const char *argument, char words[CGROUP_UNIT_WORDS])
{
	struct end_search s = { .end = argument };

	words[0] = '\0';
	if (error == -ENOENT)
		hint_missing(root, last_component(argument), words);
	if (error != -ENOTUNIQ || cgroup_walk(root, see_end, &s) < 0)
		return;
	say(words, ": ");
	say_list(words, &s.groups);
	group_list_done(&s.groups);
}
