/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_store.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fair_part.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/file_owner.h"
#include "symbolizer/object/live_files.h"
#include "symbolizer/object/object_vdso.h"
#include "symbolizer/unwind/code_file.h"

#define VSYSCALL_PATH "[vsyscall]"

struct file {
	uint64_t serial; /* of the map's object, with the build-id that it had */
	struct buildid vdso;
	bool narrow; /* the vDSO of 32-bit processes */
	struct code_file code;
	bool separate; /* only the file with its debug information is here */
};

struct cfi_store {
	struct object_places places;
	struct file *files;
	size_t nr, cap;
	struct slots slots;
	size_t last;		      /* that was asked for; files are many frames each */
	size_t bytes;		      /* of all, as they were when read */
	struct fair_accounts wasters; /* by owner: what was read for nothing */
	uint64_t waste;		      /* of all of them */
};

struct cfi_store *
cfi_store_new(const struct object_places *places)
{
	struct cfi_store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->places = *places;
	s->places.live = live_files_new();
	if (s->places.live)
		return s;
	cfi_store_free(s);
	return NULL;
}

void
cfi_store_free(struct cfi_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++)
		code_file_done(&s->files[i].code);
	free(s->files);
	live_files_free(s->places.live);
	slots_done(&s->slots);
	fair_accounts_done(&s->wasters);
	free(s);
}

static bool
same_file(const void *owner, uint32_t index, const void *key)
{
	const struct file *a = &((const struct cfi_store *)owner)->files[index], *b = key;

	return a->serial == b->serial && a->narrow == b->narrow &&
		buildid_cmp(&a->vdso, &b->vdso) == 0;
}

/* One of a user other than root and the reader may have as much as one of many, and no more. */
static int
read_others(struct cfi_store *s, struct file *f, struct elf_object *elf, struct elf_object *debug,
	    uid_t owner)
{
	const size_t max = (size_t)fair_part(CFI_STORE_BYTES_MAX - s->bytes, 0);
	struct fair_account *waster = fair_accounts_of(&s->wasters, owner);
	uint64_t made = 0;
	int err;

	if (!waster)
		return -FMT_E_NOMEM;
	if (!fair_part_has(CFI_STORE_WASTE_MAX - s->waste, waster->bytes, 0))
		return 0;
	err = code_file_read(&f->code, elf, debug, max);
	if (!f->code.cfi)
		made = elf_bytes_made(elf) + (debug ? elf_bytes_made(debug) : 0);
	if (made > CFI_STORE_WASTE_MAX - s->waste)
		made = CFI_STORE_WASTE_MAX - s->waste;
	waster->bytes += made;
	s->waste += made;
	return err;
}

/* A file that is damaged, or of another machine, has nothing for us. */
static int
read_file(struct cfi_store *s, struct file *f, struct elf_object *elf, struct elf_object *debug)
{
	struct stat st;
	const bool others = elf_object_stat(elf, &st) && !file_owner_is_trusted(&st);
	int err = others ? read_others(s, f, elf, debug, st.st_uid)
			 : code_file_read(&f->code, elf, debug, SIZE_MAX);

	if (f->code.cfi)
		s->bytes += cfi_bytes(f->code.cfi);
	return err;
}

static int
find_file(struct cfi_store *s, struct file *f, const struct task_map *map)
{
	struct map_object wanted = *map->object;
	struct elf_object *elf = NULL, *debug = NULL;
	int err = 0;

	if (f->narrow)
		wanted = (struct map_object){ .path = OBJECT_VDSO32 };
	else if (f->vdso.size > 0)
		wanted.build_id = f->vdso;
	if (s->bytes < CFI_STORE_BYTES_MAX)
		err = object_store_open(&s->places, &wanted, map, &elf, &debug);
	f->separate = !elf;
	if (elf)
		err = read_file(s, f, elf, debug);
	else if (debug)
		err = read_file(s, f, debug, NULL);
	elf_object_close(elf);
	elf_object_close(debug);
	return err;
}

static int
file_of(struct cfi_store *s, const struct task_map *map, const struct buildid *vdso,
	struct file **ret)
{
	struct file key = { .serial = map->object->serial, .narrow = object_vdso_is_narrow(map) };
	const size_t before = s->nr;
	uint32_t number;
	int err;

	if (!key.narrow && map->object->build_id.size == 0 &&
	    strcmp(map->object->path, OBJECT_VDSO) == 0)
		key.vdso = *vdso;
	if (s->last < s->nr && same_file(s, (uint32_t)s->last, &key)) {
		*ret = &s->files[s->last];
		return 0;
	}
	err = slots_keep(&s->slots, (uint32_t)slots_mix(0, key.serial), same_file, s, &key,
			 s->files, s->nr, s->cap, &number);
	if (err == 0 && number == before)
		err = find_file(s, &s->files[number], map);
	if (err)
		return err;
	s->last = number;
	*ret = &s->files[number];
	return 0;
}

int
cfi_store_code(struct cfi_store *s, const struct task_map *map, const struct buildid *vdso,
	       uint64_t ip, struct unwind_code *ret)
{
	const bool relative = strcmp(map->object->path, OBJECT_VDSO) == 0;
	struct object object;
	struct file *f;
	int err;

	/* The kernel does its calls and returns from them, with the caller's registers. */
	if (strcmp(map->object->path, VSYSCALL_PATH) == 0) {
		*ret = (struct unwind_code){ .vaddr = ip, .frameless = true };
		return 0;
	}
	err = file_of(s, map, vdso, &f);
	if (err)
		return err;
	if (!f->separate) {
		*ret = code_file_at(&f->code, ip - map->start + (relative ? 0 : map->pgoff));
		return 0;
	}
	object =
		(struct object){ .segments = f->code.segments, .nr_segments = f->code.nr_segments };
	*ret = (struct unwind_code){ .cfi = f->code.cfi };
	if (ret->cfi && !object_address(&object, map, ip, &ret->vaddr))
		ret->cfi = NULL;
	return 0;
}

uint64_t
cfi_store_waste(const struct cfi_store *s)
{
	return s->waste;
}
