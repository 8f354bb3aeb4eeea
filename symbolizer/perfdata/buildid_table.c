/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/buildid_table.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/slots.h"
#include "format/perfdata/perfdata_buildid.h"
#include "symbolizer/text/intern.h"

#define PATHS_MAX (64u << 20) /* bytes of all paths */

struct entry {
	const char *path;  /* interned */
	struct buildid id; /* none: it had two */
};

struct buildid_table {
	struct intern *paths;
	struct entry *entries;
	size_t nr, cap;
	struct slots by_path;
	size_t bytes; /* of paths */
	bool full;
};

struct buildid_table *
buildid_table_new(void)
{
	struct buildid_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->paths = intern_new(INTERN_BYTES_MAX);
	if (t->paths)
		return t;
	free(t);
	return NULL;
}

void
buildid_table_free(struct buildid_table *t)
{
	if (!t)
		return;
	slots_done(&t->by_path);
	free(t->entries);
	intern_free(t->paths);
	free(t);
}

static bool
is_of(const void *owner, uint32_t index, const void *path)
{
	const struct buildid_table *t = owner;

	return t->entries[index].path == path;
}

int
buildid_table_add(struct buildid_table *t, const char *path, size_t path_len,
		  const struct buildid *id)
{
	struct entry e = { .id = *id };
	uint32_t hash, index;
	const char *own;

	if (t->full || !id->size || id->kind != BUILDID_GNU)
		return 0;
	own = e.path = intern_add(t->paths, path, path_len);
	if (!own)
		return -FMT_E_NOMEM;
	hash = (uint32_t)slots_mix(0, (uintptr_t)own);
	index = slots_find(&t->by_path, hash, is_of, t, own);
	if (index != SLOTS_NONE) {
		struct entry *had = &t->entries[index];

		if (!buildid_same(&had->id, id))
			had->id = (struct buildid){ 0 };
		return 0;
	}
	t->bytes += path_len;
	t->full = t->bytes > PATHS_MAX;
	if (t->full)
		return 0;
	if (array_reserve(t->entries, t->nr, t->cap, 1) < 0 ||
	    slots_add(&t->by_path, hash, t->nr) < 0)
		return -FMT_E_NOMEM;
	t->entries[t->nr++] = e;
	return 0;
}

const char *
buildid_table_at(const struct buildid_table *t, size_t i, struct buildid *ret)
{
	if (i >= t->nr)
		return NULL;
	*ret = t->entries[i].id;
	return t->entries[i].path;
}

int
buildid_table_section(const struct buildid_table *t, struct buf *out)
{
	if (t->full)
		return -FMT_E_TOO_BIG;
	for (size_t i = 0; i < t->nr; i++) {
		const struct entry *e = &t->entries[i];
		bool kernel = e->path[0] == '[' && strcmp(e->path, "[vdso]") != 0;
		struct perfdata_buildid b = {
			.cpumode = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
			.id = e->id,
			.path = e->path,
		};

		if (e->id.size)
			perfdata_buildid_add(out, &b);
	}
	return 0;
}
