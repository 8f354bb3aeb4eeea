/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_ids.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/block/buildids.h"
#include "format/bytes/time_text.h"
#include "format/model/task_model.h"
#include "recorder/helper/helper_pool.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/buildid_cache.h"
#include "recorder/host/host.h"
#include "recorder/host/task_users.h"
#include "recorder/live/live_crowd.h"
#include "recorder/live/live_objects.h"

#define QUEUED_MAX (1u << 20) /* bytes: while the disk is full, who knows how long */
#define GIVEN 512	      /* pairs of build-ids remembered as given; a power of two */
#define ASKED_MAX 256	      /* files that are asked for at the same time */
#define OTHERS_PAUSE 50	      /* times as long as it took to find them */
#define MISSING_MAX TASK_MODEL_PEERS_MAX /* that wait to be asked for through others */
#define AGAIN_NS SECOND_NS /* before another helper is asked for, where there was none */
/* CPU time of the helper in a second: a flood of files that nobody saw before costs no more. */
#define HELPER_CPU_NS UINT64_C(100000000)
#define ANCESTORS_MAX (HELPER_PEERS_MAX - 1)
#define A_FILE "a file that it has mapped"

/* A build-id that the open file has. One that is forgotten is given again. */
struct given {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	struct buildid id;
};

/* A file that somebody mapped. The path is its own. */
struct wanted {
	struct buildid_map map;
	uint32_t uid;	   /* whose process it is; TASK_USER_UNKNOWN */
	bool fatal;	   /* a helper has ended over it */
	uint64_t again_ns; /* another map was seen meanwhile, of this time; 0: none */
	uint32_t nr_peers;
	pid_t peers[HELPER_PEERS_MAX];
};

struct live_ids {
	struct buildid_cache *cache;
	struct helper_pool *pool;
	struct task_model *model;
	struct task_users *users;
	struct live_objects *objects;	/* NULL: none */
	struct helper *files;		/* NULL: none, or not yet */
	uint64_t told;			/* as of helper_pool_tell() */
	bool connected;			/* to what stores objects */
	struct wanted asked[ASKED_MAX]; /* a ring: answers come in order */
	size_t first, nr_asked, nr_sent;
	struct wanted missing[MISSING_MAX];
	size_t nr_missing;
	uint64_t others_after_ns; /* not sooner are others asked for them */
	uint64_t heard_ns;	  /* when the helper last answered, or was first asked */
	uint64_t refused_ns;	  /* when there was no helper to be had */
	uint64_t second_ns,
		second_cpu_ns;	      /* when this second began, and with how much CPU time used */
	struct buf payload;	      /* of the next BUILDIDS block */
	size_t nr;		      /* entries in it */
	struct given given[GIVEN][2]; /* the later one first */
	struct live_crowd crowd;
};

struct live_ids *
live_ids_new(struct helper_pool *pool, struct task_model *model, struct task_users *users,
	     struct live_objects *objects)
{
	struct live_ids *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	buf_init(&l->payload);
	l->pool = pool;
	l->model = model;
	l->users = users;
	l->objects = objects;
	l->cache = buildid_cache_new();
	if (l->cache)
		return l;
	free(l);
	return NULL;
}

static void
wanted_done(struct wanted *w)
{
	free((char *)(uintptr_t)w->map.path);
	*w = (struct wanted){ 0 };
}

void
live_ids_free(struct live_ids *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < ASKED_MAX; i++)
		wanted_done(&l->asked[i]);
	for (size_t i = 0; i < MISSING_MAX; i++)
		wanted_done(&l->missing[i]);
	helper_close(l->files);
	buildid_cache_free(l->cache);
	buf_done(&l->payload);
	free(l);
}

void
live_ids_begin_file(struct live_ids *l)
{
	if (l->objects)
		live_objects_begin_file(l->objects);
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
give_mapped(struct live_ids *l, const struct buildid_map *m, const struct buildid *id)
{
	give(l, m->maj, m->min, m->ino, m->ino_generation, id, m->path);
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

/* --- asking ---------------------------------------------------------------------------------- */

static struct wanted *
asked_at(struct live_ids *l, size_t i)
{
	return &l->asked[(l->first + i) % ASKED_MAX];
}

static bool
same_file(const struct buildid_map *a, const struct buildid_map *b)
{
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
		a->ino_generation == b->ino_generation &&
		buildid_cmp(&a->known_id, &b->known_id) == 0;
}

/* The helper is gone, or was left behind: another one is asked for all that has no answer. */
static void
helper_lost(struct live_ids *l)
{
	l->files = NULL;
	l->nr_sent = 0;
	l->refused_ns = host_now_ns();
}

static bool
helper_ready(struct live_ids *l, uint64_t now_ns)
{
	if (l->files)
		return true;
	if (l->refused_ns && now_ns - l->refused_ns < AGAIN_NS)
		return false;
	l->refused_ns = now_ns;
	if (helper_pool_open(l->pool, helper_serve_files, &l->files) < 0)
		return false;
	l->told = 0;
	l->refused_ns = 0;
	l->connected = false;
	return true;
}

/* Before it is asked: what it finds is passed on. */
static int
connect_objects(struct live_ids *l)
{
	int r = l->objects ? live_objects_connect(l->objects, l->files, !l->connected) : 0;

	if (r == 0)
		l->connected = true;
	return r;
}

static void
send_asked(struct live_ids *l)
{
	uint64_t now_ns = host_now_ns();
	int r = 0;

	while (l->nr_sent < l->nr_asked && helper_ready(l, now_ns)) {
		const struct wanted *w = asked_at(l, l->nr_sent);
		struct helper_find find = {
			.kind = HELPER_FIND, .map = w->map, .uid = w->uid, .nr_peers = w->nr_peers
		};

		memcpy(find.peers, w->peers, sizeof(find.peers));
		find.map.path = NULL;
		r = helper_pool_tell(l->files, &l->told);
		if (r == 0)
			r = connect_objects(l);
		if (r < 0)
			break;
		r = helper_send(l->files, &find, sizeof(find), w->map.path,
				strlen(w->map.path) + 1);
		if (r < 0)
			break;
		if (l->nr_sent++ == 0)
			l->heard_ns = now_ns;
	}
	if (r < 0 && r != -EAGAIN) {
		helper_close(l->files);
		helper_lost(l);
	}
}

/* Has the helper used up what it may in this second? */
static bool
helper_spent(struct live_ids *l)
{
	uint64_t now_ns = host_now_ns(), cpu_ns = l->files ? helper_used_ns(l->files) : 0;

	if (now_ns - l->second_ns >= SECOND_NS || cpu_ns < l->second_cpu_ns) {
		l->second_ns = now_ns;
		l->second_cpu_ns = cpu_ns;
	}
	return cpu_ns - l->second_cpu_ns > HELPER_CPU_NS;
}

/* Half of the ring, and the helper's time, go to whoever comes first; the rest is shared out. */
static bool
has_turn(struct live_ids *l, uint32_t uid)
{
	if (l->nr_asked < ASKED_MAX / 2 && !helper_spent(l))
		return true;
	return live_crowd_turn(&l->crowd, uid, host_now_ns());
}

/* Takes the path over. What there is no room for is asked for when it is mapped again. */
static void
live_ids_ask(struct live_ids *l, const struct wanted *w)
{
	if (!w->map.path)
		return;
	*asked_at(l, l->nr_asked++) = *w;
	send_asked(l);
}

/* The file of this map, where it has been asked for already, or waits to be; NULL. */
static struct wanted *
find_wanted(struct live_ids *l, const struct buildid_map *map)
{
	for (size_t i = 0; i < l->nr_asked; i++)
		if (same_file(&asked_at(l, i)->map, map))
			return asked_at(l, i);
	for (size_t i = 0; i < l->nr_missing; i++)
		if (same_file(&l->missing[i].map, map))
			return &l->missing[i];
	return NULL;
}

/* False: it was not, and will be when it is mapped again. */
static bool
ask_for(struct live_ids *l, const struct buildid_map *map)
{
	struct wanted w = { .map = *map }, *known = find_wanted(l, map);

	if (known)
		known->again_ns = map->mapped_ns;
	if (known || l->nr_asked == ASKED_MAX)
		return known != NULL;
	/* Now: when it turns out that the file does not answer, the process may be gone. */
	w.uid = task_users_of(l->users, l->model, (uint32_t)map->pid, map->mapped_ns);
	if (!has_turn(l, w.uid))
		return false;
	w.map.path = strdup(map->path);
	live_ids_ask(l, &w);
	return true;
}

/*
 * Asks for the file as the latest of its maps saw it: one that was made just before the first of
 * them cannot be told from another file.
 */
static void
ask_again(struct live_ids *l, struct wanted *w)
{
	if (w->again_ns > w->map.mapped_ns)
		w->map.mapped_ns = w->again_ns;
	w->again_ns = 0;
	if (l->nr_asked == ASKED_MAX)
		return;
	live_ids_ask(l, w);
	w->map.path = NULL;
}

/* --- answers --------------------------------------------------------------------------------- */

/* Moves w, whose file its process does not reach, to those that others are asked for. */
static void
miss(struct live_ids *l, struct wanted *w)
{
	if (l->nr_missing == MISSING_MAX)
		return;
	l->missing[l->nr_missing++] = *w;
	w->map.path = NULL;
}

/* Is the file not known as the latest of its maps saw it? */
static bool
is_unknown(struct live_ids *l, const struct wanted *w)
{
	struct buildid_map m = w->map;
	struct buildid id;
	int rc;

	m.mapped_ns = w->again_ns;
	rc = buildid_cache_known(l->cache, &m, &id);
	return rc == -ESTALE || rc == -EAGAIN;
}

static void
take_answer(struct live_ids *l, struct wanted *w, const struct helper_found *found)
{
	struct buildid_map *m = &w->map;
	struct buildid id =
		buildid_of((enum buildid_kind)found->id.kind, found->id.bytes, found->id.size);

	/* It reads files of others. */
	if (found->fact.known > BUILDID_OUT_OF_REACH || found->fact.id.size > sizeof(id.bytes))
		return;
	if (found->fact.ino == m->ino && found->fact.maj == m->maj && found->fact.min == m->min)
		buildid_cache_learn(l->cache, &found->fact);
	if (found->rc == 0 && id.size) {
		give_mapped(l, m, &id);
		task_model_give_build_id(l->model, m->maj, m->min, m->ino, m->ino_generation,
					 m->path, &id);
	}
	if (found->rc == -ESTALE && !w->nr_peers)
		miss(l, w);
	else if (w->again_ns > m->mapped_ns && is_unknown(l, w) && !helper_spent(l))
		ask_again(l, w);
}

/* The oldest one that was sent has its answer, or will have none. */
static struct wanted
take_first(struct live_ids *l)
{
	struct wanted w = *asked_at(l, 0);

	*asked_at(l, 0) = (struct wanted){ 0 };
	l->first = (l->first + 1) % ASKED_MAX;
	l->nr_asked--;
	l->nr_sent--;
	return w;
}

/* With another helper, at once. */
static void
go_on(struct live_ids *l)
{
	helper_lost(l);
	l->refused_ns = 0;
}

static void
leave_behind(struct live_ids *l)
{
	struct wanted w = take_first(l);

	/* Others have files on that device, and it may have hung on the memory of his process. */
	helper_pool_abandon(l->pool, l->files, w.map.pid, w.uid,
			    w.uid == 0 ? shunned_device(w.map.maj, w.map.min) : 0, A_FILE);
	wanted_done(&w);
	go_on(l);
}

/* The next one does not touch what is left of that user's questions. */
static void
lose_patience(struct live_ids *l)
{
	helper_close(l->files);
	go_on(l);
}

/* For want of memory, say, or over the file that it was at: that is tried once more. */
static void
has_ended(struct live_ids *l)
{
	struct wanted *first = asked_at(l, 0);

	helper_close(l->files);
	if (l->nr_sent && first->fatal) {
		struct wanted w = take_first(l);

		wanted_done(&w);
	} else if (l->nr_sent) {
		first->fatal = true;
	}
	helper_lost(l);
}

void
live_ids_answers(struct live_ids *l)
{
	uint64_t now_ns = host_now_ns();
	struct helper_found found;
	struct wanted w;
	ssize_t n = 0;

	if (l->objects)
		live_objects_take(l->objects);
	while (l->nr_sent && (n = helper_receive(l->files, &found, sizeof(found))) > 0) {
		if (n != (ssize_t)sizeof(found)) {
			n = -EPROTO;
			break;
		}
		l->heard_ns = now_ns;
		w = take_first(l);
		take_answer(l, &w, &found);
		if (helper_pool_late(l->pool, w.map.pid, w.uid, found.took_ns, A_FILE))
			lose_patience(l);
		wanted_done(&w);
	}
	if (n < 0)
		has_ended(l);
	else if (l->nr_sent && helper_pool_overdue(l->files, l->heard_ns, now_ns))
		leave_behind(l);
	send_asked(l);
}

void
live_ids_finish(struct live_ids *l, uint64_t until_ns)
{
	while (l->nr_sent && host_now_ns() < until_ns) {
		struct pollfd p = { .fd = helper_fd(l->files), .events = POLLIN };

		(void)poll(&p, 1, 100);
		live_ids_answers(l);
	}
}

bool
live_ids_waiting(const struct live_ids *l)
{
	return l->nr_sent > 0;
}

int
live_ids_fd(const struct live_ids *l)
{
	return l->nr_sent ? helper_fd(l->files) : -1;
}

bool
live_ids_missing(const struct live_ids *l)
{
	return l->nr_missing > 0;
}

/* Those of its process that may see the same files, with itself if there is no other. */
static void
add_peers(const struct live_ids *l, struct wanted *w, uint32_t peer)
{
	uint32_t pid = (uint32_t)w->map.pid;

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		const struct task *t;

		pid = task_model_parent(l->model, pid);
		if (pid <= 1)
			break;
		t = task_model_task(l->model, pid, pid);
		if (t && !t->exited)
			w->peers[w->nr_peers++] = (pid_t)pid;
	}
	w->peers[w->nr_peers++] = (pid_t)(peer ? peer : (uint32_t)w->map.pid);
}

/* Of the first nr of the missing. With many tasks it takes long, and so is not done all the time. */
static void
ask_others(struct live_ids *l, size_t nr)
{
	uint64_t began_ns = host_now_ns();
	uint32_t pids[MISSING_MAX], peers[MISSING_MAX];

	for (size_t i = 0; i < nr; i++)
		pids[i] = (uint32_t)l->missing[i].map.pid;
	task_model_peers(l->model, pids, peers, nr);
	l->others_after_ns = host_now_ns() + (host_now_ns() - began_ns) * OTHERS_PAUSE;
	for (size_t i = 0; i < nr; i++) {
		struct wanted *w = &l->missing[i];

		if (w->uid == TASK_USER_UNKNOWN)
			w->uid = task_users_of(l->users, l->model, pids[i], w->map.mapped_ns);
		add_peers(l, w, peers[i]);
		ask_again(l, w);
		wanted_done(w);
	}
}

void
live_ids_ask_others(struct live_ids *l, uint64_t model_ns)
{
	size_t nr = 0;

	/* Those that the model has come to; they were made one after another. */
	while (nr < l->nr_missing && l->missing[nr].map.mapped_ns < model_ns)
		nr++;
	if (!nr || host_now_ns() < l->others_after_ns)
		return;
	ask_others(l, nr);
	l->nr_missing -= nr;
	memmove(l->missing, l->missing + nr, l->nr_missing * sizeof(l->missing[0]));
	memset(l->missing + l->nr_missing, 0, nr * sizeof(l->missing[0]));
}

/* --- records --------------------------------------------------------------------------------- */

void
live_ids_see(struct live_ids *l, const struct perf_record *r)
{
	const struct buildid_map map = buildid_map_of(&r->mmap, r->sid.time);
	struct buildid id;
	int rc = buildid_cache_known(l->cache, &map, &id);

	if (rc == 0)
		give_mapped(l, &map, &id);
	else if (rc != -ENODATA)
		(void)ask_for(l, &map);
}

void
live_ids_store(struct live_ids *l, const struct perf_record *r)
{
	const struct buildid *id = &r->mmap.build_id;
	struct buildid_map map;

	if (!l->objects || r->type != REC_MMAP2 || !id->size || !(r->mmap.prot & PROT_EXEC) ||
	    r->mmap.pid == TASK_PID_KERNEL || r->mmap.filename[0] != '/' ||
	    live_objects_asked(l->objects, id))
		return;
	map = buildid_map_of(&r->mmap, r->sid.time);
	if (ask_for(l, &map))
		live_objects_note(l->objects, id);
}

bool
live_ids_known(struct live_ids *l, const struct perf_record *r, struct buildid *ret)
{
	const struct buildid_map map = buildid_map_of(&r->mmap, r->sid.time);

	return buildid_cache_known(l->cache, &map, ret) == 0;
}

int
live_ids_write(struct live_ids *l, struct recording_writer *w, struct fmt_where *where)
{
	int rc;

	if (!l->nr)
		return 0;
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
