/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/object/file_owner.h"
#include "symbolizer/object/live_files.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/object_vdso.h"
#include "symbolizer/object/packed_objects.h"
#include "symbolizer/object/stored_objects.h"

#define DELETED " (deleted)"
#define PAGE 4096 /* segments begin in pages of this size, or of a multiple */

static void
missed(struct object_search *s, enum resolve_miss why)
{
	if (s->miss == RESOLVE_NO_FILE || why == RESOLVE_MISMATCH)
		s->miss = why;
}

/* Records of perf hold the first 20 bytes of a longer build-id. */
static bool
same_build_id(const struct elf_object *elf, const struct buildid *wanted)
{
	struct buildid other;
	const uint8_t *id;
	size_t size;

	if (wanted->kind != BUILDID_GNU)
		return elf_object_recorded_id(elf, &other) == 0 && buildid_cmp(&other, wanted) == 0;
	size = elf_object_build_id(elf, &id);
	if (size > BUILDID_MAX && wanted->size == BUILDID_MAX)
		size = BUILDID_MAX;
	other = buildid_of(BUILDID_GNU, id, size);
	return other.size > 0 && buildid_same(&other, wanted);
}

static uint64_t
page_down(uint64_t at)
{
	return at & ~(uint64_t)(PAGE - 1);
}

static bool
same_inode(const struct object_search *s, const struct stat *st)
{
	const struct map_object *w = s->wanted;

	if (w->ino != 0 &&
	    (w->ino != st->st_ino || w->maj != major(st->st_dev) || w->min != minor(st->st_dev)))
		return false;
	return (uint64_t)time_text_ns(&st->st_ctim) < s->places->start_realtime_ns;
}

/* Of data: a record tells, or the map is taken for one of code. */
static bool
is_data(const struct task_map *map)
{
	return map->prot && !(map->prot & PROT_EXEC);
}

/* Is the map one of the file's segments of its kind, whole? */
static bool
same_pages(const struct elf_object *elf, const struct task_map *map)
{
	const struct elf_segment *segments;
	size_t nr = elf_object_segments(elf, &segments);

	for (size_t i = 0; i < nr; i++) {
		const struct elf_segment *s = &segments[i];
		uint64_t start = page_down(s->offset);

		if (s->exec != is_data(map) && map->pgoff == start &&
		    map->end - map->start == page_down(s->offset + s->filesz + PAGE - 1) - start)
			return true;
	}
	return false;
}

/* Is this the file of which no build-id was recorded? */
static bool
is_believed(const struct object_search *s, const struct elf_object *elf, const struct stat *st,
	    enum resolve_doubt *ret)
{
	*ret = RESOLVE_SURE;
	if (same_inode(s, st))
		return true;
	*ret = RESOLVE_UNVERIFIED;
	if ((uint64_t)time_text_ns(&st->st_mtim) < s->places->doubtful_until_ns &&
	    same_pages(elf, s->map))
		return true;
	*ret = RESOLVE_FORCED;
	return s->places->force;
}

/* The file at path, which is called so: that of a deleted one differs. */
static int
try_file(struct object_search *s, const char *path, const char *called, const char *root)
{
	const struct map_object *w = s->wanted;
	struct elf_object *elf = NULL;
	struct stat st;
	bool same;
	int fd = object_places_open(path, &st);
	int error;

	if (fd < 0)
		return 0;
	if (s->trusted_only && !file_owner_is_trusted(&st)) {
		close(fd);
		return 0;
	}
	error = elf_object_open(fd, &elf);
	if (error == -FMT_E_NOMEM)
		return error;
	if (error) {
		missed(s, RESOLVE_BAD_FILE);
		return 0;
	}
	same = w->build_id.size ? same_build_id(elf, &w->build_id)
				: is_believed(s, elf, &st, &s->doubt);
	if (!same) {
		missed(s, w->build_id.size ? RESOLVE_MISMATCH : RESOLVE_UNSURE);
		elf_object_close(elf);
		return 0;
	}
	s->found = elf;
	s->root = root;
	snprintf(s->path, sizeof(s->path), "%s", called);
	return 0;
}

/* Of a file that is kept by build-id it is of no interest why it is not the one. */
static int
try_kept(struct object_search *s, const char *path)
{
	const enum resolve_miss miss = s->miss;
	int error = try_file(s, path, path, "");

	s->miss = miss;
	return error;
}

static int
try_by_id(struct object_search *s)
{
	const struct map_object *w = s->wanted;
	char path[PATH_MAX];
	int error = 0;

	if (w->build_id.kind != BUILDID_GNU)
		return 0;
	for (size_t i = 0; !s->found && !error &&
	     object_places_by_id(s->places, i, w->build_id.bytes, w->build_id.size, path);
	     i++)
		error = try_kept(s, path);
	return error;
}

static int
try_path(struct object_search *s, const char *prefix)
{
	const char *recorded = s->wanted->path;
	size_t len = strlen(recorded), tail = strlen(DELETED);
	char path[PATH_MAX];
	int error;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", prefix, recorded) >= sizeof(path))
		return 0;
	error = try_file(s, path, path, prefix);
	/* That the kernel says, or a file is called so. */
	if (error || s->found || len <= tail || strcmp(recorded + len - tail, DELETED) != 0)
		return error;
	path[strlen(path) - tail] = '\0';
	return try_file(s, path, path, prefix);
}

bool
object_search_is_others(const struct object_places *places, const struct map_object *wanted)
{
	struct stat st;
	int fd = places->symfs ? -1 : object_places_open(wanted->path, &st);

	if (fd < 0)
		return false;
	close(fd);
	return !file_owner_is_trusted(&st);
}

/* Through a process that has it mapped: in its root, then what is mapped, whatever its name is now. */
static int
try_live_file(struct object_search *s, const struct live_file *f)
{
	char called[PATH_MAX], path[64];
	int error;

	snprintf(s->live_root, sizeof(s->live_root), "/proc/%d/root", (int)f->pid);
	if ((size_t)snprintf(called, sizeof(called), "%s%s", s->live_root, f->path) >=
	    sizeof(called))
		return 0;
	error = try_file(s, called, called, s->live_root);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)f->pid,
		 f->start, f->end);
	if (!error && !s->found)
		error = try_file(s, path, called, s->live_root);
	/* Whoever may not use those may still read his own program. */
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)f->pid);
	if (!error && !s->found)
		error = try_file(s, path, called, s->live_root);
	return error;
}

/* Files of root's and the reader's own go before those of others, whose process may be the first with that path. */
static int
try_live(struct object_search *s, bool trusted_only)
{
	const enum resolve_miss miss = s->miss;
	const struct live_file *files;
	size_t nr;
	int error;

	if (s->places->live == NULL || !s->places->this_boot)
		return 0;
	s->trusted_only = trusted_only;
	error = live_files_find(s->places->live, s->wanted, &files, &nr);
	for (size_t i = 0; !error && i < nr && !s->found; i++)
		error = try_live_file(s, &files[i]);
	s->trusted_only = false;
	s->miss = miss;
	return error;
}

/* What the recording brings along. */
static int
try_packed(struct object_search *s, bool names_only)
{
	bool code = true;
	int error = packed_objects_open(s->places->packed, PACKED_OBJECT, &s->wanted->build_id,
					names_only, &s->found, &code);

	if (error || !s->found)
		return error;
	snprintf(s->path, sizeof(s->path), "%s", s->wanted->path);
	s->root = "";
	s->stored = s->packed = true;
	s->codeless = !code;
	return 0;
}

static int
find_vdso(struct object_search *s)
{
	const struct map_object *w = s->wanted;
	struct elf_object *elf = NULL;
	int error = try_packed(s, false);

	if (error || s->found)
		return error;
	error = object_vdso_open(s->narrow, &elf);
	if (error)
		return error == -FMT_E_NOMEM ? error : try_by_id(s);
	if (w->build_id.size ? same_build_id(elf, &w->build_id) : s->places->this_boot) {
		s->found = elf;
		return 0;
	}
	elf_object_close(elf);
	return try_by_id(s);
}

/*
 * Address of a map's first byte. objcopy --only-keep-debug leaves the segments their addresses, and
 * takes their offsets. GNU ld gives text the same offset as address; of others it is the segment that
 * is as long as the map, since a loader maps a segment whole.
 */
bool
object_search_address(const struct elf_segment *segments, size_t nr_segments,
		      const struct task_map *map, uint64_t *ret)
{
	uint64_t length = map->end - map->start, start, end, found = 0;
	size_t nr = 0;

	for (size_t i = 0; i < nr_segments; i++) {
		const struct elf_segment *s = &segments[i];

		start = page_down(s->vaddr);
		end = page_down(s->vaddr + s->memsz + PAGE - 1);
		if (s->exec == is_data(map) || end < start || length > end - start)
			continue;
		if (map->pgoff == start) {
			*ret = start;
			return true;
		}
		nr += length == end - start;
		if (length == end - start)
			found = start;
	}
	if (nr == 1)
		*ret = found;
	return nr == 1;
}

/* The copy that was stored with the recording. */
static int
try_stored(struct object_search *s)
{
	bool whole = true;
	int error = stored_objects_open(s->places->stored, &s->wanted->build_id, &s->found, &whole);

	s->stored = !error && s->found;
	/* What is beside the file may be here. */
	if (s->stored)
		snprintf(s->path, sizeof(s->path), "%s", s->wanted->path);
	s->root = "";
	s->codeless = !whole;
	return error;
}

static bool
same_segments(const struct elf_object *a, const struct elf_object *b)
{
	const struct elf_segment *x, *y;
	size_t nr = elf_object_segments(a, &x);

	if (nr != elf_object_segments(b, &y))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (x[i].vaddr != y[i].vaddr || x[i].memsz != y[i].memsz || x[i].exec != y[i].exec)
			return false;
	return true;
}

/* The file here was stripped, and the one that was recorded was not. */
int
object_search_symbols(const struct object_search *s, struct elf_object **ret)
{
	struct elf_object *stored;
	bool whole;
	int error;

	if (s->vdso || s->separate || elf_object_has_symtab(s->found))
		return 0;
	error = stored_objects_open(s->places->stored, &s->wanted->build_id, &stored, &whole);
	if (!error && stored && elf_object_has_symtab(stored) && same_segments(s->found, stored))
		*ret = stored;
	else
		elf_object_close(stored);
	return error;
}

/* The object is nowhere: what there is of it with symbols. */
int
object_search_separate(struct object_search *s)
{
	const struct buildid *id = &s->wanted->build_id;
	char path[PATH_MAX];
	bool code;
	int error =
		packed_objects_open(s->places->packed, PACKED_DEBUG, id, false, &s->found, &code);
	const bool packed = s->found != NULL;

	if (id->kind != BUILDID_GNU && !s->found)
		return error;
	for (size_t i = 0; !s->found && !error &&
	     object_places_debug(s->places, s->places->symfs, i, id->bytes, id->size, path);
	     i++)
		error = try_kept(s, path);
	if (s->found && !elf_object_has_symtab(s->found)) {
		elf_object_close(s->found);
		s->found = NULL;
	}
	s->separate = s->found != NULL;
	s->stored = s->packed = s->found && packed;
	return error;
}

static bool
separate_fits(const struct object_search *s)
{
	const struct elf_segment *segments;
	size_t nr = elf_object_segments(s->found, &segments);
	uint64_t start;

	return object_search_address(segments, nr, s->map, &start);
}

static bool
fetch_object(const struct object_search *s, enum object_fetch_what what)
{
	const struct map_object *w = s->wanted;

	return w->build_id.kind == BUILDID_GNU &&
		object_fetch_get(s->places->fetch, what, w->build_id.bytes, w->build_id.size,
				 w->path);
}

/* What has the symbols, and only where that will not do the object. */
static int
try_fetched(struct object_search *s)
{
	int error = 0;

	if (!s->found && !s->whole && fetch_object(s, OBJECT_FETCH_DEBUGINFO))
		error = object_search_separate(s);
	if (error || (s->found && separate_fits(s) && !s->places->keep_code) ||
	    !fetch_object(s, OBJECT_FETCH_EXECUTABLE))
		return error;
	elf_object_close(s->found);
	s->found = NULL;
	s->separate = s->stored = s->packed = false;
	error = try_by_id(s);
	return error || s->found || s->whole ? error : object_search_separate(s);
}

/* With symbols alone it is better than nothing. */
static int
try_names_only(struct object_search *s)
{
	bool code;
	int error = try_packed(s, true);

	if (error || s->found)
		return error;
	error = packed_objects_open(s->places->packed, PACKED_DEBUG, &s->wanted->build_id, true,
				    &s->found, &code);
	if (s->found && !elf_object_has_symtab(s->found)) {
		elf_object_close(s->found);
		s->found = NULL;
	}
	s->separate = s->stored = s->packed = s->found != NULL;
	return error;
}

int
object_search_find(struct object_search *s)
{
	int error = 0;

	if (s->vdso) {
		error = find_vdso(s);
		return error || s->found || s->whole ? error : try_names_only(s);
	}
	if (s->places->symfs != NULL)
		error = try_path(s, s->places->symfs);
	if (!error && !s->found)
		error = try_packed(s, false);
	if (!error && !s->found)
		error = try_path(s, "");
	if (!error && !s->found)
		error = try_live(s, true);
	if (!error && !s->found)
		error = try_by_id(s);
	if (!error && !s->found)
		error = try_live(s, false);
	if (!error && !s->found)
		error = try_stored(s);
	if (!error && !s->found && !s->whole)
		error = object_search_separate(s);
	if (!error && (!s->found || s->separate))
		error = try_fetched(s);
	if (!error && !s->found && !s->whole)
		error = try_names_only(s);
	return error;
}

int
object_search_debug(struct object_search *s, struct elf_object **ret)
{
	return object_debug_find(
		&(struct object_debug){ s->places, s->found, s->vdso ? NULL : s->path,
					s->root ? s->root : "", s->wanted->build_id },
		ret, &s->debug_packed);
}
