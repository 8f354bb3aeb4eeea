/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/fair_part.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_cfi.h"
#include "symbolizer/object/elf_gopclntab.h"
#include "symbolizer/object/elf_minidebug.h"
#include "symbolizer/object/elf_shift.h"
#include "symbolizer/object/elf_signal.h"
#include "symbolizer/object/file_owner.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/object_search.h"
#include "symbolizer/object/object_vdso.h"

/* Of variables, where places ask for them. */
static int
load_data(const struct object_places *places, struct object *o, struct elf_object *elf,
	  struct elf_object *debug)
{
	enum elf_shift shift = ELF_SHIFT_UNEQUAL;
	struct symtab_builder *b;
	uint64_t by = 0;
	int error;

	if (!places->data)
		return 0;
	if (debug)
		shift = elf_shift_data(debug, elf, &by);
	b = shift == ELF_SHIFT_NOMEM ? NULL : symtab_builder_new();
	if (b == NULL)
		return -FMT_E_NOMEM;
	error = shift == ELF_SHIFT_KNOWN ? elf_object_data_symbols(debug, by, b) : 0;
	if (!error)
		error = elf_object_data_symbols(elf, 0, b);
	if (!error)
		return symtab_build(b, &o->data);
	symtab_builder_free(b);
	return error;
}

static bool
has_symtab(const struct elf_object *elf, const struct elf_object *debug)
{
	return elf_object_has_symtab(elf) || (debug && elf_object_has_symtab(debug));
}

static int
load_functions(struct object *o, struct elf_object *elf)
{
	struct symtab_builder *b = o->has_symtab ? NULL : symtab_builder_new();
	int error;

	if (b == NULL)
		return o->has_symtab ? 0 : -FMT_E_NOMEM;
	error = elf_cfi_functions(elf, b);
	if (!error)
		return symtab_build(b, &o->functions);
	symtab_builder_free(b);
	return error;
}

static int
load_symbols(struct object *o, struct elf_object *elf, struct elf_object *debug, uint64_t shift)
{
	struct symtab_builder *b = symtab_builder_new();
	int error;

	if (b == NULL)
		return -FMT_E_NOMEM;
	o->has_symtab = has_symtab(elf, debug);
	error = debug ? elf_object_symbols(debug, shift, b) : 0;
	if (!error)
		error = elf_object_symbols(elf, 0, b);
	if (!o->has_symtab) {
		if (!error)
			error = elf_minidebug_symbols(elf, b);
		if (!error)
			error = elf_gopclntab_symbols(elf, b);
		if (!error)
			error = elf_signals_symbols(elf, b);
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
	   struct elf_object *debug, uint64_t shift)
{
	if (debug && elf_object_has_dwarf(debug))
		o->debug_bias = shift;
	else if (elf_object_has_dwarf(elf))
		debug = elf;
	else
		return 0;
	o->debug_fd = elf_object_dup(debug);
	return object_debug_alt(places, debug, &o->alt_fd, &o->stored);
}

static int
object_store_read(const struct object_places *places, struct object *o, struct elf_object *elf,
		  struct elf_object *debug)
{
	enum elf_shift how = ELF_SHIFT_KNOWN;
	const struct elf_segment *segments;
	char path[PATH_MAX];
	uint64_t shift = 0;
	int error;

	if (debug)
		how = elf_shift_code(debug, elf, &shift);
	if (how == ELF_SHIFT_NOMEM)
		return -FMT_E_NOMEM;
	if (how == ELF_SHIFT_UNEQUAL)
		debug = NULL;
	error = keep_debug(places, o, elf, debug, shift);
	if (error)
		return error;
	o->path = elf_object_path(elf, path) ? strdup(path) : NULL;
	o->nr_segments = elf_object_segments(elf, &segments);
	o->segments = calloc(o->nr_segments ? o->nr_segments : 1, sizeof(*segments));
	if (o->segments == NULL)
		return -FMT_E_NOMEM;
	if (o->nr_segments != 0)
		memcpy(o->segments, segments, o->nr_segments * sizeof(*segments));
	error = load_data(places, o, elf, debug);
	if (!error)
		error = load_symbols(o, elf, debug, shift);
	return error ? error : load_functions(o, elf);
}

/* Of one file of others a fair_part, with what belongs to it. */
static int
read_bounded(const struct object_places *places, struct object *o, struct elf_object *elf,
	     struct elf_object *debug)
{
	struct object_room *room = places->others;
	struct elf_share share = { 0 };
	uint64_t part;
	int error;

	if (!room || o->owner == OBJECT_TRUSTED)
		return object_store_read(places, o, elf, debug);
	share.left = part = fair_part(room->left, 0);
	elf_object_limit(elf, &share);
	if (debug)
		elf_object_limit(debug, &share);
	error = object_store_read(places, o, elf, debug);
	elf_object_limit(elf, NULL);
	if (debug)
		elf_object_limit(debug, NULL);
	room->left -= part - share.left;
	if (share.refused && room->refused++ == 0 && o->path)
		(void)strlcpy(room->first, o->path, sizeof(room->first));
	return error;
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

bool
object_address(const struct object *o, const struct task_map *map, uint64_t ip, uint64_t *ret)
{
	uint64_t start;

	if (!object_search_address(o->segments, o->nr_segments, map, &start))
		return false;
	*ret = start + (ip - map->start);
	return true;
}

/* Its file with symbols, if that is another one, is of an owner who may name it (object_debug). */
static int64_t
owner_of(const struct object_search *s)
{
	const char *symfs = s->places->symfs;
	struct stat st = { .st_uid = (uid_t)-1 };

	if (s->stored)
		return OBJECT_STORED;
	if (s->vdso || (symfs && s->root && strcmp(s->root, symfs) == 0) ||
	    (elf_object_stat(s->found, &st) && file_owner_is_trusted(&st)))
		return OBJECT_TRUSTED;
	return st.st_uid;
}

static void
keep_files(struct object *o, const struct object_search *s, struct elf_object *debug)
{
	if (!s->separate && !s->packed)
		o->file_fd = elf_object_dup(s->found);
	if (debug ? !s->debug_packed : s->separate && !s->packed)
		o->names_fd = elf_object_dup(debug ? debug : s->found);
}

/* Reads what was found into o, if known has nothing for it, which goes to *ret then. */
static int
search_and_load(struct object_search *s, const struct object_known *known, struct object *o,
		struct object **ret)
{
	struct elf_object *debug = NULL;
	int error = object_search_find(s);

	if (!error && s->found) {
		error = object_search_debug(s, &debug);
		s->stored |= s->debug_packed;
		if (!error && !debug) {
			error = object_search_symbols(s, &debug);
			s->stored |= debug != NULL;
		}
		o->owner = owner_of(s);
		if (!error && known)
			*ret = known->find(known->arg, o->owner, has_symtab(s->found, debug));
		if (!error && !*ret)
			error = read_bounded(s->places, o, s->found, debug);
		if (s->packed) {
			free(o->path);
			o->path = NULL;
		}
		if (!error && s->places->keep_code)
			keep_files(o, s, debug);
		if (!error && s->separate)
			make_separate(o);
		else if (!error && s->places->keep_code && !s->codeless)
			o->code_fd = elf_object_dup(s->found);
		o->codeless = s->codeless;
		o->doubt = s->doubt;
		o->stored |= s->stored;
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
		o->owner = OBJECT_TRUSTED;
		o->debug_fd = o->alt_fd = o->code_fd = o->file_fd = o->names_fd = -1;
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
	bool packed = false;
	struct stat st;
	int fd = object_places_open(path, &st);
	int error = fd < 0 ? -FMT_E_IO : elf_object_open(fd, &elf);

	if (error)
		return error;
	error = object_debug_find(&(struct object_debug){ places, elf, path, "", { 0 } }, &debug,
				  &packed);
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
	error = o ? keep_debug(places, o, elf, NULL, 0) : -FMT_E_NOMEM;
	if (error) {
		object_free(o);
		return error;
	}
	o->path = elf_object_path(elf, path) ? strdup(path) : NULL;
	*ret = o;
	return 0;
}

static void
vdso_is_wanted(struct object_search *s)
{
	s->narrow = strcmp(s->wanted->path, OBJECT_VDSO32) == 0;
	s->vdso = s->narrow || strcmp(s->wanted->path, OBJECT_VDSO) == 0;
}

int
object_store_open(const struct object_places *places, const struct map_object *wanted,
		  const struct task_map *map, struct elf_object **ret,
		  struct elf_object **ret_debug)
{
	struct object_search s = { .places = places, .wanted = wanted, .map = map, .whole = true };
	struct elf_object *debug = NULL;
	int error = 0;

	vdso_is_wanted(&s);
	if (wanted->build_id.size || !map_object_anonymous(wanted->path))
		error = object_search_find(&s);
	if (!error && s.found)
		error = object_search_debug(&s, &debug);
	else if (!error && !s.vdso)
		error = object_search_separate(&s);
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
		  const struct task_map *map, const struct object_known *known, struct object **ret,
		  enum resolve_miss *ret_miss)
{
	struct object_search s = {
		.places = places, .wanted = wanted, .map = map, .miss = RESOLVE_NO_FILE
	};
	struct object *o;
	int error;

	*ret = NULL;
	vdso_is_wanted(&s);
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
		error = search_and_load(&s, known, o, ret);
	if (!error && !*ret && o->symbols) {
		*ret = o;
		return 0;
	}
	object_free(o);
	*ret_miss = s.miss;
	return error;
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
	if (o->file_fd >= 0)
		close(o->file_fd);
	if (o->names_fd >= 0)
		close(o->names_fd);
	free(o->path);
	free(o->segments);
	free(o->names);
	free(o->stub_names);
	free(o->data_names);
	symtab_free(o->symbols);
	symtab_free(o->stubs);
	symtab_free(o->data);
	symtab_free(o->functions);
	free(o);
}
