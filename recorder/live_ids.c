/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/buildids.h"
#include "format/task_model.h"
#include "recorder/buildid_cache.h"
#include "recorder/host.h"

#define READ_NS_MAX UINT64_C(50000000) /* of a pass */
#define QUEUED_MAX (1u << 20)	       /* bytes: while the disk is full, who knows how long */
#define GIVEN 512		       /* pairs of build-ids remembered as given; a power of two */

/* A build-id that the open file has. One that is forgotten is given again. */
struct given {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	struct buildid id;
};

struct live_ids {
	struct buildid_cache *cache;
	struct buf payload;	      /* of the next BUILDIDS block */
	size_t nr;		      /* entries in it */
	uint64_t read_ns;	      /* spent on files in this pass */
	struct given given[GIVEN][2]; /* the later one first */
};

struct live_ids *
live_ids_new(void)
{
	struct live_ids *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	buf_init(&l->payload);
	l->cache = buildid_cache_new();
	if (l->cache)
		return l;
	free(l);
	return NULL;
}

void
live_ids_free(struct live_ids *l)
{
	if (!l)
		return;
	buildid_cache_free(l->cache);
	buf_done(&l->payload);
	free(l);
}

struct buildid_cache *
live_ids_cache(struct live_ids *l)
{
	return l->cache;
}

void
live_ids_begin_file(struct live_ids *l)
{
	memset(l->given, 0, sizeof(l->given));
	l->nr = 0;
}

static void
queue(struct live_ids *l, const struct buildid_entry *e)
{
	if (!l->nr)
		buildids_begin(&l->payload);
	buildids_add(&l->payload, e);
	l->nr++;
}

void
live_ids_give(struct live_ids *l, const char *path, const struct buildid *id)
{
	const struct buildid_entry e = { .id = *id, .path = path, .path_len = strlen(path) };

	queue(l, &e);
}

static void
give(struct live_ids *l, uint32_t maj, uint32_t min, uint64_t ino, uint64_t generation,
     const struct buildid *id, const char *path)
{
	struct given *g = l->given[(ino ^ ino >> 10 ^ (uint64_t)min << 3 ^ generation) % GIVEN];

	for (int i = 0; i < 2; i++)
		if (g[i].ino == ino && g[i].maj == maj && g[i].min == min &&
		    g[i].ino_generation == generation && buildid_cmp(&g[i].id, id) == 0)
			return;
	/* Nothing is written: it is given again when a file is begun, or when it is mapped again. */
	if (l->payload.len > QUEUED_MAX)
		return;
	g[1] = g[0];
	g[0] = (struct given){ maj, min, ino, generation, *id };
	queue(l,
	      &(struct buildid_entry){ .maj = maj,
				       .min = min,
				       .ino = ino,
				       .ino_generation = generation,
				       .id = *id,
				       .path = path,
				       .path_len = strlen(path) });
}

static void
give_mapped(struct live_ids *l, const struct perf_mmap *m, const struct buildid *id)
{
	give(l, m->maj, m->min, m->ino, m->ino_generation, id, m->filename);
}

void
live_ids_give_object(struct live_ids *l, const struct map_object *o)
{
	give(l, o->maj, o->min, o->ino, o->ino_generation, &o->build_id, o->path);
}

bool
live_ids_wanted(const struct perf_record *r)
{
	return r->type == REC_MMAP2 && !r->mmap.build_id.size && r->mmap.ino &&
		r->mmap.prot & PROT_EXEC && r->mmap.pid != TASK_PID_KERNEL;
}

static struct buildid_map
map_of(const struct perf_record *r)
{
	const struct perf_mmap *m = &r->mmap;

	return (struct buildid_map){ .pid = (pid_t)m->pid,
				     .start = m->addr,
				     .end = m->addr + m->len,
				     .maj = m->maj,
				     .min = m->min,
				     .ino = m->ino,
				     .ino_generation = m->ino_generation,
				     .path = m->filename,
				     .mapped_ns = r->sid.time };
}

/* Looks at the file, if there is time. */
static int
look(struct live_ids *l, const struct buildid_map *map, struct buildid *ret)
{
	uint64_t began_ns;
	int rc;

	if (l->read_ns >= READ_NS_MAX)
		return -EAGAIN;
	began_ns = host_now_ns();
	rc = buildid_cache_get(l->cache, map, ret);
	l->read_ns += host_now_ns() - began_ns;
	return rc;
}

bool
live_ids_see(struct live_ids *l, const struct perf_record *r)
{
	const struct buildid_map map = map_of(r);
	struct buildid id;
	int rc = buildid_cache_known(l->cache, &map, &id);

	if (rc == -EAGAIN)
		rc = look(l, &map, &id);
	if (rc == 0)
		give_mapped(l, &r->mmap, &id);
	return rc != -EAGAIN && rc != -ESTALE;
}

int
live_ids_find(struct live_ids *l, const struct perf_record *r, pid_t peer, struct buildid *ret)
{
	struct buildid_map map = map_of(r);
	int rc = buildid_cache_known(l->cache, &map, ret);

	map.peer = peer;
	if (rc == -EAGAIN || rc == -ESTALE)
		rc = look(l, &map, ret);
	if (rc == 0)
		give_mapped(l, &r->mmap, ret);
	return rc;
}

void
live_ids_pass(struct live_ids *l)
{
	l->read_ns = 0;
}

int
live_ids_write(struct live_ids *l, struct recording_writer *w, struct fmt_where *where)
{
	int rc;

	if (!l->nr)
		return 0;
	buildids_end(&l->payload);
	if (buf_failed(&l->payload)) {
		l->nr = 0;
		return -FMT_E_NOMEM;
	}
	rc = recording_writer_block(w, BLOCK_BUILDIDS, buf_span(&l->payload), where);
	/* What could not be written is written later: the disk may have room then. */
	if (rc == 0)
		l->nr = 0;
	return rc;
}
