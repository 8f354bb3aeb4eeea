/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/time_text.h"
#include "recorder/helper_serve.h"
#include "recorder/host.h"
#include "recorder/news.h"
#include "recorder/proc.h"

#define LEFT_MAX 4

struct helper_pool {
	struct shunned shunned;
	struct helper *left[LEFT_MAX]; /* behind */
	struct news news;
};

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
	for (size_t i = 0; p && i < LEFT_MAX; i++)
		helper_close(p->left[i]);
	free(p);
}

/* A place for another one that is left behind; NULL: there is none. */
static struct helper **
place(struct helper_pool *p)
{
	char nothing[16];

	for (size_t i = 0; i < LEFT_MAX; i++) {
		if (p->left[i] && helper_receive(p->left[i], nothing, sizeof(nothing)) < 0) {
			helper_close(p->left[i]);
			p->left[i] = NULL;
		}
		if (!p->left[i])
			return &p->left[i];
	}
	return NULL;
}

int
helper_pool_open(struct helper_pool *p, helper_serve_fn *serve, struct helper **ret)
{
	const struct helper_shun shun = { p->shunned };
	int r;

	if (!place(p))
		return -EBUSY;
	r = helper_open(serve, ret);
	if (r < 0)
		return r;
	r = helper_send(*ret, &shun, sizeof(shun), NULL, 0);
	if (r < 0) {
		helper_close(*ret);
		*ret = NULL;
	}
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
tell(struct helper_pool *p, pid_t pid, const uid_t *uid, const char *what, uint64_t for_ns)
{
	char user[32] = "", line[NEWS_BYTES];

	if (uid)
		(void)snprintf(user, sizeof(user), " of user %u", (unsigned)*uid);
	(void)snprintf(line, sizeof(line),
		       "process %d%s: %s kept a helper waiting for %u s: left alone for %u s",
		       (int)pid, user, what, (unsigned)(HELPER_ANSWER_NS / SECOND_NS),
		       (unsigned)(for_ns / SECOND_NS));
	news_put(&p->news, line);
}

void
helper_pool_abandon(struct helper_pool *p, struct helper *h, pid_t pid, uint64_t device,
		    const char *what)
{
	struct helper **left = place(p);
	uint64_t now_ns = host_now_ns(), for_ns;
	bool known_uid;
	uid_t uid = 0;

	known_uid = proc_uid(pid, &uid) == 0;
	for_ns = shunned_add(&p->shunned, SHUNNED_PROCESS, (uint64_t)pid, now_ns);
	if (device)
		(void)shunned_add(&p->shunned, SHUNNED_DEVICE, device, now_ns);
	if (known_uid && uid != 0)
		for_ns = shunned_add(&p->shunned, SHUNNED_USER, uid, now_ns);
	if (for_ns)
		tell(p, pid, known_uid ? &uid : NULL, what, for_ns);
	if (left) {
		helper_kill(h);
		*left = h;
	} else {
		helper_close(h);
	}
}

bool
helper_pool_news(struct helper_pool *p, char *text, size_t cap)
{
	return news_take(&p->news, text, cap);
}
