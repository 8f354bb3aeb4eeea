/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/kernel_debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/resolve/kernel_symbols.h"

struct kernel_debug {
	struct kernel_debug_file files[KERNEL_DEBUG_MAX];
	size_t nr;
};

struct search {
	const struct object_places *places;
	struct kernel_debug_file *file;
	enum kernel_debug_want want;
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
		for (size_t w = 0; w < KERNEL_DEBUG_WANTS; w++)
			object_free(k->files[i].of[w]);
	free(k);
}

static bool
is_found(const struct search *s)
{
	return s->file->of[s->want] != NULL;
}

/* A file of symbols alone has none. */
static bool
has_code(struct elf_object *elf)
{
	const struct elf_segment *s;
	const size_t nr = elf_object_segments(elf, &s);
	struct elf_bytes b;
	size_t i = 0;

	while (i < nr && !s[i].exec)
		i++;
	if (i == nr || elf_bytes_at(elf, s[i].vaddr, 1, &b) < 0)
		return false;
	free(b.p);
	return true;
}

/* A file of this build. */
static int
take_file(struct search *s, struct elf_object *elf, const char *path)
{
	const struct kernel_place at = { elf_object_address(elf, "_text"),
					 elf_object_address(elf, "_stext") };
	struct object **ret = &s->file->of[s->want];
	int error = 0;

	/* One that is stripped does not tell, and the other one does. */
	if (at.text || at.stext)
		s->file->at = at;
	if (s->want == KERNEL_LINES && elf_object_has_dwarf(elf))
		error = object_store_debug(s->places, elf, ret);
	else if (s->want == KERNEL_CODE && has_code(elf))
		error = object_store_file(s->places, path, ret);
	return error == -FMT_E_NOMEM ? error : 0;
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
	if (elf_object_recorded_id(elf, &id) == 0 && buildid_same(&id, &s->file->id))
		error = take_file(s, elf, path);
	elf_object_close(elf);
	return error;
}

static int
try_by_id(struct search *s)
{
	const struct buildid *id = &s->file->id;
	char path[PATH_MAX];
	int error = 0;

	for (size_t i = 0; !is_found(s) && !error &&
	     object_places_debug(s->places, s->places->symfs, i, id->bytes, id->size, path);
	     i++)
		error = try_file(s, path);
	for (size_t i = 0;
	     !is_found(s) && !error && object_places_by_id(s->places, i, id->bytes, id->size, path);
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
		{ "/usr/lib/debug/lib/modules/", "/vmlinux.debug" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/lib/modules/", "/vmlinux" },
		{ "/usr/lib/debug/boot/vmlinux-", ".debug" },
		{ "/boot/vmlinux-", "" },
	};
	char path[PATH_MAX];
	int error = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !is_found(s) && !error; i++)
		if (snprintf(path, sizeof(path), "%s%s%s%s", root, ways[i][0], release,
			     ways[i][1]) < PATH_MAX)
			error = try_file(s, path);
	return error;
}

static int
look_here(struct search *s, const char *vmlinux, const char *release)
{
	int error = vmlinux ? try_file(s, vmlinux) : 0;

	if (!error && !is_found(s))
		error = try_by_id(s);
	/* It comes from the recording, and leads nowhere else. */
	if (!release || !*release || *release == '.' || strchr(release, '/'))
		return error;
	if (!error && !is_found(s) && s->places->symfs)
		error = try_release(s, s->places->symfs, release);
	if (!error && !is_found(s))
		error = try_release(s, "", release);
	return error;
}

/* What servers have as debug information is often all of it. */
static int
fetch_file(struct search *s)
{
	const struct buildid *id = &s->file->id;
	const enum object_fetch_what whats = s->want == KERNEL_CODE ? OBJECT_FETCH_WHATS
								    : OBJECT_FETCH_DEBUGINFO + 1;
	int error = 0;

	for (enum object_fetch_what what = 0; what < whats && !is_found(s) && !error; what++) {
		/* That was asked for already it may have been for something else. */
		(void)object_fetch_get(s->places->fetch, what, id->bytes, id->size, KERNEL_DSO);
		error = try_by_id(s);
	}
	return error;
}

int
kernel_debug_find(struct kernel_debug *k, const struct object_places *p, const char *vmlinux,
		  const struct kernel_debug_asked *asked, const struct kernel_debug_file **ret)
{
	struct search s = { .places = p, .file = k->files, .want = asked->want };
	const struct buildid *id = &asked->id;
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
	}
	if (!s.file->looked[s.want])
		error = look_here(&s, vmlinux, asked->release);
	s.file->looked[s.want] = true;
	if (!error && asked->fetch && p->fetch && !is_found(&s) && !s.file->fetched[s.want]) {
		s.file->fetched[s.want] = true;
		error = fetch_file(&s);
	}
	*ret = is_found(&s) ? s.file : NULL;
	return error;
}
