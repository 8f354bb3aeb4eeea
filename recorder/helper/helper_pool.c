/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper/helper_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/time_text.h"
#include "recorder/ground/news.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/host.h"
#include "recorder/host/task_users.h"

#define LEFT_MAX 16
#define LATE_MAX 16
#define LATE_NS UINT64_C(60000000000) /* for so long it is held against a user */

/* One that was left behind, and over whom. */
struct left {
	struct helper *helper; /* NULL: none */
	bool stuck;	       /* the following holds */
	pid_t pid;
	uint32_t uid;
	uint64_t device; /* 0: none */
};

/* A user whose answers took long. */
struct late {
	uint32_t uid;
	uint64_t since_ns; /* 0: nobody */
	uint64_t ns;	   /* altogether */
};

struct helper_pool {
	struct news news;
	uint64_t unanswered; /* that were not told yet */
	bool refused;	     /* which has been told */
};

/* Of all pools: who holds up one worker would hold up the next one's, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct left left[LEFT_MAX];
static struct late late[LATE_MAX];
static struct shunned shunned;
static uint64_t shunned_version;

struct helper_pool *
helper_pool_new(void)
{
	struct helper_pool *p = calloc(1, sizeof(*p));

	if (p)
		news_init(&p->news);
	return p;
}

void
helper_pool_free(struct helper_pool *p)
{
	free(p);
}

/* Whoever holds up a worker is left alone for as long as he does. */
static void
look_at_left(struct left *l, uint64_t now_ns)
{
	char nothing[16];

	if (!l->helper)
		return;
	/* It may not have been there yet when it was left behind. */
	helper_kill(l->helper);
	if (helper_receive(l->helper, nothing, sizeof(nothing)) < 0) {
		helper_close(l->helper);
		*l = (struct left){ 0 };
		return;
	}
	if (!l->stuck)
		return;
	shunned_renew(&shunned, SHUNNED_PROCESS, (uint64_t)l->pid, now_ns);
	if (l->uid != 0)
		shunned_renew(&shunned, SHUNNED_USER, l->uid, now_ns);
	if (l->device)
		shunned_renew(&shunned, SHUNNED_DEVICE, l->device, now_ns);
}

/* A place for another one that is left behind; NULL: there is none. Under lock. */
static struct left *
helper_pool_place(void)
{
	uint64_t now_ns = host_now_ns();
	struct left *free_one = NULL;

	for (size_t i = 0; i < LEFT_MAX; i++) {
		look_at_left(&left[i], now_ns);
		if (!left[i].helper)
			free_one = &left[i];
	}
	return free_one;
}

int
helper_pool_tell(struct helper *h, uint64_t *version)
{
	struct helper_shun shun = { .kind = HELPER_SHUN };
	int r = 0;

	pthread_mutex_lock(&lock);
	shun.shunned = shunned;
	if (*version != shunned_version + 1)
		r = helper_send(h, &shun, sizeof(shun), NULL, 0);
	if (r == 0)
		*version = shunned_version + 1;
	pthread_mutex_unlock(&lock);
	return r;
}

static int
open_worker(const struct helper_work *work, struct helper **ret)
{
	uint64_t version = 0;
	bool room;
	int r;

	pthread_mutex_lock(&lock);
	room = helper_pool_place() != NULL;
	pthread_mutex_unlock(&lock);
	if (!room)
		return -EBUSY;
	r = helper_open(work, ret);
	if (r < 0)
		return r;
	r = helper_pool_tell(*ret, &version);
	if (r < 0) {
		helper_close(*ret);
		*ret = NULL;
	}
	return r;
}

static const char *
why_not(int r)
{
	if (r == -EBUSY)
		return "too many are held up";
	if (r == -EPERM)
		return "it cannot give up the capabilities that it does not need, since capset(2) is refused";
	return strerror(-r);
}

int
helper_pool_open(struct helper_pool *p, const struct helper_work *work, struct helper **ret)
{
	int r = open_worker(work, ret);
	char line[NEWS_BYTES];

	if (r < 0 && !p->refused) {
		(void)snprintf(line, sizeof(line),
			       "cannot start a helper process (%s): names of earlier processes "
			       "and of files may be missing",
			       why_not(r));
		news_put(&p->news, NEWS_NO_USER, line);
		p->unanswered++;
	}
	p->refused = r < 0;
	return r;
}

bool
helper_pool_overdue(const struct helper *h, uint64_t heard_ns, uint64_t now_ns)
{
	if (now_ns < heard_ns + HELPER_ANSWER_NS)
		return false;
	return now_ns >= heard_ns + HELPER_STARVED_NS || helper_sleeps(h);
}

static void
helper_pool_note(struct helper_pool *p, const struct left *l, const char *what, uint64_t waited_ns,
		 uint64_t for_ns)
{
	char user[32] = "", line[NEWS_BYTES];

	if (l->uid != TASK_USER_UNKNOWN)
		(void)snprintf(user, sizeof(user), " of user %u", (unsigned)l->uid);
	(void)snprintf(line, sizeof(line),
		       "process %d%s: %s did not answer for %u s: not read again for %u s",
		       (int)l->pid, user, what, (unsigned)(waited_ns / SECOND_NS),
		       (unsigned)(for_ns / SECOND_NS));
	news_put(&p->news, l->uid, line);
}

/* For how long it is; 0: it was already. Under lock. */
static uint64_t
shun(const struct left *l)
{
	uint64_t now_ns = host_now_ns(), for_ns, more_ns;

	shunned_version++;
	for_ns = shunned_add(&shunned, SHUNNED_PROCESS, (uint64_t)l->pid, now_ns);
	if (l->device)
		(void)shunned_add(&shunned, SHUNNED_DEVICE, l->device, now_ns);
	if (l->uid == 0)
		return for_ns;
	more_ns = shunned_add(&shunned, SHUNNED_USER, l->uid, now_ns);
	return more_ns > for_ns ? more_ns : for_ns;
}

void
helper_pool_abandon(struct helper_pool *p, struct helper *h, pid_t pid, uint32_t uid,
		    uint64_t device, const char *what)
{
	struct left one = {
		.helper = h, .stuck = helper_sleeps(h), .pid = pid, .uid = uid, .device = device
	};
	uint64_t for_ns = 0;
	struct left *at;

	pthread_mutex_lock(&lock);
	at = helper_pool_place();
	/* One that only wanted for a CPU was held up by nobody. */
	if (one.stuck)
		for_ns = shun(&one);
	helper_kill(h);
	if (at)
		*at = one;
	pthread_mutex_unlock(&lock);
	if (!at)
		helper_close(h);
	p->unanswered++;
	if (for_ns)
		helper_pool_note(p, &one, what, HELPER_ANSWER_NS, for_ns);
}

/* Was it too much for this user? Then he begins anew. Under lock. */
static bool
is_enough(uint32_t uid, uint64_t took_ns, uint64_t now_ns)
{
	struct late *at = late;

	for (size_t i = 0; i < LATE_MAX; i++) {
		if (now_ns - late[i].since_ns >= LATE_NS)
			late[i] = (struct late){ 0 };
		if (late[i].since_ns && late[i].uid == uid) {
			at = &late[i];
			break;
		}
		if (late[i].ns < at->ns)
			at = &late[i];
	}
	if (at->uid != uid || !at->since_ns)
		*at = (struct late){ .uid = uid, .since_ns = now_ns };
	at->ns += took_ns;
	if (at->ns < HELPER_PATIENCE_NS)
		return false;
	*at = (struct late){ 0 };
	return true;
}

bool
helper_pool_late(struct helper_pool *p, pid_t pid, uint32_t uid, uint64_t took_ns, const char *what)
{
	const struct left one = { .pid = pid, .uid = uid };
	uint64_t for_ns = 0;
	bool enough;

	/* Root has slow disks, and needs no such way to stop us. */
	if (uid == 0 || took_ns < HELPER_LATE_NS)
		return false;
	pthread_mutex_lock(&lock);
	enough = is_enough(uid, took_ns, host_now_ns());
	if (enough)
		for_ns = shun(&one);
	pthread_mutex_unlock(&lock);
	p->unanswered += enough;
	if (for_ns)
		helper_pool_note(p, &one, what, HELPER_PATIENCE_NS, for_ns);
	return enough;
}

uint64_t
helper_pool_unanswered(struct helper_pool *p)
{
	uint64_t n = p->unanswered;

	p->unanswered = 0;
	return n;
}

bool
helper_pool_news(struct helper_pool *p, struct news_line *ret)
{
	return news_take(&p->news, ret);
}
