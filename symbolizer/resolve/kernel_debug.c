/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/kernel_debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/resolve/kernel_symbols.h"

struct kernel_debug {
	struct kernel_debug_file files[KERNEL_DEBUG_MAX];
	size_t nr;
};

struct search {
	const struct object_places *places;
	struct kernel_debug_file *file;
};

struct kernel_debug *
kernel_debug_new(void)
{
	return calloc(1, sizeof(struct kernel_debug));
}

void
kernel_debug_free(struct kernel_debug *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->nr; i++)
		object_free(k->files[i].object);
	free(k);
}

static int
try_file(struct search *s, const char *path)
{
	struct elf_object *elf;
	struct buildid id;
	struct stat st;
	int fd = *path ? object_places_open(path, &st) : -1;
	int error = fd < 0 ? -FMT_E_IO : elf_object_open(fd, &elf);

	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	if (elf_object_has_dwarf(elf) && elf_object_recorded_id(elf, &id) == 0 &&
	    buildid_cmp(&id, &s->file->id) == 0) {
		error = object_store_debug(s->places, elf, &s->file->object);
		s->file->at.text = elf_object_address(elf, "_text");
		s->file->at.stext = elf_object_address(elf, "_stext");
	}
	elf_object_close(elf);
	return error;
}

static int
try_by_id(struct search *s)
{
	const struct buildid *id = &s->file->id;
	char path[PATH_MAX];
	int error = 0;

	for (size_t i = 0; !s->file->object && !error &&
	     object_places_debug(s->places, s->places->symfs, i, id->bytes, id->size, path);
	     i++)
		error = try_file(s, path);
	for (size_t i = 0; !s->file->object && !error &&
	     object_places_by_id(s->places, i, id->bytes, id->size, path);
	     i++)
		error = try_file(s, path);
	return error;
}

static int
try_release(struct search *s, const char *root, const char *release)
{
	/* Debian, Fedora, a tree that was built here, and others. */
	static const char *const ways[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/usr/lib/debug/boot/vmlinux-", ".debug" },
		{ "/boot/vmlinux-", "" },
	};
	char path[PATH_MAX];
	int error = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !s->file->object && !error; i++)
		if (snprintf(path, sizeof(path), "%s%s%s%s", root, ways[i][0], release,
			     ways[i][1]) < PATH_MAX)
			error = try_file(s, path);
	return error;
}

static int
look_here(struct search *s, const char *vmlinux, const char *release)
{
	int error = vmlinux ? try_file(s, vmlinux) : 0;

	if (!error && !s->file->object)
		error = try_by_id(s);
	/* It comes from the recording, and leads nowhere else. */
	if (!release || !*release || *release == '.' || strchr(release, '/'))
		return error;
	if (!error && !s->file->object && s->places->symfs)
		error = try_release(s, s->places->symfs, release);
	if (!error && !s->file->object)
		error = try_release(s, "", release);
	return error;
}

int
kernel_debug_find(struct kernel_debug *k, const struct object_places *p, const char *vmlinux,
		  const struct buildid *id, const char *release, bool fetch,
		  const struct kernel_debug_file **ret)
{
	struct search s = { .places = p, .file = k->files };
	int error = 0;

	*ret = NULL;
	if (id->size == 0 || id->kind != BUILDID_GNU)
		return 0;
	while (s.file < &k->files[k->nr] && buildid_cmp(&s.file->id, id) != 0)
		s.file++;
	if (s.file == &k->files[KERNEL_DEBUG_MAX])
		return 0;
	if (s.file == &k->files[k->nr]) {
		k->nr++;
		s.file->id = *id;
		error = look_here(&s, vmlinux, release);
	}
	if (!error && fetch && !s.file->object && !s.file->fetched) {
		s.file->fetched = true;
		if (object_fetch_get(p->fetch, OBJECT_FETCH_DEBUGINFO, id->bytes, id->size,
				     KERNEL_DSO))
			error = try_by_id(&s);
	}
	*ret = s.file->object ? s.file : NULL;
	return error;
}
