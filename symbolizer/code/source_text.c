/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/source_text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/io.h"
#include "format/bytes/slots.h"
#include "format/bytes/time_text.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/object/elf_object.h"

#define NOT_HERE "is not here: give --source-path"

struct file {
	const char *name;
	const char *why;
	bool newer, short_of;
	uint8_t *text;
	size_t len;
	uint32_t *lines; /* where they begin; ended by one that begins at len or behind it */
	size_t nr_lines;
};

struct source_text {
	const struct source_places *places;
	struct file *files;
	size_t nr_files, cap_files;
	struct slots slots;
	size_t bytes; /* of all */
};

struct source_text *
source_text_new(const struct source_places *places)
{
	struct source_text *s = calloc(1, sizeof(*s));

	if (s)
		s->places = places;
	return s;
}

void
source_text_free(struct source_text *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_files; i++) {
		free(s->files[i].text);
		free(s->files[i].lines);
	}
	free(s->files);
	slots_done(&s->slots);
	free(s);
}

/* --- which file ---------------------------------------------------------------------------- */

/*
 * A name without "." and "..", so that it is below whatever is put before it. False: too long. A
 * relative one stays relative.
 */
static bool
clean(const char *name, char ret[PATH_MAX])
{
	const bool absolute = *name == '/';
	size_t len = 0;

	for (const char *p = name, *end; *p; p = end) {
		size_t n;

		p += strspn(p, "/");
		end = p + strcspn(p, "/");
		n = (size_t)(end - p);
		if (n == 0 || (n == 1 && *p == '.'))
			continue;
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			while (len > 0 && ret[--len] != '/')
				;
			continue;
		}
		if (len + n + 2 > PATH_MAX)
			return false;
		if (len > 0 || absolute)
			ret[len++] = '/';
		memcpy(ret + len, p, n);
		len += n;
	}
	ret[len] = '\0';
	return len > 0;
}

static int
open_joined(const char *before, const char *after, struct stat *st)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", before, *after == '/' ? "" : "/",
			     after) >= sizeof(path))
		return -1;
	return object_places_open(path, st);
}

/* Below a directory, by the whole name, else without its first directory, and so on. */
static int
open_below(const char *dir, const char *name, struct stat *st)
{
	const char *slash;
	int fd = open_joined(dir, name, st);

	for (name += *name == '/'; fd < 0 && (slash = strchr(name, '/')); name = slash + 1)
		fd = open_joined(dir, slash + 1, st);
	return fd;
}

/* By what the reader gave. */
static int
open_given(const struct source_places *p, const char *name, struct stat *st)
{
	char cleaned[PATH_MAX], from[PATH_MAX];
	int fd = -1;

	if (!clean(name, cleaned))
		return -1;
	for (size_t i = 0; i < p->nr_given && fd < 0; i++) {
		const char *given = p->given[i], *equal = strchr(given, '=');
		size_t len;

		if (!equal) {
			fd = open_below(given, cleaned, st);
			continue;
		}
		if ((size_t)snprintf(from, sizeof(from), "%.*s", (int)(equal - given), given) >=
		    sizeof(from))
			continue;
		len = strlen(from);
		while (len > 1 && from[len - 1] == '/')
			len--;
		if (strncmp(cleaned, from, len) == 0 &&
		    (cleaned[len] == '/' || from[len - 1] == '/'))
			fd = open_joined(equal + 1, cleaned + len, st);
	}
	return fd;
}

/* May everybody come to it? Cuts the path. */
static bool
is_reachable(char *path)
{
	struct stat st;

	for (char *slash; (slash = strrchr(path, '/')) != path;) {
		*slash = '\0';
		if (stat(path, &st) != 0 || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

static bool
is_called_source(const char *name)
{
	static const char *const ends[] = {
		"c",   "h",   "cc",  "hh",  "cpp",   "hpp", "cxx", "hxx", "c++", "h++", "inl",
		"s",   "S",   "asm", "rs",  "go",    "d",   "zig", "nim", "f",	 "for", "f90",
		"f95", "F90", "m",   "mm",  "swift", "ml",  "hs",  "adb", "ads", "pas", "pyx",
		"y",   "l",   "inc", "def", "tcc",   "cu",  "cuh", "ipp", "tpp", "v",	"cr",
	};
	const char *base = strrchr(name, '/'), *dot;

	base = base ? base + 1 : name;
	dot = strrchr(base, '.');
	for (size_t i = 0; dot && dot > base && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(dot + 1, ends[i]) == 0)
			return true;
	return false;
}

static bool
may_be_shown(int fd, const struct stat *st, uid_t named_by)
{
	char path[PATH_MAX];

	if (!elf_object_path_of(fd, path))
		return false;
	if (st->st_uid == named_by && is_called_source(path))
		return true;
	return (st->st_mode & S_IROTH) && is_reachable(path);
}

/* Where it was named to be. */
static int
open_named(struct source_text *s, struct file *f, uid_t named_by, struct stat *st)
{
	const char *symfs = s->places->symfs;
	int fd = -1;

	if (f->name[0] != '/')
		return -1;
	if (symfs) {
		char cleaned[PATH_MAX];

		/* It is given by the reader, too. */
		return clean(f->name, cleaned) ? open_joined(symfs, cleaned, st) : -1;
	}
	fd = object_places_open(f->name, st);
	if (fd < 0 || may_be_shown(fd, st, named_by))
		return fd;
	close(fd);
	f->why =
		"is shown only if all users may read it, or the owner of the program that names it "
		"owns it, and its name is one of source code: give --source-path";
	return -1;
}

/* --- its text ------------------------------------------------------------------------------ */

static int
index_lines(struct file *f)
{
	size_t cap = 0;

	for (size_t at = 0; at < f->len;) {
		const uint8_t *end = memchr(f->text + at, '\n', f->len - at);

		if (array_reserve(f->lines, f->nr_lines, cap, 2) < 0)
			return -FMT_E_NOMEM;
		f->lines[f->nr_lines++] = (uint32_t)at;
		at = end ? (size_t)(end + 1 - f->text) : f->len + 1;
		f->lines[f->nr_lines] = (uint32_t)at;
	}
	return 0;
}

static int
read_text(struct source_text *s, struct file *f, int fd, const struct stat *st)
{
	ssize_t n;

	if ((uint64_t)st->st_size > SOURCE_TEXT_FILE_MAX) {
		f->why = "is over 32 MiB";
		return 0;
	}
	if ((uint64_t)st->st_size > SOURCE_TEXT_ALL_MAX - s->bytes) {
		f->why = "would be too much: 128 MiB of source are shown at most";
		return 0;
	}
	f->text = malloc((size_t)st->st_size + 1);
	if (!f->text)
		return -FMT_E_NOMEM;
	while (f->len < (size_t)st->st_size &&
	       (n = io_read(fd, f->text + f->len, (size_t)st->st_size - f->len)) > 0)
		f->len += (size_t)n;
	s->bytes += f->len;
	f->newer = s->places->recorded_ns &&
		(uint64_t)time_text_ns(&st->st_mtim) > s->places->recorded_ns;
	if (f->len > 0 && memchr(f->text, 0, f->len)) {
		f->why = "is not text";
		return 0;
	}
	return index_lines(f);
}

static int
open_file(struct source_text *s, struct file *f, uid_t named_by)
{
	struct stat st;
	int fd, error;

	if (s->places->none) {
		f->why = "is not shown (--no-source)";
		return 0;
	}
	fd = open_given(s->places, f->name, &st);
	if (fd < 0)
		fd = open_named(s, f, named_by, &st);
	if (fd < 0) {
		f->why = f->why ? f->why : NOT_HERE;
		return 0;
	}
	error = read_text(s, f, fd, &st);
	close(fd);
	return error;
}

static bool
file_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct source_text *)owner)->files[index].name ==
		((const struct file *)key)->name;
}

int
source_text_line(struct source_text *s, const char *name, uid_t named_by, uint32_t line,
		 const char **ret, size_t *ret_len)
{
	const struct file key = { .name = name };
	const size_t known = s->nr_files;
	struct file *f;
	uint32_t at;
	int error = slots_keep(&s->slots, (uint32_t)slots_mix((uintptr_t)name, 0), file_same, s,
			       &key, s->files, s->nr_files, s->cap_files, &at);

	if (error)
		return error;
	f = &s->files[at];
	if (at == known)
		error = open_file(s, f, named_by);
	if (error || f->why || line == 0)
		return error;
	if (line > f->nr_lines) {
		f->short_of = true;
		return 0;
	}
	*ret = (const char *)f->text + f->lines[line - 1];
	*ret_len = f->lines[line] - f->lines[line - 1] - 1;
	if (*ret_len > 0 && (*ret)[*ret_len - 1] == '\r')
		--*ret_len;
	if (*ret_len > SOURCE_TEXT_LINE_MAX)
		*ret_len = SOURCE_TEXT_LINE_MAX;
	return 1;
}

bool
source_text_file(const struct source_text *s, size_t i, struct source_file *ret)
{
	const struct file *f;

	if (i >= s->nr_files)
		return false;
	f = &s->files[i];
	*ret = (struct source_file){ f->name, f->why, f->newer, f->short_of };
	return true;
}
