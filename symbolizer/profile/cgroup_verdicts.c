/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/cgroup_verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/slots.h"
#include "symbolizer/text/glob.h"

#define VERDICTS 1024

struct cgroup_verdicts {
	/* By a hash of the path. NULL: free, or there was no memory to remember it. */
	struct {
		char *path;
		bool is_wanted;
	} of[VERDICTS];
};

struct cgroup_verdicts *
cgroup_verdicts_new(void)
{
	return calloc(1, sizeof(struct cgroup_verdicts));
}

void
cgroup_verdicts_free(struct cgroup_verdicts *c)
{
	for (size_t i = 0; c && i < VERDICTS; i++)
		free(c->of[i].path);
	free(c);
}

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

static bool
is_wanted(char *const *patterns, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (is_above(patterns[i], path))
			return true;
	return false;
}

bool
cgroup_verdict(struct cgroup_verdicts *c, char *const *patterns, size_t n, const char *path)
{
	uint64_t hash = 0;
	size_t i;

	if (n == 0)
		return true;
	path = path ? path : "[unknown]";
	if (!c)
		return is_wanted(patterns, n, path);
	for (const char *p = path; *p; p++)
		hash = slots_mix(hash, (uint8_t)*p);
	i = hash % VERDICTS;
	if (!c->of[i].path || strcmp(c->of[i].path, path) != 0) {
		free(c->of[i].path);
		c->of[i].path = strdup(path);
		c->of[i].is_wanted = is_wanted(patterns, n, path);
	}
	return c->of[i].is_wanted;
}
