/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_objects.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/time_text.h"
#include "recorder/ground/news.h"
#include "recorder/helper/helper_objects.h"
#include "recorder/helper/helper_pool.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/host.h"

#define ASKED 4096	       /* builds remembered as asked for; a power of two */
#define OFFERS_BYTES (1 << 20) /* of a socket's buffer */
#define AGAIN_NS SECOND_NS     /* before another worker is asked for, where there was none */

struct live_objects {
	struct helper_pool *pool;
	struct helper *storer; /* NULL: none, or not yet */
	struct helper_store store;
	bool all;
	bool connected; /* since the file began */
	bool reads;	/* it touches what is somebody's: at says whose */
	struct helper_object at;
	uint64_t heard_ns, refused_ns;
	bool flushed;
	int told; /* the error that was told last */
	struct news news;
	struct buildid asked[ASKED];
	uint8_t used[sizeof(struct helper_touch) + HELPER_TOUCH_MAX * sizeof(struct buildid)];
	uint32_t nr_used;
};

struct live_objects *
live_objects_new(struct helper_pool *pool, const struct session_objects *options)
{
	struct live_objects *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->pool = pool;
	o->all = options->mode == SESSION_OBJECTS_ALL;
	o->store = (struct helper_store){ .kind = HELPER_STORE,
					  .allowed_bytes = options->allowed_bytes,
					  .user_bytes = options->user_bytes };
	(void)strlcpy(o->store.dir, options->dir, sizeof(o->store.dir));
	news_init(&o->news);
	return o;
}

void
live_objects_free(struct live_objects *o)
{
	if (!o)
		return;
	helper_close(o->storer);
	free(o);
}

static struct buildid *
place_of(struct live_objects *o, const struct buildid *id)
{
	uint32_t hash;

	memcpy(&hash, id->bytes, sizeof(hash));
	return &o->asked[hash % ASKED];
}

bool
live_objects_asked(const struct live_objects *o, const struct buildid *id)
{
	return buildid_cmp(place_of((struct live_objects *)(uintptr_t)o, id), id) == 0;
}

void
live_objects_note(struct live_objects *o, const struct buildid *id)
{
	*place_of(o, id) = *id;
}

void
live_objects_begin_file(struct live_objects *o)
{
	memset(o->asked, 0, sizeof(o->asked));
	o->connected = false;
	o->told = 0;
}

/* --- the worker ------------------------------------------------------------------------------ */

static void
storer_lost(struct live_objects *o)
{
	o->storer = NULL;
	o->connected = o->reads = false;
	o->refused_ns = host_now_ns();
}

static bool
storer_ready(struct live_objects *o)
{
	uint64_t now_ns = host_now_ns();

	if (o->storer)
		return true;
	if (o->refused_ns && now_ns - o->refused_ns < AGAIN_NS)
		return false;
	o->refused_ns = now_ns;
	if (helper_pool_open(o->pool, helper_serve_objects, &o->storer) < 0)
		return false;
	o->refused_ns = 0;
	o->heard_ns = now_ns;
	return true;
}

int
live_objects_connect(struct live_objects *o, struct helper *files, bool fresh)
{
	const struct helper_offers offers = { .kind = HELPER_OFFER, .all = o->all };
	const int bytes = OFFERS_BYTES;
	int pair[2], r;

	if ((o->connected && !fresh) || !storer_ready(o))
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* Files are mapped faster than they are copied, and are asked about once. */
	(void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	r = helper_send_fd(o->storer, &o->store, sizeof(o->store), pair[0]);
	if (r == 0)
		r = helper_send_fd(files, &offers, sizeof(offers), pair[1]);
	(void)close(pair[0]);
	(void)close(pair[1]);
	o->connected = r == 0;
	return r;
}

/* Once in a file for each kind of trouble in a row. */
static void
note_trouble(struct live_objects *o, int rc)
{
	char line[NEWS_BYTES];

	/* Those are the files' own faults, or no fault. */
	if (rc == 0 || rc == -EEXIST || rc == -ESTALE || rc == -ENOEXEC || rc == -EIO ||
	    rc == -ETIMEDOUT || rc == -EFBIG || rc == o->told)
		return;
	o->told = rc;
	(void)snprintf(line, sizeof(line), "objects are not stored: %s: %.160s",
		       rc == -EDQUOT	      ? "they have taken all the room that they may"
			       : rc == -EPERM ? "not a directory of this user's alone"
					      : strerror(-rc),
		       o->store.dir);
	news_put(&o->news, line);
}

static void
hear(struct live_objects *o, const struct helper_object *at)
{
	o->at = *at;
	o->reads = at->step == OBJECT_READS;
	if (at->step == OBJECT_FLUSHED)
		o->flushed = true;
	if (at->step != OBJECT_DONE)
		return;
	if (at->rc == 0)
		o->store.allowed_bytes -=
			at->bytes < o->store.allowed_bytes ? at->bytes : o->store.allowed_bytes;
	note_trouble(o, at->rc);
}

void
live_objects_take(struct live_objects *o)
{
	uint64_t now_ns = host_now_ns();
	struct helper_object at;
	ssize_t n = 0;

	while (o->storer && (n = helper_receive(o->storer, &at, sizeof(at))) > 0) {
		if (n != (ssize_t)sizeof(at)) {
			n = -EPROTO;
			break;
		}
		o->heard_ns = now_ns;
		hear(o, &at);
	}
	if (n < 0) {
		helper_close(o->storer);
		storer_lost(o);
	} else if (o->storer && o->reads && helper_pool_overdue(o->storer, o->heard_ns, now_ns)) {
		helper_pool_abandon(o->pool, o->storer, o->at.pid, o->at.uid,
				    o->at.uid == 0 ? shunned_device(o->at.maj, o->at.min) : 0,
				    "a file that it has mapped");
		storer_lost(o);
	}
}

void
live_objects_allow(struct live_objects *o, uint64_t bytes)
{
	const struct helper_allow allow = { .kind = HELPER_ALLOW, .allowed_bytes = bytes };

	o->store.allowed_bytes = bytes;
	if (o->storer)
		(void)helper_send(o->storer, &allow, sizeof(allow), NULL, 0);
}

/* What cannot be said is as old as it was. */
static void
send_used(struct live_objects *o)
{
	const struct helper_touch head = { .kind = HELPER_TOUCH, .nr = o->nr_used };

	memcpy(o->used, &head, sizeof(head));
	if (o->storer && o->nr_used)
		(void)helper_send(o->storer, o->used,
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

	send_used(o);
	o->flushed = !o->storer || helper_send(o->storer, &flush, sizeof(flush), NULL, 0) < 0;
	while (!o->flushed && o->storer && host_now_ns() < until_ns) {
		struct pollfd p = { .fd = helper_fd(o->storer), .events = POLLIN };

		(void)poll(&p, 1, 100);
		live_objects_take(o);
	}
}

bool
live_objects_news(struct live_objects *o, char *text, size_t cap)
{
	return news_take(&o->news, text, cap);
}
