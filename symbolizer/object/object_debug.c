/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_debug.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/io.h"
#include "symbolizer/object/elf_shift.h"
#include "symbolizer/object/file_owner.h"
#include "symbolizer/object/packed_objects.h"

/* CRC-32 as .gnu_debuglink has it, of the whole file. */
static bool
read_crc(int fd, uint64_t size, uint32_t *ret)
{
	static const size_t chunk = 64u << 10;
	uint8_t *bytes = malloc(chunk);
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;

	while (bytes != NULL && at < size) {
		ssize_t n = pread(fd, bytes, chunk, (off_t)at);

		if (n <= 0)
			break;
		crc = crc32(crc, bytes, (uInt)n);
		at += (uint64_t)n;
	}
	free(bytes);
	*ret = (uint32_t)crc;
	return bytes != NULL && at == size;
}

void
object_debug_sums_init(struct object_debug_sums *sums)
{
	*sums = (struct object_debug_sums){ .read = 0 };
	pthread_mutex_init(&sums->lock, NULL);
}

void
object_debug_sums_done(struct object_debug_sums *sums)
{
	pthread_mutex_destroy(&sums->lock);
}

uint64_t
object_debug_sums_left_out(struct object_debug_sums *sums)
{
	uint64_t n;

	pthread_mutex_lock(&sums->lock);
	n = sums->left_out;
	pthread_mutex_unlock(&sums->lock);
	return n;
}

uint64_t
object_debug_sums_misfits(struct object_debug_sums *sums, char ret_first[PATH_MAX])
{
	uint64_t n;

	pthread_mutex_lock(&sums->lock);
	n = sums->misfits;
	snprintf(ret_first, PATH_MAX, "%s", sums->misfit);
	pthread_mutex_unlock(&sums->lock);
	return n;
}

static void
note_misfit(struct object_debug_sums *sums, const char *path)
{
	pthread_mutex_lock(&sums->lock);
	if (sums->misfits++ == 0)
		snprintf(sums->misfit, sizeof(sums->misfit), "%s", path);
	pthread_mutex_unlock(&sums->lock);
}

/* Under the lock. */
static bool
find_crc(struct object_debug_sums *sums, int fd, const struct stat *st, uint32_t *ret)
{
	const uint64_t max = sizeof(sums->of) / sizeof(sums->of[0]);

	for (uint64_t i = 0; i < max && i < sums->read; i++) {
		const struct object_debug_sum *s = &sums->of[i];

		if (s->dev == st->st_dev && s->ino == st->st_ino && s->size == st->st_size &&
		    memcmp(&s->changed, &st->st_ctim, sizeof(s->changed)) == 0) {
			*ret = s->crc;
			return true;
		}
	}
	if ((uint64_t)st->st_size > OBJECT_DEBUG_SUM_BYTES_MAX - sums->bytes) {
		sums->left_out++;
		return false;
	}
	sums->bytes += (uint64_t)st->st_size;
	if (!read_crc(fd, (uint64_t)st->st_size, ret))
		return false;
	sums->of[sums->read++ % max] =
		(struct object_debug_sum){ st->st_dev, st->st_ino, st->st_size, st->st_ctim, *ret };
	return true;
}

static bool
file_crc(struct object_debug_sums *sums, int fd, const struct stat *st, uint32_t *ret)
{
	bool known;

	pthread_mutex_lock(&sums->lock);
	known = find_crc(sums, fd, st, ret);
	pthread_mutex_unlock(&sums->lock);
	return known;
}

struct link {
	char name[NAME_MAX + 1];
	uint32_t crc;
	bool there;
};

/* Lets go of a file by whose addresses nothing in the object can be named. */
static int
refuse_misfit(const struct object_debug *d, const char *path, struct elf_object **ret)
{
	enum elf_shift shift = ELF_SHIFT_KNOWN;
	uint64_t by;

	if (*ret)
		shift = elf_shift_code(*ret, d->object, &by);
	if (shift == ELF_SHIFT_KNOWN)
		return 0;
	elf_object_close(*ret);
	*ret = NULL;
	if (shift == ELF_SHIFT_NOMEM)
		return -FMT_E_NOMEM;
	note_misfit(d->places->sums, path);
	return 0;
}

/* May the owner of a file name the functions of the object? What the reader names (symfs) is the reader's word. */
static bool
is_of_owner(const struct object_debug *d, const struct stat *st)
{
	struct stat object;

	if (d->places->symfs && strcmp(d->root, d->places->symfs) == 0)
		return true;
	return elf_object_stat(d->object, &object) && file_owner_may_name(st, &object);
}

/* A file with symbols for the object found: by build-id, else by the link's checksum. */
static int
try_debug(const struct object_debug *d, const struct link *link, const char *path,
	  struct elf_object **ret)
{
	struct elf_object *elf;
	const uint8_t *id, *debug_id;
	size_t size = elf_object_build_id(d->object, &id), debug_size;
	struct stat st;
	uint32_t crc = 0;
	bool same;
	int fd = object_places_open(path, &st);
	int error;

	if (fd < 0)
		return 0;
	if (!is_of_owner(d, &st)) {
		close(fd);
		return 0;
	}
	error = elf_object_open(fd, &elf);
	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	debug_size = elf_object_build_id(elf, &debug_id);
	if (!elf_object_has_symtab(elf) && !elf_object_has_dwarf(elf))
		same = false;
	else if (size != 0)
		same = size == debug_size && memcmp(id, debug_id, size) == 0;
	else
		same = link->there && file_crc(d->places->sums, fd, &st, &crc) && crc == link->crc;
	if (!same) {
		elf_object_close(elf);
		return 0;
	}
	*ret = elf;
	return refuse_misfit(d, path, ret);
}

static int
find_debug_by_id(const struct object_debug *d, const struct link *link, struct elf_object **ret)
{
	const uint8_t *id;
	size_t size = elf_object_build_id(d->object, &id);
	char path[PATH_MAX];
	int error = 0;

	for (size_t i = 0;
	     *ret == NULL && !error && object_places_debug(d->places, d->root, i, id, size, path);
	     i++)
		error = try_debug(d, link, path, ret);
	return error;
}

/* The places that gdb knows, for an object in a directory below root. */
static int
try_link(const struct object_debug *d, const struct link *link, const char *root, const char *dir,
	 struct elf_object **ret)
{
	static const char *const beside[] = { "", "/.debug" };
	const char *const *dirs = d->places->debug_dirs;
	char path[PATH_MAX];
	int error = 0;

	for (size_t i = 0; i < 2 && *ret == NULL && !error; i++)
		if (snprintf(path, sizeof(path), "%s%s%s/%s", root, dir, beside[i], link->name) <
		    PATH_MAX)
			error = try_debug(d, link, path, ret);
	for (size_t i = 0; dirs[i] != NULL && *ret == NULL && !error; i++) {
		if (snprintf(path, sizeof(path), "%s%s%s/%s", root, dirs[i], dir, link->name) <
		    PATH_MAX)
			error = try_debug(d, link, path, ret);
		if (*root == '\0' || *ret != NULL || error)
			continue;
		if (snprintf(path, sizeof(path), "%s%s/%s", dirs[i], dir, link->name) < PATH_MAX)
			error = try_debug(d, link, path, ret);
	}
	return error;
}

/* By the directory that the path names, and by that which links in it lead to (/lib, /usr/lib). */
static int
find_debug_by_link(const struct object_debug *d, const struct link *link, struct elf_object **ret)
{
	const size_t root = strlen(d->root);
	char *real = realpath(d->path, NULL), *given = strdup(d->path);
	int error = given ? 0 : -FMT_E_NOMEM;
	char *slash;

	if (!error && (slash = strrchr(given + root, '/')) != NULL) {
		*slash = '\0';
		error = try_link(d, link, d->root, given + root, ret);
		*slash = '/';
	}
	if (!error && *ret == NULL && real && strcmp(real, given) != 0) {
		*strrchr(real, '/') = '\0';
		if (strncmp(real, d->root, root) == 0)
			error = try_link(d, link, d->root, real + root, ret);
		else
			error = try_link(d, link, "", real, ret);
	}
	free(given);
	free(real);
	return error;
}

/* True: it is among those that are kept by build-id now. */
static bool
fetch_debug(const struct object_debug *d)
{
	struct object_fetch *fetch = d->places->fetch;
	const uint8_t *id;
	size_t size = elf_object_build_id(d->object, &id);

	return (!elf_object_has_symtab(d->object) || object_fetch_lines(fetch)) &&
		object_fetch_get(fetch, OBJECT_FETCH_DEBUGINFO, id, size,
				 d->path ? d->path : "[vdso]");
}

static int
open_packed(const struct object_debug *d, bool names_only, struct elf_object **ret)
{
	bool code;
	int error = packed_objects_open(d->places->packed, PACKED_DEBUG, &d->id, names_only, ret,
					&code);

	return error ? error : refuse_misfit(d, "a debug file in the recording", ret);
}

/* With its debug information, or, last, with its symbols alone. */
static int
find_packed(const struct object_debug *d, bool last, struct elf_object **ret)
{
	int error = open_packed(d, false, ret);

	if (*ret && !elf_object_has_dwarf(*ret) && !(last && elf_object_has_symtab(*ret))) {
		elf_object_close(*ret);
		*ret = NULL;
	}
	if (error || *ret || !last)
		return error;
	error = open_packed(d, true, ret);
	if (*ret && !elf_object_has_symtab(*ret)) {
		elf_object_close(*ret);
		*ret = NULL;
	}
	return error;
}

int
object_debug_find(const struct object_debug *d, struct elf_object **ret, bool *ret_packed)
{
	struct link link = { .there = false };
	bool here;
	int error;

	*ret = NULL;
	if (elf_object_has_symtab(d->object) && elf_object_has_dwarf(d->object))
		return 0;
	link.there = elf_object_debuglink(d->object, link.name, sizeof(link.name), &link.crc);
	error = find_packed(d, false, ret);
	here = !*ret;
	if (!error && *ret == NULL)
		error = find_debug_by_id(d, &link, ret);
	if (!error && *ret == NULL && link.there && d->path != NULL)
		error = find_debug_by_link(d, &link, ret);
	if (!error && *ret == NULL && fetch_debug(d))
		error = find_debug_by_id(d, &link, ret);
	if (!error && *ret == NULL) {
		error = find_packed(d, true, ret);
		here = false;
	}
	*ret_packed |= *ret && !here;
	return error;
}

/* Of the file with this build-id, and of no other. It is one without code, and so no elf_object. */
static int
try_alt_fd(int fd, struct span id, int *ret)
{
	struct buildid found = { 0 };
	struct io_source *file;
	int dup = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (fd < 0)
		return 0;
	file = io_source_fd(fd);
	if (file && dup >= 0 && buildid_read(file, &found) == 0 && found.kind == BUILDID_GNU &&
	    found.size == id.len && memcmp(found.bytes, id.p, id.len) == 0)
		*ret = dup;
	else if (dup >= 0)
		close(dup);
	if (!file)
		return -FMT_E_NOMEM;
	file->close(file);
	return 0;
}

static int
try_alt(const struct elf_object *debug, const char *path, struct span id, int *ret)
{
	struct stat st, of;
	int fd = object_places_open(path, &st);

	if (fd >= 0 && !(elf_object_stat(debug, &of) && file_owner_may_name(&st, &of))) {
		close(fd);
		fd = -1;
	}
	return try_alt_fd(fd, id, ret);
}

static int
alt_packed(const struct object_places *p, struct span id, int *ret)
{
	const struct buildid wanted = buildid_of(BUILDID_GNU, id.p, id.len);

	return try_alt_fd(packed_objects_fd(p->packed, PACKED_ALT, &wanted), id, ret);
}

static int
alt_by_id(const struct object_places *p, const struct elf_object *debug, struct span id, int *ret)
{
	char path[PATH_MAX];
	int error = 0;

	for (size_t i = 0;
	     *ret < 0 && !error && object_places_debug(p, p->symfs, i, id.p, id.len, path); i++)
		error = try_alt(debug, path, id, ret);
	return error;
}

/* The i-th path by which the link may lead to it; -1: it is too long. */
static int
alt_path(const struct object_places *p, const char *file, size_t i, const char *link,
	 char ret[PATH_MAX])
{
	const char *slash = strrchr(link, '/'), *name = slash ? slash + 1 : link;
	int n;

	if (i == 0 && *link == '/')
		n = snprintf(ret, PATH_MAX, "%s", link);
	else if (i == 0)
		n = snprintf(ret, PATH_MAX, "%.*s%s", (int)(strrchr(file, '/') - file) + 1, file,
			     link);
	else
		n = snprintf(ret, PATH_MAX, "%s/.dwz/%s", p->debug_dirs[i - 1], name);
	return n < PATH_MAX ? 0 : -1;
}

int
object_debug_alt(const struct object_places *p, struct elf_object *debug, int *ret,
		 bool *ret_packed)
{
	char path[PATH_MAX], file[PATH_MAX];
	const char *link;
	struct span id;
	int error = 0;

	*ret = -1;
	if (!elf_object_altlink(debug, &link, &id))
		return 0;
	error = alt_packed(p, id, ret);
	*ret_packed |= *ret >= 0;
	if (!error && *ret < 0)
		error = alt_by_id(p, debug, id, ret);
	if (*ret >= 0 || error || !elf_object_path(debug, file))
		return error;
	for (size_t i = 0; *ret < 0 && !error && (i == 0 || p->debug_dirs[i - 1]); i++)
		if (alt_path(p, file, i, link, path) == 0)
			error = try_alt(debug, path, id, ret);
	if (*ret < 0 && !error && object_fetch_lines(p->fetch) &&
	    object_fetch_get(p->fetch, OBJECT_FETCH_DEBUGINFO, id.p, id.len, link))
		error = alt_by_id(p, debug, id, ret);
	return error;
}
