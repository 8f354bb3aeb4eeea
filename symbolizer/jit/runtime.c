/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/jit/runtime.h"

#include <stddef.h>
#include <string.h>

#define DELETED " (deleted)"
#define VERSION_PART_MAX 9999 /* no runtime counts higher: what does is a build's number */

static const struct {
	const char *key, *name, *objects, *before_version;
	uint32_t option_since;
	const char *option;
	uint32_t asked_since;
	bool names_callers;
} runtimes[RUNTIME_KINDS] = { [RUNTIME_none] = { .key = "none" },
#define X(key, ...) [RUNTIME_##key] = { #key, __VA_ARGS__ },
			      RUNTIMES(X)
#undef X
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of *text, before end, which is moved behind it. 0: there is none, or none that is a version's. */
static uint32_t
take_number(const char **text, const char *end)
{
	uint32_t n = 0;

	for (; *text < end && is_digit(**text); ++*text)
		n = n > VERSION_PART_MAX ? n : n * 10 + (uint32_t)(**text - '0');
	return n > VERSION_PART_MAX ? 0 : n;
}

/* "3.12" of "3.12.so.1.0"; moves *text behind all digits and the dots between them. 0: there is none. */
static uint32_t
take_version(const char **text, const char *end)
{
	uint32_t part[2] = { 0 };

	part[0] = take_number(text, end);
	for (size_t i = 1; end - *text > 1 && **text == '.' && is_digit((*text)[1]); i++) {
		uint32_t n;

		++*text;
		n = take_number(text, end);
		if (i < 2)
			part[i] = n;
	}
	return part[0] ? RUNTIME_VERSION(part[0], part[1]) : 0;
}

/* Does the pattern, which ends where a '|' or its string does, match all of [name, end)? */
static bool
matches(const char *pattern, const char *name, const char *end, uint32_t *ret_version)
{
	*ret_version = 0;
	for (; *pattern && *pattern != '|'; pattern++) {
		if (*pattern == '*')
			return true;
		if (*pattern == '#') {
			*ret_version = take_version(&name, end);
			if (*ret_version == 0)
				return false;
			continue;
		}
		if (name == end || *name != *pattern)
			return false;
		name++;
	}
	return name == end;
}

/* Behind the first of the words that is in the path; 0: behind none. */
static uint32_t
version_in_path(const char *words, const char *path, const char *end)
{
	while (*words) {
		const size_t len = strcspn(words, "|");
		const char *at = len ? memmem(path, (size_t)(end - path), words, len) : NULL;
		uint32_t version;

		if (at) {
			at += len;
			version = take_version(&at, end);
			if (version)
				return version;
		}
		words += len + (words[len] == '|');
	}
	return 0;
}

struct runtime
runtime_of_path(const char *path)
{
	const char *end = path + strlen(path), *slash;
	const size_t deleted = strlen(DELETED);

	if ((size_t)(end - path) > deleted && strcmp(end - deleted, DELETED) == 0)
		end -= deleted;
	slash = memrchr(path, '/', (size_t)(end - path));
	for (enum runtime_kind kind = RUNTIME_none + 1; slash && kind < RUNTIME_KINDS; kind++)
		for (const char *p = runtimes[kind].objects; p; p = strchr(p, '|')) {
			struct runtime r = { .kind = kind };

			p += *p == '|';
			if (!matches(p, slash + 1, end, &r.version))
				continue;
			if (r.version == 0)
				r.version =
					version_in_path(runtimes[kind].before_version, path, end);
			return r;
		}
	return (struct runtime){ RUNTIME_none, 0 };
}

struct runtime
runtime_prefer(struct runtime a, struct runtime b)
{
	if (a.kind == RUNTIME_none || b.kind == RUNTIME_none)
		return a.kind == RUNTIME_none ? b : a;
	if (a.kind != b.kind)
		return a.kind < b.kind ? a : b;
	/* libpython3.so is beside libpython3.12.so. */
	return a.version >= b.version ? a : b;
}

const char *
runtime_key(enum runtime_kind kind)
{
	return runtimes[kind].key;
}

const char *
runtime_name(enum runtime_kind kind)
{
	return runtimes[kind].name;
}

const char *
runtime_option(enum runtime_kind kind)
{
	return runtimes[kind].option;
}

uint32_t
runtime_option_since(enum runtime_kind kind)
{
	return runtimes[kind].option_since;
}

uint32_t
runtime_asked_since(enum runtime_kind kind)
{
	return runtimes[kind].asked_since;
}

bool
runtime_names_callers(enum runtime_kind kind)
{
	return runtimes[kind].names_callers;
}
