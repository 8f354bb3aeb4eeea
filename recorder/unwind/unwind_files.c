/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/unwind_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "format/bytes/siphash.h"
#include "format/bytes/slots.h"
#include "format/bytes/time_text.h"
#include "recorder/helper/helper_objects.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/host.h"
#include "recorder/live/live_worker.h"

#define ASKED_MAX 1024
#define ASIDE_MAX 64
#define ASIDE_TRIES 2 /* how often processes ended over a file that is not given again */
#define TRIES 3
#define TRIES_NS (UINT64_C(60) * SECOND_NS) /* after which a file is asked for again */
#define UNMET_NS (UINT64_C(5) * SECOND_NS)
#define USER_FILES_MAX (UNWIND_FILES_MAX / 4)
#define OFFERS_BYTES (1 << 20)
#define A_FILE "a file that it has mapped"

/* By number, less one. */
struct number {
	uint64_t file; /* which one it is: see file_of() */
	struct buildid id;
	uint64_t serial; /* of the question that it was passed on for; 0: it was not */
	uint32_t uid;	 /* of the first process that had it mapped */
	uint32_t tries; /* how often it was asked for; of one aside: how often a process ended over it */
	uint64_t tried_ns;
	bool waits; /* for an answer */
	bool given; /* the process knows it */
};

struct question {
	struct buildid_map map; /* the path is its own */
	uint32_t uid, number;
	uint64_t serial;
};

struct unwind_files {
	struct unwind_process *process;
	struct live_worker finder;
	struct question asked[ASKED_MAX]; /* the finder's ring: those that were sent come first */
	size_t nr_sent;
	uint64_t nr_asked, nr_answered;
	uint64_t serial; /* of the last question */
	struct number *v;
	size_t nr, cap;
	struct slots slots; /* by file */
	struct number aside[ASIDE_MAX];
	size_t nr_aside, next_aside;
	size_t nr_ungiven; /* that were passed on, and are not given, for want of room in the ring */
	uint64_t unmet, unmet_ns; /* see unwind_files_unmet() */
	bool any_unmet;		  /* since then */
	struct siphash_key key;
	bool connected;
};

struct unwind_files *
unwind_files_new(struct helper_pool *pool, struct unwind_process *process)
{
	struct unwind_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->process = process;
	f->finder = (struct live_worker){ .pool = pool, .work = &helper_files, .max = ASKED_MAX };
	arc4random_buf(&f->key, sizeof(f->key));
	return f;
}

/* The oldest question has no answer. */
static void
drop_oldest(struct unwind_files *f)
{
	struct question *q = &f->asked[live_worker_take(&f->finder)];

	free((char *)(uintptr_t)q->map.path);
	q->map.path = NULL;
	f->nr_answered++;
	f->any_unmet = true;
	if (q->number <= f->nr)
		f->v[q->number - 1].waits = false;
}

/* drop: it ended, or stood still, over the question that it was at. Another one is asked for all else. */
static void
lose_finder(struct unwind_files *f, bool at_once, bool drop)
{
	if (drop && f->nr_sent > 0)
		drop_oldest(f);
	helper_close(f->finder.helper);
	live_worker_lost(&f->finder, at_once);
	f->connected = false;
	f->nr_sent = 0;
}

static void
drop_all(struct unwind_files *f)
{
	while (f->finder.nr > 0)
		drop_oldest(f);
	lose_finder(f, true, false);
}

void
unwind_files_free(struct unwind_files *f)
{
	if (!f)
		return;
	drop_all(f);
	slots_done(&f->slots);
	free(f->v);
	free(f);
}

static struct number *
aside_of(struct unwind_files *f, const struct number *n)
{
	for (size_t i = 0; i < f->nr_aside; i++)
		if (f->aside[i].file == n->file && buildid_cmp(&f->aside[i].id, &n->id) == 0)
			return &f->aside[i];
	return NULL;
}

/* Once is no proof: whoever kills a process at random finds it at some file. */
static void
set_aside(struct unwind_files *f, const struct number *n)
{
	struct number *known = aside_of(f, n);

	if (known) {
		known->tries++;
		return;
	}
	f->aside[f->next_aside] = *n;
	f->aside[f->next_aside].tries = 1;
	f->next_aside = (f->next_aside + 1) % ASIDE_MAX;
	f->nr_aside += f->nr_aside < ASIDE_MAX;
}

void
unwind_files_begin(struct unwind_files *f, uint32_t ended_over)
{
	if (ended_over > 0 && ended_over <= f->nr)
		set_aside(f, &f->v[ended_over - 1]);
	/* What the finder passed on went to the process before. */
	drop_all(f);
	f->nr = f->nr_ungiven = 0;
	slots_done(&f->slots);
	f->slots = (struct slots){ 0 };
}

/* --- asking ------------------------------------------------------------------------------ */

static bool
same_file(const void *owner, uint32_t index, const void *key)
{
	return ((const struct unwind_files *)owner)->v[index].file ==
		((const struct number *)key)->file;
}

static int
connect_process(struct unwind_files *f)
{
	const struct helper_offers offers = { .kind = HELPER_OFFER, .all = 1 };
	int r;

	if (f->connected)
		return 0;
	r = unwind_process_join(f->process,
				&(struct helper_end){ f->finder.helper, &offers, sizeof(offers) },
				OFFERS_BYTES);
	f->connected = r == 0;
	return r;
}

static int
send_question(struct unwind_files *f, const struct question *q)
{
	struct helper_find find = {
		.kind = HELPER_FIND, .serial = q->serial, .map = q->map, .uid = q->uid
	};
	int r = live_worker_tell(&f->finder);

	find.map.path = NULL;
	if (r == 0)
		r = connect_process(f);
	return r == 0 ? helper_send(f->finder.helper, &find, sizeof(find), q->map.path,
				    strlen(q->map.path) + 1)
		      : r;
}

static void
send_asked(struct unwind_files *f)
{
	const uint64_t now_ns = host_now_ns();
	bool fresh = false;
	int r = 0;

	while (f->nr_sent < f->finder.nr && live_worker_ready(&f->finder, now_ns, &fresh)) {
		f->connected &= !fresh;
		fresh = false;
		r = send_question(f, &f->asked[live_worker_at(&f->finder, f->nr_sent)]);
		if (r < 0)
			break;
		if (f->nr_sent++ == 0)
			f->finder.heard_ns = now_ns;
	}
	if (r < 0 && r != -EAGAIN)
		lose_finder(f, false, true);
}

/* Takes the question over. False: there is no room. */
static bool
ask(struct unwind_files *f, const struct question *q)
{
	if (f->finder.nr == ASKED_MAX)
		return false;
	f->asked[live_worker_at(&f->finder, f->finder.nr++)] = *q;
	f->nr_asked++;
	send_asked(f);
	return true;
}

/*
 * An inode is one file, whoever has it mapped. Where the kernel tells a build-id instead, the maps of one process tell
 * nothing of another one's: there may be another file of that path and build-id, in another mount namespace, and a program
 * that has more rights than its user is not to be walked by what that user has put there.
 */
static uint64_t
file_of(const struct unwind_files *f, const struct task_map *map, const struct unwind_mapper *who)
{
	const struct map_object *o = map->object;
	const uint64_t place[] = { who->version, map->start };
	const uint64_t inode[] = { (uint64_t)o->maj << 32 | o->min, o->ino, o->ino_generation };

	if (o->ino)
		return siphash(&f->key, inode, sizeof(inode));
	return siphash(&f->key, place, sizeof(place));
}

/*
 * Not of one that has an answer, or that was asked for in vain through several processes. False: it cannot be asked
 * now.
 */
static bool
ask_for(struct unwind_files *f, size_t index, const struct task_map *map,
	const struct unwind_mapper *who)
{
	const struct map_object *o = map->object;
	const uint64_t now_ns = host_now_ns();
	struct question q = { .uid = who->uid,
			      .number = (uint32_t)index + 1,
			      .serial = f->serial + 1 };
	struct number *n = &f->v[index];

	if (n->waits || n->serial || (n->tries >= TRIES && now_ns - n->tried_ns < TRIES_NS))
		return true;
	n->tries = n->tries < TRIES ? n->tries : 0;
	q.map = (struct buildid_map){ .pid = (pid_t)who->pid,
				      .start = map->start,
				      .end = map->end,
				      .maj = o->maj,
				      .min = o->min,
				      .ino = o->ino,
				      .ino_generation = o->ino_generation,
				      .mapped_ns = who->time_ns,
				      .path = strdup(o->path) };
	if (!o->ino)
		q.map.known_id = o->build_id;
	/* Before: the answer may be lost at once. */
	f->serial++;
	n->waits = true;
	n->tried_ns = now_ns;
	if (q.map.path && ask(f, &q)) {
		n->tries++;
		return true;
	}
	n->waits = false;
	free((char *)(uintptr_t)q.map.path);
	return false;
}

/* Has a user other than root all the numbers that he may have, and this file none yet? */
static bool
has_too_many(const struct unwind_files *f, const struct number *new)
{
	size_t nr = 0;

	if (new->uid == 0 || f->nr < USER_FILES_MAX ||
	    slots_find(&f->slots, (uint32_t)slots_mix(0, new->file), same_file, f, new) !=
		    SLOTS_NONE)
		return false;
	for (size_t i = 0; i < f->nr; i++)
		nr += f->v[i].uid == new->uid;
	return nr >= USER_FILES_MAX;
}

uint32_t
unwind_files_number(struct unwind_files *f, const struct task_map *map,
		    const struct unwind_mapper *who, bool *ret_incomplete)
{
	const struct map_object *o = map->object;
	const struct number new = { .file = file_of(f, map, who), .uid = who->uid };
	uint32_t index;

	if (map_object_anonymous(o->path) || o->path[0] != '/' || (!o->ino && !o->build_id.size) ||
	    f->nr + 1 >= UNWIND_FILES_MAX || has_too_many(f, &new))
		return 0;
	if (slots_keep(&f->slots, (uint32_t)slots_mix(0, new.file), same_file, f, &new, f->v, f->nr,
		       f->cap, &index) != 0)
		return 0;
	*ret_incomplete |= !ask_for(f, index, map, who);
	return index + 1;
}

uint64_t
unwind_files_asked(const struct unwind_files *f)
{
	return f->nr_asked;
}

uint64_t
unwind_files_answered(const struct unwind_files *f)
{
	return f->nr_answered;
}

/* --- answers ----------------------------------------------------------------------------- */

static bool
is_aside(struct unwind_files *f, const struct number *n)
{
	const struct number *known = aside_of(f, n);

	return known && known->tries >= ASIDE_TRIES;
}

/* False: the ring has no room. */
static bool
give(struct unwind_files *f, uint32_t number)
{
	struct unwind_ring *ring = unwind_process_ring(f->process);
	const struct number *n = &f->v[number - 1];
	struct unwind_file *file = unwind_ring_reserve(ring, UNWIND_FILE, sizeof(*file));

	if (!file)
		return false;
	file->number = number;
	file->uid = n->uid;
	file->serial = n->serial;
	(void)unwind_ring_publish(ring);
	return true;
}

static void
take_answer(struct unwind_files *f, const struct question *q, const struct helper_found *found)
{
	struct number *n = &f->v[q->number - 1];
	const struct buildid *id = q->map.known_id.size ? &q->map.known_id : &found->id;

	n->waits = false;
	/* It reads files of others. */
	if (found->rc < 0 || !id->size || id->size > BUILDID_MAX) {
		f->any_unmet = true;
		return;
	}
	n->id = buildid_of((enum buildid_kind)id->kind, id->bytes, id->size);
	if (is_aside(f, n))
		return;
	if (found->offered == OFFER_PASSED)
		n->serial = q->serial;
	f->any_unmet |= !n->serial;
	n->given = n->serial && give(f, q->number);
	f->nr_ungiven += n->serial && !n->given;
}

void
unwind_files_gone(struct unwind_files *f, uint32_t number)
{
	struct number *n = number > 0 && number <= f->nr ? &f->v[number - 1] : NULL;

	if (!n || !n->given)
		return;
	n->serial = 0;
	n->given = false;
}

/* Those for which the ring had no room. */
static void
give_rest(struct unwind_files *f)
{
	for (uint32_t i = 0; f->nr_ungiven > 0 && i < f->nr; i++) {
		if (!f->v[i].serial || f->v[i].given)
			continue;
		if (!give(f, i + 1))
			return;
		f->v[i].given = true;
		f->nr_ungiven--;
	}
}

/* What it was at took too long: it is left behind. */
static void
leave_finder(struct unwind_files *f)
{
	const struct question *q = &f->asked[live_worker_at(&f->finder, 0)];

	helper_pool_abandon(f->finder.pool, f->finder.helper, q->map.pid, q->uid,
			    q->uid == 0 ? shunned_device(q->map.maj, q->map.min) : 0, A_FILE);
	f->finder.helper = NULL;
	lose_finder(f, true, true);
}

void
unwind_files_take(struct unwind_files *f, uint64_t now_ns)
{
	struct helper_found found;
	ssize_t n = 0;

	give_rest(f);
	if (f->any_unmet && now_ns > f->unmet_ns + UNMET_NS) {
		f->any_unmet = false;
		f->unmet_ns = now_ns;
		f->unmet++;
	}
	while (f->nr_sent > 0 &&
	       (n = helper_receive(f->finder.helper, &found, sizeof(found))) > 0) {
		struct question *q;

		if (n != (ssize_t)sizeof(found)) {
			n = -EPROTO;
			break;
		}
		f->finder.heard_ns = now_ns;
		q = &f->asked[live_worker_take(&f->finder)];
		f->nr_sent--;
		f->nr_answered++;
		if (q->number <= f->nr)
			take_answer(f, q, &found);
		if (helper_pool_late(f->finder.pool, q->map.pid, q->uid, found.took_ns, A_FILE))
			n = -ETIME;
		free((char *)(uintptr_t)q->map.path);
		q->map.path = NULL;
		if (n < 0)
			break;
	}
	if (n < 0)
		lose_finder(f, n == -ETIME, n != -ETIME);
	else if (f->nr_sent > 0 &&
		 helper_pool_overdue(f->finder.helper, f->finder.heard_ns, now_ns))
		leave_finder(f);
	send_asked(f);
}

int
unwind_files_fd(const struct unwind_files *f)
{
	return f->nr_sent > 0 ? helper_fd(f->finder.helper) : -1;
}

uint64_t
unwind_files_unmet(const struct unwind_files *f)
{
	return f->unmet;
}

bool
unwind_files_full(const struct unwind_files *f)
{
	return f->nr + 1 >= UNWIND_FILES_MAX;
}
