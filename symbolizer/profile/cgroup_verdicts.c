/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/cgroup_verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/slots.h"
#include "format/bytes/unit_name.h"
#include "symbolizer/text/glob.h"

#define VERDICTS 1024
#define PATH_BYTES 4096 /* of a control group, which the kernel keeps below it */

struct cgroup_verdicts {
	/* By a hash of the path. NULL: free, or there was no memory to remember it. */
	struct {
		char *path;
		bool is_wanted;
	} of[VERDICTS];
};

/* --- what is asked for ------------------------------------------------------------------- */

/*
 * Where control groups are usually mounted, with which their directories begin: the group is
 * what stands behind it.
 */
static void
cgroup_strip(char *pattern)
{
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event",
					      "/sys/fs/cgroup" };
	size_t len = strlen(pattern);

	while (len > 1 && pattern[len - 1] == '/')
		pattern[--len] = '\0';
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		size_t n = strlen(mounts[i]);

		if (strncmp(pattern, mounts[i], n) != 0 || (pattern[n] && pattern[n] != '/'))
			continue;
		if (n == len)
			(void)strlcpy(pattern, "/", len);
		else
			memmove(pattern, pattern + n, len - n + 1);
		return;
	}
}

int
cgroup_choice_groups(struct cgroup_choice *c, const char *arg, const char **reterr)
{
	const size_t had = c->groups.n;
	const int status = name_list_parse(&c->groups, arg, false, reterr);

	for (size_t i = had; i < c->groups.n; i++)
		cgroup_strip(c->groups.v[i].text);
	return status;
}

/* Units of a type, as they are typed. */
static int
add_units(struct name_list *units, const char *arg, const char *type, const char **reterr)
{
	const size_t had = units->n;
	const int status = name_list_parse(units, arg, false, reterr);

	for (size_t i = had; i < units->n; i++) {
		char *pattern = unit_name_pattern(units->v[i].text, type);

		if (!pattern) {
			*reterr = "out of memory";
			return -1;
		}
		cgroup_strip(pattern);
		free(units->v[i].text);
		units->v[i].text = pattern;
	}
	return status;
}

int
cgroup_choice_units(struct cgroup_choice *c, const char *arg, const char **reterr)
{
	return add_units(&c->units, arg, ".service", reterr);
}

int
cgroup_choice_slices(struct cgroup_choice *c, const char *arg, const char **reterr)
{
	return add_units(&c->slices, arg, ".slice", reterr);
}

bool
cgroup_choice_given(const struct cgroup_choice *c)
{
	return c->groups.n > 0 || c->units.n > 0 || c->slices.n > 0;
}

void
cgroup_choice_done(struct cgroup_choice *c)
{
	name_list_done(&c->groups);
	name_list_done(&c->units);
	name_list_done(&c->slices);
}

/* --- what a path is ---------------------------------------------------------------------- */

static bool
is_above(const char *pattern, const char *path)
{
	if (strcmp(pattern, path) == 0 || glob_match(pattern, path) ||
	    glob_match_above(pattern, path))
		return true;
	if (*pattern == '/')
		return false;
	/* What a star in front stands for begins anywhere. */
	while (*pattern != '*' && (path = strchr(path, '/')))
		if (glob_match_above(pattern, ++path))
			return true;
	return false;
}

/* Is one of the path's components such a unit? */
static bool
is_unit(const char *pattern, const char *path)
{
	char name[UNIT_NAME_MAX];

	if (strchr(pattern, '/'))
		return is_above(pattern, path);
	if (strcmp(pattern, "-.slice") == 0)
		return *path == '/';
	for (;;) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");

		if (len == 0)
			return false;
		if (len < sizeof(name)) {
			(void)strlcpy(name, path, len + 1);
			/* systemd has put a '_' in front of what could be a file of the kernel's. */
			if (name_value_matches(pattern, name) ||
			    (*name == '_' && name_value_matches(pattern, name + 1)))
				return true;
		}
		path += len;
	}
}

/* Each is asked until it was met, as in name_list_has(). */
static bool
one_matches(const struct name_list *l, bool (*is)(const char *pattern, const char *path),
	    const char *path, const char *shortened)
{
	bool any = l->n == 0;

	for (size_t i = 0; i < l->n; i++) {
		struct name_value *v = &l->v[i];

		if (!is(v->text, path) && !(shortened && is(v->text, shortened)))
			continue;
		value_meet(&v->met);
		any = true;
	}
	return any;
}

static bool
is_wanted(const struct cgroup_choice *c, const char *path)
{
	char text[PATH_BYTES];
	const char *shortened = unit_name_shorten(path, text, sizeof(text)) ? text : NULL;
	const bool group = one_matches(&c->groups, is_above, path, shortened);
	const bool slice = one_matches(&c->slices, is_unit, path, shortened);

	return one_matches(&c->units, is_unit, path, shortened) && group && slice;
}

/* --- what was said ----------------------------------------------------------------------- */

struct cgroup_verdicts *
cgroup_verdicts_new(void)
{
	return calloc(1, sizeof(struct cgroup_verdicts));
}

void
cgroup_verdicts_free(struct cgroup_verdicts *v)
{
	for (size_t i = 0; v && i < VERDICTS; i++)
		free(v->of[i].path);
	free(v);
}

bool
cgroup_verdict(struct cgroup_verdicts *v, const struct cgroup_choice *c, const char *path)
{
	uint64_t hash = 0;
	size_t i;

	if (!cgroup_choice_given(c))
		return true;
	path = path ? path : "[unknown]";
	if (!v)
		return is_wanted(c, path);
	for (const char *p = path; *p; p++)
		hash = slots_mix(hash, (uint8_t)*p);
	i = hash % VERDICTS;
	if (!v->of[i].path || strcmp(v->of[i].path, path) != 0) {
		free(v->of[i].path);
		v->of[i].path = strdup(path);
		v->of[i].is_wanted = is_wanted(c, path);
	}
	return v->of[i].is_wanted;
}
