/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_objects.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "format/bytes/siphash.h"
#include "recorder/ground/news.h"
#include "recorder/helper/helper_objects.h"
#include "recorder/host/host.h"
#include "recorder/live/live_offers.h"
#include "recorder/live/live_worker.h"

#define ASKED 4096	       /* builds remembered as asked for; a power of two */
#define OFFERS_BYTES (1 << 20) /* of a socket's buffer */
#define TOLD_AGAIN_NS (UINT64_C(86400) * 1000000000)
#define TROUBLES 16 /* kinds of them that are remembered */
#define A_FILE "a file that it has mapped"

struct live_objects {
	struct live_worker storer; /* its questions are not answered */
	struct live_offers *offers;
	struct helper_store store;
	uint64_t stored, allowed; /* bytes, of all workers */
	uint64_t stored_before;	  /* of those before this one */
	bool all;
	bool connected; /* since the file began */
	bool reads;	/* it touches what is somebody's: at says whose */
	struct helper_object at;
	bool flushed;
	struct trouble {
		int rc; /* 0: free */
		bool ours;
		uint64_t told_ns;
	} told[TROUBLES];
	uint64_t failed; /* copies, since one was told */
	struct news news;
	struct asked {
		struct buildid id;
		uint64_t whose; /* and by which path */
	} asked[ASKED];
	struct siphash_key key;
	uint8_t used[sizeof(struct helper_touch) + HELPER_TOUCH_MAX * sizeof(struct buildid)];
	uint32_t nr_used;
};

struct live_objects *
live_objects_new(struct helper_pool *pool, const struct session_objects *options)
{
	struct live_objects *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->offers = live_offers_new();
	if (!o->offers) {
		free(o);
		return NULL;
	}
	o->storer = (struct live_worker){ .pool = pool,
					  .work = geteuid() == 0 ? &helper_objects_of_root
								 : &helper_objects,
					  .max = 1 };
	o->at.step = OBJECT_DONE;
	o->all = options->mode == SESSION_OBJECTS_ALL;
	o->allowed = options->allowed_bytes;
	o->store = (struct helper_store){ .kind = HELPER_STORE, .user_bytes = options->user_bytes };
	(void)strlcpy(o->store.dir, options->dir, sizeof(o->store.dir));
	arc4random_buf(&o->key, sizeof(o->key));
	news_init(&o->news);
	return o;
}

void
live_objects_free(struct live_objects *o)
{
	if (!o)
		return;
	helper_close(o->storer.helper);
	live_offers_free(o->offers);
	free(o);
}

static struct asked
asked_of(const struct live_objects *o, const struct live_object_file *f)
{
	return (struct asked){ *f->id, helper_whose(&o->key, f->path, f->uid) };
}

static size_t
place_of(const struct asked *a)
{
	uint64_t hash;

	memcpy(&hash, a->id.bytes, sizeof(hash));
	return (hash ^ a->whose) % ASKED;
}

bool
live_objects_asked(const struct live_objects *o, const struct live_object_file *f)
{
	const struct asked a = asked_of(o, f), *at = &o->asked[place_of(&a)];

	return at->whose == a.whose && buildid_cmp(&at->id, f->id) == 0;
}

void
live_objects_note(struct live_objects *o, const struct live_object_file *f)
{
	const struct asked a = asked_of(o, f);

	o->asked[place_of(&a)] = a;
}

/* How many failed since that was told. */
static void
tell_failed(struct live_objects *o)
{
	char line[NEWS_BYTES];

	if (o->failed)
		(void)snprintf(line, sizeof(line),
			       "objects are not stored: %llu more since that was told: %.160s",
			       (unsigned long long)o->failed, o->store.dir);
	if (o->failed)
		news_put(&o->news, NEWS_NO_USER, line);
	o->failed = 0;
}

void
live_objects_begin_file(struct live_objects *o)
{
	memset(o->asked, 0, sizeof(o->asked));
	o->connected = false;
}

void
live_objects_offered(struct live_objects *o, struct live_wanted *w, const struct buildid *id,
		     bool passed)
{
	const struct asked a = asked_of(
		o, &(struct live_object_file){ id, w->map.path ? w->map.path : "", w->uid });

	/* Then it is asked for when it is mapped again. */
	if (!live_offers_keep(o->offers, w, id, passed, host_now_ns()) && !passed &&
	    o->asked[place_of(&a)].whose == a.whose)
		o->asked[place_of(&a)] = (struct asked){ .whose = 0 };
}

bool
live_objects_again(struct live_objects *o, bool hurry, struct live_wanted *ret)
{
	return live_offers_next(o->offers, host_now_ns(), hurry, ret);
}

/* --- the worker ------------------------------------------------------------------------------ */

/* What it was at is not tried again, and what it had yet to do is passed on to another one. */
static void
storer_lost(struct live_objects *o, bool at_once)
{
	if (o->at.step != OBJECT_DONE)
		live_offers_done(o->offers, &o->at.id);
	live_offers_lost(o->offers);
	live_worker_lost(&o->storer, at_once);
	o->connected = o->reads = false;
	o->at = (struct helper_object){ .step = OBJECT_DONE };
}

static uint64_t
allowed_of_worker(const struct live_objects *o)
{
	return o->allowed > o->stored_before ? o->allowed - o->stored_before : 0;
}

int
live_objects_connect(struct live_objects *o, struct helper *files, bool fresh)
{
	const struct helper_offers offers = { .kind = HELPER_OFFER, .all = o->all };
	struct live_worker *w = &o->storer;
	bool started = false;
	int r;

	if ((o->connected && !fresh) || !live_worker_ready(w, host_now_ns(), &started))
		return 0;
	if (started)
		o->stored_before = o->stored;
	o->store.allowed_bytes = allowed_of_worker(o);
	r = helper_join(&(struct helper_end){ w->helper, &o->store, sizeof(o->store) },
			&(struct helper_end){ files, &offers, sizeof(offers) }, OFFERS_BYTES);
	o->connected = r == 0;
	/* With the socket before goes what nobody had taken from it. */
	live_offers_lost(o->offers);
	return r;
}

/* Is it that file's own fault, or none? */
static bool
is_no_trouble(const struct helper_object *at)
{
	return at->rc == 0 || at->rc == -EEXIST ||
		(!at->ours && at->rc != -EDQUOT && at->rc != -ENOMEM);
}

/* Was this kind told within a day? If not, it is now; the one that was told longest ago makes room. */
static bool
was_told(struct live_objects *o, const struct helper_object *at, uint64_t now_ns)
{
	struct trouble *oldest = o->told;

	for (struct trouble *t = o->told; t < o->told + TROUBLES; t++) {
		if (t->rc == at->rc && t->ours == at->ours && now_ns - t->told_ns < TOLD_AGAIN_NS)
			return true;
		oldest = t->told_ns < oldest->told_ns ? t : oldest;
	}
	*oldest = (struct trouble){ at->rc, at->ours, now_ns };
	return false;
}

/* Each kind of trouble is told once a day, however many files begin meanwhile; the others are counted. */
static void
note_trouble(struct live_objects *o, const struct helper_object *at)
{
	const uint64_t now_ns = host_now_ns();
	const int rc = at->rc;
	char line[NEWS_BYTES];

	if (is_no_trouble(at))
		return;
	if (was_told(o, at, now_ns)) {
		o->failed++;
		return;
	}
	tell_failed(o);
	(void)snprintf(line, sizeof(line), "objects are not stored: %s: %.160s",
		       rc == -EDQUOT && !at->ours ? "they have taken all the room that they may"
			       : rc == -EPERM	  ? "not a directory of this user's alone"
						  : strerror(-rc),
		       o->store.dir);
	news_put(&o->news, NEWS_NO_USER, line);
}

static void
hear(struct live_objects *o, const struct helper_object *at)
{
	struct live_worker *w = &o->storer;

	o->at = *at;
	o->reads = at->step == OBJECT_READS;
	if (at->step == OBJECT_FLUSHED)
		o->flushed = true;
	if (at->step != OBJECT_DONE)
		return;
	live_offers_done(o->offers, &at->id);
	if (at->rc == 0)
		o->stored += at->bytes;
	note_trouble(o, at);
	/* What is left of his is passed over, and others' files have their turn. */
	if (helper_pool_late(w->pool, at->pid, at->uid, at->took_ns, A_FILE))
		(void)live_worker_tell(w);
}

void
live_objects_take(struct live_objects *o)
{
	struct live_worker *w = &o->storer;
	uint64_t now_ns = host_now_ns();
	struct helper_object at;
	ssize_t n = 0;

	while (w->helper && (n = helper_receive(w->helper, &at, sizeof(at))) > 0) {
		if (n != (ssize_t)sizeof(at) || at.id.size > BUILDID_MAX) {
			n = -EPROTO;
			break;
		}
		w->heard_ns = now_ns;
		hear(o, &at);
	}
	if (n < 0) {
		helper_close(w->helper);
		storer_lost(o, false);
	} else if (w->helper && o->reads && helper_pool_overdue(w->helper, w->heard_ns, now_ns)) {
		helper_pool_abandon(w->pool, w->helper, o->at.pid, o->at.uid,
				    o->at.uid == 0 ? shunned_device(o->at.maj, o->at.min) : 0,
				    A_FILE);
		storer_lost(o, true);
	}
}

uint64_t
live_objects_stored(const struct live_objects *o)
{
	return o->stored;
}

void
live_objects_allow(struct live_objects *o, uint64_t bytes)
{
	struct helper_allow allow = { .kind = HELPER_ALLOW };

	o->allowed = bytes;
	allow.allowed_bytes = allowed_of_worker(o);
	if (o->storer.helper)
		(void)helper_send(o->storer.helper, &allow, sizeof(allow), NULL, 0);
}

/* What cannot be said is as old as it was. */
static void
send_used(struct live_objects *o)
{
	const struct helper_touch head = { .kind = HELPER_TOUCH, .nr = o->nr_used };

	memcpy(o->used, &head, sizeof(head));
	if (o->storer.helper && o->nr_used)
		(void)helper_send(o->storer.helper, o->used,
				  sizeof(head) + o->nr_used * sizeof(struct buildid), NULL, 0);
	o->nr_used = 0;
}

void
live_objects_used(struct live_objects *o, const struct buildid *id)
{
	memcpy(o->used + sizeof(struct helper_touch) + o->nr_used * sizeof(*id), id, sizeof(*id));
	if (++o->nr_used == HELPER_TOUCH_MAX)
		send_used(o);
}

void
live_objects_finish(struct live_objects *o, uint64_t until_ns)
{
	const struct helper_allow flush = { .kind = HELPER_FLUSH };

	struct live_worker *w = &o->storer;

	send_used(o);
	o->flushed = !w->helper || helper_send(w->helper, &flush, sizeof(flush), NULL, 0) < 0;
	while (!o->flushed && w->helper && host_now_ns() < until_ns) {
		struct pollfd p = { .fd = helper_fd(w->helper), .events = POLLIN };

		(void)poll(&p, 1, 100);
		live_objects_take(o);
	}
	tell_failed(o);
}

bool
live_objects_news(struct live_objects *o, struct news_line *ret)
{
	return news_take(&o->news, ret);
}
