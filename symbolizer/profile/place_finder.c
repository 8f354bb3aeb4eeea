/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/place_finder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbolizer/object/object_vdso.h"
#include "symbolizer/profile/jit_maker.h"

/* How many are found again without a search: powers of two. */
#define RECENT_KERNEL 4096
#define RECENT_REGIONS 1024

/* All zero is none: an epoch begins with 1. */
struct recent_kernel {
	uint64_t address, epoch; /* of the kernel's symbols */
	uint32_t place;
	bool is_return;
};

struct recent_region {
	uint64_t serial; /* of the map's object; 0: none */
	uint64_t start, length, pgoff;
	uint32_t prot;
	bool low;     /* of a 32-bit process */
	bool is_file; /* start does not matter */
	bool interprets;
	uint32_t region;
};

struct place_finder {
	const struct replay *replay;
	struct intern *strings;
	struct raw_profile *raw;
	struct jit_names *jit;
	struct process_table *processes;
	bool by_address, by_kernel_address;
	struct recent_kernel *recent_kernel;
	struct recent_region *recent_regions;
};

struct place_finder *
place_finder_new(const struct replay *replay, struct intern *strings, struct raw_profile *raw,
		 struct jit_names *jit, bool by_address, bool by_kernel_address,
		 struct process_table *processes)
{
	struct place_finder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct place_finder){
		.replay = replay,
		.strings = strings,
		.raw = raw,
		.jit = jit,
		.processes = processes,
		.by_address = by_address,
		.by_kernel_address = by_address || by_kernel_address,
		.recent_kernel = calloc(RECENT_KERNEL, sizeof(*f->recent_kernel)),
		.recent_regions = calloc(RECENT_REGIONS, sizeof(*f->recent_regions)),
	};
	if (f->recent_kernel && f->recent_regions)
		return f;
	place_finder_free(f);
	return NULL;
}

void
place_finder_free(struct place_finder *f)
{
	if (!f)
		return;
	free(f->recent_kernel);
	free(f->recent_regions);
	free(f);
}

void
place_finder_forget(struct place_finder *f)
{
	memset(f->recent_kernel, 0, RECENT_KERNEL * sizeof(*f->recent_kernel));
	memset(f->recent_regions, 0, RECENT_REGIONS * sizeof(*f->recent_regions));
}

/* Of a name that is known already, one place is as good as another, unless lines are asked for. */
static void
name_place(struct raw_place *key, bool by_address, uint64_t start, const char *symbol,
	   const char *dso)
{
	key->symbol = symbol;
	key->dso = dso;
	key->start = start;
	if (by_address)
		return;
	key->address = start;
	key->is_return = false;
}

/* The kernel's symbols come and go: an address has its name as of now. */
static int
kernel_place(struct place_finder *f, const struct callchain_address *a, uint32_t *ret)
{
	const uint64_t epoch = replay_kernel_epoch(f->replay) + 1;
	struct recent_kernel *known =
		&f->recent_kernel[slots_mix(a->is_return, a->ip) & (RECENT_KERNEL - 1)];
	struct raw_place key = { .mode = a->mode, .is_return = a->is_return, .address = a->ip };
	struct kernel_symbol symbol;
	int err;

	if (known->epoch == epoch && known->address == a->ip && known->is_return == a->is_return) {
		*ret = known->place;
		return 0;
	}
	if (kernel_symbols_find_frame(replay_kernel(f->replay), a->ip, a->is_return, &symbol))
		name_place(&key, f->by_kernel_address, symbol.start, symbol.name, symbol.dso);
	err = raw_profile_place(f->raw, &key, ret);
	if (err == 0)
		*known = (struct recent_kernel){ a->ip, epoch, *ret, a->is_return };
	return err;
}

static int
new_region(struct place_finder *f, const struct task_map *map, uint32_t *ret)
{
	/* The build-id that is told of "[vdso]" is that of 64-bit processes. */
	static const struct buildid unknown = { .size = 0 };
	const bool narrow = object_vdso_is_narrow(map);
	const struct buildid *id = narrow ? &unknown : &map->object->build_id;
	const char *path = intern_string(f->strings, narrow ? OBJECT_VDSO32 : map->object->path);

	if (!path)
		return -FMT_E_NOMEM;
	if (id->size == 0 && strcmp(path, OBJECT_VDSO) == 0)
		id = replay_vdso(f->replay);
	return raw_profile_region(f->raw, map, id, path, ret);
}

static bool
recent_region_is(const struct recent_region *r, const struct task_map *map)
{
	return r->serial == map->object->serial && r->pgoff == map->pgoff &&
		r->length == map->end - map->start && r->prot == map->prot &&
		r->low == (map->end < RAW_LOW_END) && (r->is_file || r->start == map->start);
}

/* Is it an object of an interpreter whose callers could have names? */
static bool
interprets(const char *path)
{
	return runtime_names_callers(runtime_of_path(path).kind);
}

/* Where a map's region is, if it is a recent one. */
static struct recent_region *
recent_region(const struct place_finder *f, const struct task_map *map)
{
	const uint64_t h = slots_mix(map->object->serial, map->pgoff);

	return &f->recent_regions[slots_mix(h, map->end - map->start) & (RECENT_REGIONS - 1)];
}

static int
region_of(struct place_finder *f, const struct task_map *map, uint32_t *ret)
{
	struct recent_region *known = recent_region(f, map);
	int err;

	if (recent_region_is(known, map)) {
		*ret = known->region;
		return 0;
	}
	err = new_region(f, map, ret);
	/* The build-id of "[vdso]" may come yet, and not to the map's object. */
	if (err == 0 && (map->object->path[0] != '[' || map->object->build_id.size))
		*known = (struct recent_region){
			.serial = map->object->serial,
			.start = map->start,
			.length = map->end - map->start,
			.pgoff = map->pgoff,
			.prot = map->prot,
			.low = map->end < RAW_LOW_END,
			.is_file = raw_region_is_file(&f->raw->regions[*ret]),
			.interprets = f->processes && interprets(map->object->path),
			.region = *ret,
		};
	return err;
}

/* From a map's addresses to those of its region's first process. */
static uint64_t
moved_by(const struct place_finder *f, const struct task_map *map, uint32_t region)
{
	return f->raw->regions[region].map.start - map->start;
}

/*
 * What an address of a process was called. What it has had since it was forked is called as in the
 * process that it is a copy of, then. 1, 0, -FMT_E_NOMEM.
 */
static int
jit_name_of(struct place_finder *f, uint32_t pid, uint64_t address, uint64_t time_ns,
	    struct jit_name *ret)
{
	struct jit_maker maker;
	int r = 0;

	for (jit_maker_first(&maker, replay_model(f->replay), pid, time_ns);
	     r == 0 && maker.process.pid; jit_maker_next(&maker))
		r = jit_names_find(f->jit, &maker.process, address, maker.process.alive_ns, ret);
	return r;
}

/* 1: the place has its name, 0: it has none, or is not of code made at run time, -FMT_E_NOMEM. */
static int
jit_place(struct place_finder *f, uint32_t pid, const struct callchain_address *a, uint64_t time_ns,
	  struct raw_place *key)
{
	struct jit_name name;
	int r = 0;

	if (f->jit)
		r = jit_name_of(f, pid, a->ip - a->is_return, time_ns, &name);
	if (r == 0 && f->processes)
		return process_table_made_code(f->processes, replay_model(f->replay), pid);
	if (r <= 0)
		return r;
	if (f->processes)
		process_table_named(f->processes, pid);
	key->region = RAW_NO_REGION;
	name_place(key, f->by_address, name.start, name.symbol, name.dso);
	return 1;
}

/* An interpreter's process: has its runtime told names? 0, -FMT_E_NOMEM. */
static int
see_interpreter(struct place_finder *f, uint32_t pid, const struct task_map *map, uint64_t time_ns)
{
	const struct recent_region *known = recent_region(f, map);
	struct jit_maker maker;
	int r = 0;

	if (!known->interprets || !recent_region_is(known, map) ||
	    !process_table_interprets(f->processes, pid, map->object->path))
		return 0;
	for (jit_maker_first(&maker, replay_model(f->replay), pid, time_ns);
	     f->jit && r == 0 && maker.process.pid; jit_maker_next(&maker))
		r = jit_names_know(f->jit, &maker.process);
	if (r > 0)
		process_table_named(f->processes, pid);
	return r < 0 ? r : 0;
}

static int
user_place(struct place_finder *f, uint32_t pid, const struct callchain_address *a,
	   uint64_t time_ns, uint32_t *ret)
{
	const struct task_map *map = replay_map(f->replay, pid, a->ip);
	struct raw_place key = { .mode = a->mode,
				 .is_return = a->is_return,
				 .region = RAW_NO_REGION,
				 .address = a->ip };
	int err = 0, named = 0;

	if (map)
		err = region_of(f, map, &key.region);
	if (err < 0)
		return err;
	if (map && (map->prot & PROT_EXEC) && !raw_region_is_file(&f->raw->regions[key.region]))
		named = jit_place(f, pid, a, time_ns, &key);
	if (named < 0)
		return named;
	if (map && !named) {
		err = see_interpreter(f, pid, map, time_ns);
		key.address += moved_by(f, map, key.region);
	}
	if (err < 0)
		return err;
	return raw_profile_place(f->raw, &key, ret);
}

int
place_finder_find(struct place_finder *f, uint32_t pid, const struct callchain_address *a,
		  uint64_t time_ns, uint32_t *ret)
{
	struct raw_place key = { .mode = a->mode, .address = a->ip };

	if (a->mode == CALLCHAIN_KERNEL)
		return kernel_place(f, a, ret);
	if (a->mode == CALLCHAIN_USER)
		return user_place(f, pid, a, time_ns, ret);
	return raw_profile_place(f->raw, &key, ret);
}

/*
 * The map whose file says what is there. What a file has zeroed at the end of its data (.bss) is an
 * anonymous map right behind that: the file's symbols know it.
 */
static const struct task_map *
data_map(const struct place_finder *f, uint32_t pid, uint64_t address)
{
	const struct task_model *model = replay_model(f->replay);
	const struct task_map *map = task_model_map(model, pid, address), *before;

	if (!map || map->start == 0 || strcmp(map->object->path, "//anon") != 0)
		return map;
	before = task_model_map(model, pid, map->start - 1);
	return before && before->end == map->start && !map_object_anonymous(before->object->path)
		? before
		: map;
}

int
place_finder_data(struct place_finder *f, uint32_t pid, uint64_t address, uint32_t *ret)
{
	const bool kernel = address >> 63;
	const struct task_map *map = kernel ? NULL : data_map(f, pid, address);
	struct raw_place key = { .mode = kernel ? CALLCHAIN_KERNEL : CALLCHAIN_USER,
				 .is_data = true,
				 .region = RAW_NO_REGION,
				 .address = address };
	int err = map ? region_of(f, map, &key.region) : 0;

	if (err < 0)
		return err;
	if (map)
		key.address += moved_by(f, map, key.region);
	return raw_profile_place(f->raw, &key, ret);
}

const void *
place_finder_slot(const struct place_finder *f, uint32_t pid, const struct callchain_address *a)
{
	struct raw_place key = { .mode = a->mode, .is_return = a->is_return, .address = a->ip };
	const struct recent_region *known;
	const struct task_map *map;

	if (a->mode != CALLCHAIN_USER)
		return NULL;
	map = replay_map(f->replay, pid, a->ip);
	if (!map)
		return NULL;
	known = recent_region(f, map);
	if (!recent_region_is(known, map))
		return NULL;
	key.region = known->region;
	key.address += moved_by(f, map, key.region);
	return raw_profile_place_slot(f->raw, &key);
}
