/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_ids.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/bytes/time_text.h"
#include "format/model/task_model.h"
#include "recorder/host/buildid_cache.h"
#include "recorder/host/host.h"
#include "recorder/host/task_users.h"
#include "recorder/live/live_crowd.h"
#include "recorder/live/live_given.h"
#include "recorder/live/live_objects.h"
#include "recorder/live/live_wanted.h"
#include "recorder/live/live_worker.h"

#define ASKED_MAX 256			 /* files that are asked for at the same time */
#define OTHERS_PAUSE 50			 /* times as long as it took to find them */
#define MISSING_MAX TASK_MODEL_PEERS_MAX /* that wait to be asked for through others */
/* CPU time of the helper in a second: a flood of files that nobody saw before costs no more. */
#define HELPER_CPU_NS UINT64_C(100000000)
#define ANCESTORS_MAX (HELPER_PEERS_MAX - 1)
#define A_FILE "a file that it has mapped"

struct live_ids {
	struct buildid_cache *cache;
	struct task_model *model;
	struct task_users *users;
	struct live_objects *objects; /* NULL: none */
	struct live_given *given;
	struct live_worker worker;	     /* finds files */
	bool connected;			     /* to what stores objects */
	struct live_wanted asked[ASKED_MAX]; /* the worker's ring: those that were sent come first */
	size_t nr_sent;
	struct live_wanted missing[MISSING_MAX];
	size_t nr_missing;
	uint64_t others_after_ns; /* not sooner are others asked for them */
	uint64_t second_ns,
		second_cpu_ns; /* when this second began, and with how much CPU time used */
	struct live_crowd crowd;
};

struct live_ids *
live_ids_new(struct helper_pool *pool, struct task_model *model, struct task_users *users,
	     struct live_objects *objects)
{
	struct live_ids *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->worker = (struct live_worker){ .pool = pool, .work = &helper_files, .max = ASKED_MAX };
	l->model = model;
	l->users = users;
	l->objects = objects;
	l->cache = buildid_cache_new();
	l->given = live_given_new();
	if (l->cache && l->given)
		return l;
	live_ids_free(l);
	return NULL;
}

void
live_ids_free(struct live_ids *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < ASKED_MAX; i++)
		live_wanted_done(&l->asked[i]);
	for (size_t i = 0; i < MISSING_MAX; i++)
		live_wanted_done(&l->missing[i]);
	helper_close(l->worker.helper);
	buildid_cache_free(l->cache);
	live_given_free(l->given);
	free(l);
}

void
live_ids_begin_file(struct live_ids *l)
{
	if (l->objects)
		live_objects_begin_file(l->objects);
	live_given_begin_file(l->given);
}

void
live_ids_give(struct live_ids *l, const char *path, const struct buildid *id)
{
	live_given_put(
		l->given,
		&(struct buildid_entry){ .id = *id, .path = path, .path_len = strlen(path) });
}

static void
give_mapped(struct live_ids *l, const struct buildid_map *m, const struct buildid *id)
{
	live_given_put_once(l->given,
			    &(struct buildid_entry){ .maj = m->maj,
						     .min = m->min,
						     .ino = m->ino,
						     .ino_generation = m->ino_generation,
						     .id = *id,
						     .path = m->path,
						     .path_len = strlen(m->path) });
}

void
live_ids_give_object(struct live_ids *l, const struct map_object *o)
{
	live_given_put_once(l->given,
			    &(struct buildid_entry){ .maj = o->maj,
						     .min = o->min,
						     .ino = o->ino,
						     .ino_generation = o->ino_generation,
						     .id = o->build_id,
						     .path = o->path,
						     .path_len = strlen(o->path) });
}

bool
live_ids_wanted(const struct perf_record *r)
{
	return r->type == REC_MMAP2 && !r->mmap.build_id.size && r->mmap.ino &&
		r->mmap.prot & PROT_EXEC && r->mmap.pid != TASK_PID_KERNEL;
}

/* --- asking ---------------------------------------------------------------------------------- */

static struct live_wanted *
asked_at(struct live_ids *l, size_t i)
{
	return &l->asked[live_worker_at(&l->worker, i)];
}

static bool
same_file(const struct buildid_map *a, const struct buildid_map *b)
{
	/* Without its inode a build is no file: what others have mapped may be another one. */
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
		a->ino_generation == b->ino_generation &&
		buildid_cmp(&a->known_id, &b->known_id) == 0 && (a->ino || a->pid == b->pid);
}

/* The helper is gone, or was left behind: another one is asked for all that has no answer. */
static void
helper_lost(struct live_ids *l, bool at_once)
{
	l->nr_sent = 0;
	live_worker_lost(&l->worker, at_once);
}

/* Before it is asked: what it finds is passed on. */
static int
connect_objects(struct live_ids *l)
{
	int r = l->objects ? live_objects_connect(l->objects, l->worker.helper, !l->connected) : 0;

	if (r == 0)
		l->connected = true;
	return r;
}

static void
send_asked(struct live_ids *l)
{
	struct live_worker *worker = &l->worker;
	uint64_t now_ns = host_now_ns();
	bool fresh = false;
	int r = 0;

	while (l->nr_sent < worker->nr && live_worker_ready(worker, now_ns, &fresh)) {
		const struct live_wanted *w = asked_at(l, l->nr_sent);
		struct helper_find find = {
			.kind = HELPER_FIND, .map = w->map, .uid = w->uid, .nr_peers = w->nr_peers
		};

		memcpy(find.peers, w->peers, sizeof(find.peers));
		find.map.path = NULL;
		l->connected &= !fresh;
		fresh = false;
		r = live_worker_tell(worker);
		if (r == 0)
			r = connect_objects(l);
		if (r < 0)
			break;
		r = helper_send(worker->helper, &find, sizeof(find), w->map.path,
				strlen(w->map.path) + 1);
		if (r < 0)
			break;
		if (l->nr_sent++ == 0)
			worker->heard_ns = now_ns;
	}
	if (r < 0 && r != -EAGAIN) {
		helper_close(worker->helper);
		helper_lost(l, false);
	}
}

/* Has the helper used up what it may in this second? */
static bool
helper_spent(struct live_ids *l)
{
	const struct helper *h = l->worker.helper;
	uint64_t now_ns = host_now_ns(), cpu_ns = h ? helper_used_ns(h) : 0;

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
	if (l->worker.nr < ASKED_MAX / 2 && !helper_spent(l))
		return true;
	return live_crowd_turn(&l->crowd, uid, host_now_ns());
}

/* Takes the path over. What there is no room for is asked for when it is mapped again. */
static void
live_ids_ask(struct live_ids *l, const struct live_wanted *w)
{
	if (!w->map.path)
		return;
	*asked_at(l, l->worker.nr++) = *w;
	send_asked(l);
}

/* The file of this map, where it has been asked for already, or waits to be; NULL. */
static struct live_wanted *
find_wanted(struct live_ids *l, const struct buildid_map *map)
{
	for (size_t i = 0; i < l->worker.nr; i++)
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
	struct live_wanted w = { .map = *map }, *known = find_wanted(l, map);

	if (known)
		known->again_ns = map->mapped_ns;
	if (known || l->worker.nr == ASKED_MAX)
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
ask_again(struct live_ids *l, struct live_wanted *w)
{
	if (w->again_ns > w->map.mapped_ns)
		w->map.mapped_ns = w->again_ns;
	w->again_ns = 0;
	if (l->worker.nr == ASKED_MAX)
		return;
	live_ids_ask(l, w);
	w->map.path = NULL;
}

/* --- answers --------------------------------------------------------------------------------- */

/* Moves w, whose file its process does not reach, to those that others are asked for. */
static void
miss(struct live_ids *l, struct live_wanted *w)
{
	if (l->nr_missing == MISSING_MAX)
		return;
	l->missing[l->nr_missing++] = *w;
	w->map.path = NULL;
}

/* Is the file not known as the latest of its maps saw it? */
static bool
is_unknown(struct live_ids *l, const struct live_wanted *w)
{
	struct buildid_map m = w->map;
	struct buildid id;
	int rc;

	m.mapped_ns = w->again_ns;
	rc = buildid_cache_known(l->cache, &m, &id);
	return rc == -ESTALE || rc == -EAGAIN;
}

static void
take_answer(struct live_ids *l, struct live_wanted *w, const struct helper_found *found)
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
	if (l->objects && found->offered != OFFER_NONE)
		live_objects_offered(l->objects, w, id.size ? &id : &m->known_id,
				     found->offered == OFFER_PASSED);
}

/* The oldest one that was sent has its answer, or will have none. */
static struct live_wanted
take_first(struct live_ids *l)
{
	struct live_wanted w = *asked_at(l, 0);

	*asked_at(l, 0) = (struct live_wanted){ 0 };
	(void)live_worker_take(&l->worker);
	l->nr_sent--;
	return w;
}

static void
leave_behind(struct live_ids *l)
{
	struct live_wanted w = take_first(l);

	/* Others have files on that device, and it may have hung on the memory of his process. */
	helper_pool_abandon(l->worker.pool, l->worker.helper, w.map.pid, w.uid,
			    w.uid == 0 ? shunned_device(w.map.maj, w.map.min) : 0, A_FILE);
	live_wanted_done(&w);
	helper_lost(l, true);
}

/* The next one does not touch what is left of that user's questions. */
static void
lose_patience(struct live_ids *l)
{
	helper_close(l->worker.helper);
	helper_lost(l, true);
}

/* For want of memory, say, or over the file that it was at: that is tried once more. */
static void
has_ended(struct live_ids *l)
{
	struct live_wanted *first = asked_at(l, 0);

	helper_close(l->worker.helper);
	if (l->nr_sent && first->fatal) {
		struct live_wanted w = take_first(l);

		live_wanted_done(&w);
	} else if (l->nr_sent) {
		first->fatal = true;
	}
	helper_lost(l, false);
}

/* Files that what stores them had no room for, or did not come to. False: there is none. */
static bool
offer_again(struct live_ids *l, bool hurry)
{
	struct live_wanted w;
	bool any = false;

	while (l->objects && l->worker.nr < ASKED_MAX / 2 &&
	       live_objects_again(l->objects, hurry, &w)) {
		live_ids_ask(l, &w);
		any = true;
	}
	return any;
}

void
live_ids_answers(struct live_ids *l)
{
	uint64_t now_ns = host_now_ns();
	struct helper_found found;
	struct live_wanted w;
	ssize_t n = 0;

	if (l->objects)
		live_objects_take(l->objects);
	while (l->nr_sent && (n = helper_receive(l->worker.helper, &found, sizeof(found))) > 0) {
		if (n != (ssize_t)sizeof(found)) {
			n = -EPROTO;
			break;
		}
		l->worker.heard_ns = now_ns;
		w = take_first(l);
		take_answer(l, &w, &found);
		if (helper_pool_late(l->worker.pool, w.map.pid, w.uid, found.took_ns, A_FILE))
			lose_patience(l);
		live_wanted_done(&w);
	}
	if (n < 0)
		has_ended(l);
	else if (l->nr_sent && helper_pool_overdue(l->worker.helper, l->worker.heard_ns, now_ns))
		leave_behind(l);
	if (!helper_spent(l))
		(void)offer_again(l, false);
	send_asked(l);
}

void
live_ids_finish(struct live_ids *l, uint64_t until_ns)
{
	while (l->nr_sent && host_now_ns() < until_ns) {
		struct pollfd p = { .fd = helper_fd(l->worker.helper), .events = POLLIN };

		(void)poll(&p, 1, 100);
		live_ids_answers(l);
	}
}

bool
live_ids_offer_again(struct live_ids *l)
{
	return offer_again(l, true);
}

bool
live_ids_waiting(const struct live_ids *l)
{
	return l->nr_sent > 0;
}

int
live_ids_fd(const struct live_ids *l)
{
	return l->nr_sent ? helper_fd(l->worker.helper) : -1;
}

bool
live_ids_missing(const struct live_ids *l)
{
	return l->nr_missing > 0;
}

/* Those of its process that may see the same files, with itself if there is no other. */
static void
add_peers(const struct live_ids *l, struct live_wanted *w, uint32_t peer)
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
		struct live_wanted *w = &l->missing[i];

		if (w->uid == TASK_USER_UNKNOWN)
			w->uid = task_users_of(l->users, l->model, pids[i], w->map.mapped_ns);
		add_peers(l, w, peers[i]);
		ask_again(l, w);
		live_wanted_done(w);
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
	struct live_object_file f = { .id = &r->mmap.build_id, .path = r->mmap.filename };
	struct buildid_map map;

	if (!l->objects || r->type != REC_MMAP2 || !f.id->size || !(r->mmap.prot & PROT_EXEC) ||
	    r->mmap.pid == TASK_PID_KERNEL || r->mmap.filename[0] != '/')
		return;
	f.uid = task_users_of(l->users, l->model, (uint32_t)r->mmap.pid, r->sid.time);
	if (live_objects_asked(l->objects, &f))
		return;
	map = buildid_map_of(&r->mmap, r->sid.time);
	if (ask_for(l, &map))
		live_objects_note(l->objects, &f);
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
	return live_given_write(l->given, w, where);
}
