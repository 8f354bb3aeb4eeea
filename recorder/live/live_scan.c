/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/time_text.h"
#include "recorder/helper/helper_pool.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/host.h"
#include "recorder/host/task_users.h"

#define AGAIN_NS SECOND_NS     /* before another helper is asked for, where there was none */
#define TAKEN_BYTES (1u << 20) /* at once */
#define ITS_MAPS "its maps"

struct live_scan {
	struct helper_pool *pool;
	struct helper *helper; /* NULL: it has to be asked for */
	bool on;
	struct helper_scan request;
	pid_t *pids;
	pid_t at;	     /* the process that is looked at; 0: none */
	uint32_t uid;	     /* its user; TASK_USER_UNKNOWN */
	uint64_t heard_ns;   /* when the helper last spoke, or was asked */
	uint64_t safe_ns;    /* when it began: the time of what comes */
	uint64_t refused_ns; /* when there was no helper to be had */
	pid_t died_at;	     /* the process at which the last one died; -1: none did */
	bool complete;	     /* none was passed over so far */
	struct state_stats stats;
	uint8_t message[HELPER_MESSAGE_MAX];
};

struct live_scan *
live_scan_new(struct helper_pool *pool)
{
	struct live_scan *s = calloc(1, sizeof(*s));

	if (s)
		s->pool = pool;
	return s;
}

static void
live_scan_end(struct live_scan *s)
{
	helper_close(s->helper);
	s->helper = NULL;
	free(s->pids);
	s->pids = NULL;
	s->on = false;
}

void
live_scan_free(struct live_scan *s)
{
	if (!s)
		return;
	live_scan_end(s);
	free(s);
}

bool
live_scan_on(const struct live_scan *s)
{
	return s->on;
}

uint64_t
live_scan_safe_ns(const struct live_scan *s)
{
	return s->on ? s->safe_ns : UINT64_MAX;
}

int
live_scan_fd(const struct live_scan *s)
{
	return s->helper ? helper_fd(s->helper) : -1;
}

bool
live_scan_complete(const struct live_scan *s)
{
	return s->complete;
}

const struct state_stats *
live_scan_stats(const struct live_scan *s)
{
	return &s->stats;
}

static void
live_scan_ask(struct live_scan *s)
{
	uint64_t now_ns = host_now_ns();
	int r;

	if (s->refused_ns && now_ns - s->refused_ns < AGAIN_NS)
		return;
	s->heard_ns = now_ns;
	r = helper_pool_open(s->pool, &helper_state, &s->helper);
	if (r == 0)
		r = helper_send(s->helper, &s->request, sizeof(s->request), s->pids,
				s->request.nr_pids * sizeof(*s->pids));
	if (r == 0) {
		s->refused_ns = 0;
		return;
	}
	helper_close(s->helper);
	s->helper = NULL;
	s->refused_ns = now_ns;
}

int
live_scan_begin(struct live_scan *s, const struct state_options *o)
{
	live_scan_end(s);
	s->request = (struct helper_scan){ .kind = HELPER_SCAN,
					   .attr = *o->attr,
					   .id = o->id,
					   .nr_pids = (uint32_t)o->nr_pids,
					   .data_maps = o->data_maps,
					   .no_maps = o->no_maps,
					   .build_ids = true };
	s->complete = s->request.nr_pids <= HELPER_PIDS_MAX;
	if (!s->complete)
		s->request.nr_pids = HELPER_PIDS_MAX;
	s->pids = calloc(s->request.nr_pids + 1, sizeof(*s->pids));
	if (!s->pids)
		return -ENOMEM;
	if (s->request.nr_pids)
		memcpy(s->pids, o->pids, s->request.nr_pids * sizeof(*s->pids));
	s->on = true;
	s->at = 0;
	s->uid = TASK_USER_UNKNOWN;
	s->request.time_ns = s->safe_ns = host_now_ns();
	s->refused_ns = 0;
	s->died_at = -1;
	s->stats = (struct state_stats){ 0 };
	live_scan_ask(s);
	return 0;
}

/* With another helper, behind the process after. */
static void
go_on(struct live_scan *s, pid_t after)
{
	s->helper = NULL;
	s->request.after = after;
	live_scan_ask(s);
}

/* The process that it waits for is told of by name alone, when the scan goes on there. */
static void
leave_behind(struct live_scan *s)
{
	helper_pool_abandon(s->pool, s->helper, s->at, s->uid, 0, ITS_MAPS);
	go_on(s, s->at > 0 ? s->at - 1 : 0);
}

/* The other processes of the user of this one, who is shunned now, are told of by name alone. */
static void
lose_patience(struct live_scan *s, pid_t pid)
{
	helper_close(s->helper);
	go_on(s, s->at > 0 ? s->at - 1 : pid);
}

/* 0; -EPROTO: that is not what a helper says. */
static int
take_part(struct live_scan *s, size_t bytes, struct buf *out)
{
	const struct helper_part *part = (const struct helper_part *)(const void *)s->message;
	const pid_t before = s->at;
	const uint32_t uid = s->uid;

	if (bytes < sizeof(*part))
		return -EPROTO;
	s->heard_ns = host_now_ns();
	s->at = part->pid;
	s->uid = part->uid;
	s->stats = part->stats;
	s->complete &= part->stats.missed == 0;
	buf_append(out, s->message + sizeof(*part), bytes - sizeof(*part));
	if (part->last)
		live_scan_end(s);
	else if (before && helper_pool_late(s->pool, before, uid, part->took_ns, ITS_MAPS))
		lose_patience(s, before);
	return 0;
}

/* For want of memory, say. What it was at may have been the cause: that is tried once more. */
static void
has_died(struct live_scan *s)
{
	bool again = s->died_at == s->at;

	helper_close(s->helper);
	s->helper = NULL;
	s->refused_ns = host_now_ns();
	s->died_at = s->at;
	s->complete &= !again;
	if (again && s->request.nr_pids)
		live_scan_end(s);
	s->request.after = again || s->at == 0 ? s->at : s->at - 1;
}

int
live_scan_take(struct live_scan *s, struct buf *out)
{
	size_t limit = out->len + TAKEN_BYTES;
	ssize_t n = 0;

	if (s->on && !s->helper)
		live_scan_ask(s);
	while (s->helper && out->len < limit &&
	       (n = helper_receive(s->helper, s->message, sizeof(s->message))) > 0)
		if (take_part(s, (size_t)n, out) < 0)
			break;
	if (s->helper && n != 0 && out->len < limit)
		has_died(s);
	else if (s->helper && n == 0 && helper_pool_overdue(s->helper, s->heard_ns, host_now_ns()))
		leave_behind(s);
	return buf_failed(out) ? -ENOMEM : 0;
}
