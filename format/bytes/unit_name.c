/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/unit_name.h"

#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#define ID_DIGITS 64 /* of a SHA-256, as docker, containerd, CRI-O and podman have them */
#define ID_SHOWN 12
#define HEX "0123456789abcdef"

/* One directory of a path. */
struct part {
	const char *at;
	size_t len;
};

/* Takes the next one off the front of *path; false: there is none. */
static bool
take_part(const char **path, struct part *ret)
{
	*path += strspn(*path, "/");
	*ret = (struct part){ *path, strcspn(*path, "/") };
	*path += ret->len;
	return ret->len > 0;
}

/* systemd puts a '_' in front of what could be taken for a file of the control group's own. */
static struct part
part_unescaped(struct part p)
{
	return p.len > 0 && *p.at == '_' ? (struct part){ p.at + 1, p.len - 1 } : p;
}

bool
unit_name_is(const char *name, size_t len, const char *type)
{
	const size_t n = strlen(type);

	return len > n && memcmp(name + len - n, type, n) == 0;
}

bool
unit_name_valid(const char *name, size_t len)
{
	static const char *const suffixes[] = { ".service", ".scope",  ".slice",    ".socket",
						".mount",   ".swap",   ".target",   ".timer",
						".path",    ".device", ".automount" };

	if (len >= UNIT_NAME_MAX)
		return false;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (unit_name_is(name, len, suffixes[i]))
			return true;
	return false;
}

/* Takes slices off the front of *path, and then the unit in the last of them: *slice, *unit. */
static void
take_unit(const char **path, struct part *slice, struct part *unit)
{
	struct part p;

	*unit = (struct part){ NULL, 0 };
	while (take_part(path, &p)) {
		p = part_unescaped(p);
		if (!unit_name_is(p.at, p.len, ".slice")) {
			*unit = p;
			return;
		}
		*slice = p;
	}
}

const char *
unit_name_of_cgroup(const char *path, size_t *ret_len)
{
	struct part slice = { "-.slice", strlen("-.slice") }, unit, user;
	const char *rest = path;

	take_unit(&rest, &slice, &unit);
	if (!unit.at) {
		*ret_len = slice.len;
		return slice.at;
	}
	if (!unit_name_valid(unit.at, unit.len)) {
		*ret_len = strlen(path);
		return path;
	}
	if (strncmp(unit.at, "user@", 5) == 0 && unit_name_is(unit.at, unit.len, ".service")) {
		take_unit(&rest, &slice, &user);
		if (user.at && unit_name_valid(user.at, user.len))
			unit = user;
	}
	*ret_len = unit.len;
	return unit.at;
}

void
unit_name_stem(const char *name, char *out, size_t size)
{
	char *dot;

	(void)strlcpy(out, name, size);
	dot = strrchr(out, '.');
	if (dot && dot > out && unit_name_valid(out, strlen(out)))
		*dot = '\0';
}

const char *
unit_name_slice_of_cgroup(const char *path, size_t *ret_len)
{
	struct part slice = { "-.slice", strlen("-.slice") }, p;

	while (take_part(&path, &p)) {
		p = part_unescaped(p);
		if (unit_name_is(p.at, p.len, ".slice"))
			slice = p;
	}
	*ret_len = slice.len;
	return slice.at;
}

static bool
is_container_id(const char *s, size_t len)
{
	return len >= ID_SHOWN && len <= ID_DIGITS && strspn(s, HEX) == len;
}

char *
unit_name_pattern(const char *name, const char *type)
{
	const bool service = strcmp(type, ".service") == 0;
	size_t len = strlen(name);
	char *pattern = NULL;
	int n;

	if (strchr(name, '/'))
		return strdup(name);
	if (service && unit_name_is(name, len, "@.service"))
		len -= strlen(".service");
	if (service && is_container_id(name, len))
		n = asprintf(&pattern, "*%s*", name);
	else if (service && name[len - 1] == '@')
		n = asprintf(&pattern, "%.*s*.service", (int)len, name);
	else if (service ? unit_name_valid(name, len) || strpbrk(name, "*?")
			 : unit_name_is(name, len, type))
		return strdup(name);
	else
		n = asprintf(&pattern, "%s%s", name, type);
	return n < 0 ? NULL : pattern;
}

bool
unit_name_shorten(const char *path, char *out, size_t size)
{
	bool found = false;
	size_t n = 0;

	while (*path && n + 1 < size) {
		const size_t digits = strspn(path, HEX);
		size_t copied = digits == ID_DIGITS ? ID_SHOWN : digits ? digits : 1;

		found |= digits == ID_DIGITS;
		copied = copied < size - 1 - n ? copied : size - 1 - n;
		memmove(out + n, path, copied); /* out may be path */
		n += copied;
		path += digits ? digits : 1;
	}
	if (size > 0)
		out[n] = '\0';
	return found;
}
