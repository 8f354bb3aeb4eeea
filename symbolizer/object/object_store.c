/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/object/elf_gopclntab.h"
#include "symbolizer/object/elf_minidebug.h"
#include "symbolizer/object/live_files.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/object_vdso.h"
#include "symbolizer/object/stored_objects.h"

#define DELETED " (deleted)"
#define PAGE 4096 /* segments begin in pages of this size, or of a multiple */

struct search {
	const struct object_places *places;
	const struct map_object *wanted;
	const struct task_map *map; /* one of it */
	bool vdso;
	enum resolve_doubt doubt; /* of found */
	/* Of the candidates so far, what would help a person most. */
	enum resolve_miss miss;
	struct elf_object *found;
	bool separate; /* it has the symbols of the object, and is not the object */
	bool codeless; /* it is a copy without the code */
	bool stored;   /* it, or what has its symbols, is a copy beside the recording */
	bool whole;    /* nothing but the object itself will do */
	/* Of found: where it is, or was; and what of that is no part of its own path. */
	char path[PATH_MAX];
	const char *root;
	char live_root[32];
};

static void
missed(struct search *s, enum resolve_miss why)
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
	if (size != wanted->size && !(wanted->size == BUILDID_MAX && size > BUILDID_MAX))
		return false;
	return memcmp(id, wanted->bytes, wanted->size) == 0;
}

static uint64_t
page_down(uint64_t at)
{
	return at & ~(uint64_t)(PAGE - 1);
}

static bool
same_inode(const struct search *s, const struct stat *st)
{
	const struct map_object *w = s->wanted;

	if (w->ino != 0 &&
	    (w->ino != st->st_ino || w->maj != major(st->st_dev) || w->min != minor(st->st_dev)))
		return false;
	return (uint64_t)time_text_ns(&st->st_ctim) < s->places->start_realtime_ns;
}

/* Is the map one of the file's segments of code, whole? */
static bool
same_pages(const struct elf_object *elf, const struct task_map *map)
{
	const struct elf_segment *segments;
	size_t nr = elf_object_segments(elf, &segments);

	for (size_t i = 0; i < nr; i++) {
		const struct elf_segment *s = &segments[i];
		uint64_t start = page_down(s->offset);

		if (s->exec && map->pgoff == start &&
		    map->end - map->start == page_down(s->offset + s->filesz + PAGE - 1) - start)
			return true;
	}
	return false;
}

/* Is this the file of which no build-id was recorded? */
static bool
is_believed(const struct search *s, const struct elf_object *elf, const struct stat *st,
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
try_file(struct search *s, const char *path, const char *called, const char *root)
{
	const struct map_object *w = s->wanted;
	struct elf_object *elf = NULL;
	struct stat st;
	bool same;
	int fd = object_places_open(path, &st);
	int error;

	if (fd < 0)
		return 0;
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
try_kept(struct search *s, const char *path)
{
	const enum resolve_miss miss = s->miss;
	int error = try_file(s, path, path, "");

	s->miss = miss;
	return error;
}

static int
try_by_id(struct search *s)
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
try_path(struct search *s, const char *prefix)
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

/* Through a process that has it mapped: in its root, then what is mapped, whatever its name is now. */
static int
try_live_file(struct search *s, const struct live_file *f)
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

static int
try_live(struct search *s)
{
	const enum resolve_miss miss = s->miss;
	const struct live_file *files;
	size_t nr;
	int error;

	if (s->places->live == NULL || !s->places->this_boot)
		return 0;
	error = live_files_find(s->places->live, s->wanted, &files, &nr);
	for (size_t i = 0; !error && i < nr && !s->found; i++)
		error = try_live_file(s, &files[i]);
	s->miss = miss;
	return error;
}

static int
find_vdso(struct search *s)
{
	const struct map_object *w = s->wanted;
	struct elf_object *elf = NULL;
	int error = object_vdso_open(&elf);

	if (error)
		return error == -FMT_E_NOMEM ? error : try_by_id(s);
	if (w->build_id.size ? same_build_id(elf, &w->build_id) : s->places->this_boot) {
		s->found = elf;
		return 0;
	}
	elf_object_close(elf);
	return try_by_id(s);
}

static int
load_symbols(struct object *o, struct elf_object *elf, struct elf_object *debug)
{
	struct symtab_builder *b = symtab_builder_new();
	int error;

	if (b == NULL)
		return -FMT_E_NOMEM;
	o->has_symtab = elf_object_has_symtab(elf) || (debug && elf_object_has_symtab(debug));
	error = debug ? elf_object_symbols(debug, object_debug_bias(elf, debug), b) : 0;
	if (!error)
		error = elf_object_symbols(elf, 0, b);
	if (!o->has_symtab) {
		if (!error)
			error = elf_minidebug_symbols(elf, b);
		if (!error)
			error = elf_gopclntab_symbols(elf, b);
	}
	if (error) {
		symtab_builder_free(b);
		return error;
	}
	error = symtab_build(b, &o->symbols);
	if (error)
		return error;
	b = symtab_builder_new();
	if (b == NULL)
		return -FMT_E_NOMEM;
	error = elf_object_plt(elf, o->symbols, b);
	if (!error)
		return symtab_build(b, &o->stubs);
	symtab_builder_free(b);
	return error;
}

/* Whose debug information is that of the object: another file's, or its own. */
static int
keep_debug(const struct object_places *places, struct object *o, struct elf_object *elf,
	   struct elf_object *debug)
{
	if (debug && elf_object_has_dwarf(debug))
		o->debug_bias = object_debug_bias(elf, debug);
	else if (elf_object_has_dwarf(elf))
		debug = elf;
	else
		return 0;
	o->debug_fd = elf_object_dup(debug);
	return object_debug_alt(places, debug, &o->alt_fd);
}

static int
object_store_read(const struct object_places *places, struct object *o, struct elf_object *elf,
		  struct elf_object *debug)
{
	const struct elf_segment *segments;
	char path[PATH_MAX];
	int error = keep_debug(places, o, elf, debug);

	if (error)
		return error;
	o->path = elf_object_path(elf, path) ? strdup(path) : NULL;
	o->nr_segments = elf_object_segments(elf, &segments);
	o->segments = calloc(o->nr_segments ? o->nr_segments : 1, sizeof(*segments));
	if (o->segments == NULL)
		return -FMT_E_NOMEM;
	if (o->nr_segments != 0)
		memcpy(o->segments, segments, o->nr_segments * sizeof(*segments));
	return load_symbols(o, elf, debug);
}

static void
make_separate(struct object *o)
{
	o->separate = true;
	for (size_t i = 0; i < o->nr_segments; i++) {
		o->segments[i].offset = o->segments[i].vaddr;
		o->segments[i].filesz = o->segments[i].memsz;
	}
}

/*
 * Address of a map's first byte. objcopy --only-keep-debug leaves the segments their addresses, and
 * takes their offsets. GNU ld gives text the same offset as address; of others it is the segment that
 * is as long as the map, since a loader maps a segment whole.
 */
static bool
address_of_map(const struct elf_segment *segments, size_t nr_segments, const struct task_map *map,
	       uint64_t *ret)
{
	uint64_t length = map->end - map->start, start, end, found = 0;
	size_t nr = 0;

	for (size_t i = 0; i < nr_segments; i++) {
		const struct elf_segment *s = &segments[i];

		start = page_down(s->vaddr);
		end = page_down(s->vaddr + s->memsz + PAGE - 1);
		if (!s->exec || end < start || length > end - start)
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

bool
object_address(const struct object *o, const struct task_map *map, uint64_t ip, uint64_t *ret)
{
	uint64_t start;

	if (!address_of_map(o->segments, o->nr_segments, map, &start))
		return false;
	*ret = start + (ip - map->start);
	return true;
}

/* The copy that was stored with the recording. */
static int
try_stored(struct search *s)
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
static int
symbols_of_stored(const struct search *s, struct elf_object **ret)
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
static int
try_separate(struct search *s)
{
	const struct buildid *id = &s->wanted->build_id;
	char path[PATH_MAX];
	int error = 0;

	if (id->kind != BUILDID_GNU)
		return 0;
	for (size_t i = 0; !s->found && !error &&
	     object_places_debug(s->places, s->places->symfs, i, id->bytes, id->size, path);
	     i++)
		error = try_kept(s, path);
	if (s->found && !elf_object_has_symtab(s->found)) {
		elf_object_close(s->found);
		s->found = NULL;
	}
	s->separate = s->found != NULL;
	return error;
}

static bool
separate_fits(const struct search *s)
{
	const struct elf_segment *segments;
	size_t nr = elf_object_segments(s->found, &segments);
	uint64_t start;

	return address_of_map(segments, nr, s->map, &start);
}

static bool
fetch_object(const struct search *s, enum object_fetch_what what)
{
	const struct map_object *w = s->wanted;

	return w->build_id.kind == BUILDID_GNU &&
		object_fetch_get(s->places->fetch, what, w->build_id.bytes, w->build_id.size,
				 w->path);
}

/* What has the symbols, and only where that will not do the object. */
static int
try_fetched(struct search *s)
{
	int error = 0;

	if (!s->found && !s->whole && fetch_object(s, OBJECT_FETCH_DEBUGINFO))
		error = try_separate(s);
	if (error || (s->found && separate_fits(s) && !s->places->keep_code) ||
	    !fetch_object(s, OBJECT_FETCH_EXECUTABLE))
		return error;
	elf_object_close(s->found);
	s->found = NULL;
	s->separate = false;
	error = try_by_id(s);
	return error || s->found || s->whole ? error : try_separate(s);
}

static int
find_object(struct search *s)
{
	int error = 0;

	if (s->vdso)
		return find_vdso(s);
	if (s->places->symfs != NULL)
		error = try_path(s, s->places->symfs);
	if (!error && !s->found)
		error = try_path(s, "");
	if (!error && !s->found)
		error = try_live(s);
	if (!error && !s->found)
		error = try_by_id(s);
	if (!error && !s->found)
		error = try_stored(s);
	if (!error && !s->found && !s->whole)
		error = try_separate(s);
	if (!error && (!s->found || s->separate))
		error = try_fetched(s);
	return error;
}

static int
find_debug(const struct search *s, struct elf_object **ret)
{
	return object_debug_find(&(struct object_debug){ s->places, s->found,
							 s->vdso ? NULL : s->path,
							 s->root ? s->root : "" },
				 ret);
}

static int
search_and_load(struct search *s, struct object *o)
{
	struct elf_object *debug = NULL;
	int error = find_object(s);

	if (!error && s->found) {
		error = find_debug(s, &debug);
		if (!error && !debug) {
			error = symbols_of_stored(s, &debug);
			s->stored |= debug != NULL;
		}
		if (!error)
			error = object_store_read(s->places, o, s->found, debug);
		if (!error && s->separate)
			make_separate(o);
		else if (!error && s->places->keep_code && !s->codeless)
			o->code_fd = elf_object_dup(s->found);
		o->codeless = s->codeless;
		o->doubt = s->doubt;
		o->stored = s->stored;
	}
	elf_object_close(debug);
	elf_object_close(s->found);
	return error;
}

static struct object *
object_new(const struct buildid *id)
{
	struct object *o = calloc(1, sizeof(*o));

	if (o != NULL) {
		o->build_id = *id;
		o->debug_fd = o->alt_fd = o->code_fd = -1;
	}
	return o;
}

/* Where there is no record of the object: what the file is now, it is. */
int
object_store_file(const struct object_places *places, const char *path, struct object **ret)
{
	struct elf_object *elf = NULL, *debug = NULL;
	struct buildid id = { .size = 0 };
	struct object *o = NULL;
	struct stat st;
	int fd = object_places_open(path, &st);
	int error = fd < 0 ? -FMT_E_IO : elf_object_open(fd, &elf);

	if (error)
		return error;
	error = object_debug_find(&(struct object_debug){ places, elf, path, "" }, &debug);
	if (!error) {
		(void)elf_object_recorded_id(elf, &id);
		o = object_new(&id);
		error = o == NULL ? -FMT_E_NOMEM : object_store_read(places, o, elf, debug);
		if (!error && places->keep_code)
			o->code_fd = elf_object_dup(elf);
	}
	elf_object_close(debug);
	elf_object_close(elf);
	if (error)
		object_free(o);
	else
		*ret = o;
	return error;
}

int
object_store_debug(const struct object_places *places, struct elf_object *elf, struct object **ret)
{
	struct buildid id = { .size = 0 };
	char path[PATH_MAX];
	struct object *o;
	int error;

	(void)elf_object_recorded_id(elf, &id);
	o = object_new(&id);
	error = o ? keep_debug(places, o, elf, NULL) : -FMT_E_NOMEM;
	if (error) {
		object_free(o);
		return error;
	}
	o->path = elf_object_path(elf, path) ? strdup(path) : NULL;
	*ret = o;
	return 0;
}

int
object_store_open(const struct object_places *places, const struct map_object *wanted,
		  const struct task_map *map, struct elf_object **ret,
		  struct elf_object **ret_debug)
{
	struct search s = { .places = places, .wanted = wanted, .map = map, .whole = true };
	struct elf_object *debug = NULL;
	int error = 0;

	s.vdso = strcmp(wanted->path, "[vdso]") == 0;
	if (wanted->build_id.size || !map_object_anonymous(wanted->path))
		error = find_object(&s);
	if (!error && s.found)
		error = find_debug(&s, &debug);
	else if (!error && !s.vdso)
		error = try_separate(&s);
	if (error) {
		elf_object_close(s.found);
		return error;
	}
	*ret = s.separate ? NULL : s.found;
	*ret_debug = s.separate ? s.found : debug;
	return 0;
}

int
object_store_load(const struct object_places *places, const struct map_object *wanted,
		  const struct task_map *map, struct object **ret, enum resolve_miss *ret_miss)
{
	struct search s = {
		.places = places, .wanted = wanted, .map = map, .miss = RESOLVE_NO_FILE
	};
	struct object *o;
	int error;

	*ret = NULL;
	s.vdso = strcmp(wanted->path, "[vdso]") == 0;
	/* A memfd has a build-id when a program was put there: perf's cache may know it. */
	if (map_object_anonymous(wanted->path) && !wanted->build_id.size) {
		*ret_miss = RESOLVE_NOT_FILE;
		return 0;
	}
	o = object_new(&wanted->build_id);
	if (o == NULL)
		return -FMT_E_NOMEM;
	if (strcmp(wanted->path, "[vsyscall]") == 0)
		error = object_vsyscall_load(o);
	else
		error = search_and_load(&s, o);
	if (error || o->symbols == NULL) {
		object_free(o);
		*ret_miss = s.miss;
		return error;
	}
	*ret = o;
	return 0;
}

void
object_free(struct object *o)
{
	if (o == NULL)
		return;
	if (o->debug_fd >= 0)
		close(o->debug_fd);
	if (o->alt_fd >= 0)
		close(o->alt_fd);
	if (o->code_fd >= 0)
		close(o->code_fd);
	free(o->path);
	free(o->segments);
	free(o->names);
	free(o->stub_names);
	symtab_free(o->symbols);
	symtab_free(o->stubs);
	free(o);
}
