/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker that reads perf maps and jitdumps, whose descriptors it keeps. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "format/bytes/time_text.h"
#include "recorder/ground/descriptor_limit.h"
#include "recorder/helper/helper_rights.h"
#include "recorder/helper/helper_serve_internal.h"
#include "recorder/host/host.h"
#include "recorder/host/jit_home.h"
#include "recorder/host/jit_picker.h"

#define PART_BYTES (HELPER_MESSAGE_MAX / 4)
/* Of an answer: whoever names his code at length has fewer names. */
#define ANSWER_BYTES_MAX (4u << 20)

struct held {
	uint64_t serial; /* 0: none */
	uint32_t file;
	bool found, gone; /* home is open; there was no such process */
	struct jit_home home;
	struct jit_picker *picker;
};

struct jit_worker {
	int fd;
	struct held held[HELPER_JIT_PROCESSES];
	struct buf payload; /* of the part that is filled */
	size_t told;	    /* bytes of the parts of this answer */
};

static void
held_done(struct held *h)
{
	if (h->found)
		jit_home_done(&h->home);
	jit_picker_free(h->picker);
	*h = (struct held){ 0 };
}

/* The one that is asked about; one that is asked for first is begun. NULL: out of memory. */
static struct held *
held_of(struct jit_worker *w, const struct helper_jit *q)
{
	struct held *h = &w->held[q->slot];
	int rc;

	if (h->serial == q->serial)
		return h;
	held_done(h);
	h->picker = jit_picker_new();
	if (!h->picker)
		return NULL;
	h->serial = q->serial;
	h->file = q->file;
	rc = jit_home_open(&h->home, q->pid, q->alive_ns);
	h->found = rc == 0;
	h->gone = rc == -ESRCH || rc == -ENOENT;
	return h;
}

static int
send_part(struct jit_worker *w, const struct helper_jit_part *part)
{
	int rc = buf_failed(&w->payload)
		? -ENOMEM
		: helper_give(w->fd, part, sizeof(*part), w->payload.p, w->payload.len);

	w->told += w->payload.len;
	jitsyms_begin(&w->payload);
	return rc;
}

static int
tell(void *arg, const struct jitsym *symbol)
{
	const struct helper_jit_part part = { .last = false };
	struct jit_worker *w = arg;

	/* What is over is not told: it ends the reading. */
	if (w->told > ANSWER_BYTES_MAX)
		return 1;
	jitsyms_add(&w->payload, symbol);
	return w->payload.len < PART_BYTES ? 0 : send_part(w, &part);
}

static int
read_held(struct jit_worker *w, struct held *h, const struct helper_jit *q,
	  const uint64_t *addresses)
{
	uint64_t ended_ns;
	int rc;

	if (h->file != q->file)
		jit_picker_forget(h->picker);
	h->file = q->file;
	rc = jit_picker_want(h->picker, addresses, q->nr);
	if (rc < 0 || !h->found)
		return rc;
	/* Its end may be news. */
	ended_ns = q->ended_ns ? q->ended_ns : jit_home_next(&h->home);
	rc = jit_picker_read(h->picker, jit_home_map(&h->home, ended_ns), h->home.dumps,
			     JIT_HOME_DUMPS, q->complete_ns, tell, w);
	/* A file that cannot be read names nothing. */
	return rc == -EIO || rc > 0 ? 0 : rc;
}

static bool
is_whole(const struct request *rq)
{
	const struct helper_jit *q = &rq->jit;
	const size_t rest = rq->bytes - sizeof(*q);

	if (q->slot >= HELPER_JIT_PROCESSES || q->nr > HELPER_JIT_ADDRESSES)
		return false;
	if (q->op == HELPER_JIT_DUMP)
		return rest > 0 && rq->room[rq->bytes - 1] == '\0';
	return rest == q->nr * sizeof(uint64_t);
}

/* 0, -errno: nobody listens, or there is no memory. */
static int
serve(struct jit_worker *w, const struct request *rq)
{
	const uint8_t *rest = rq->room + sizeof(rq->jit);
	const struct helper_jit *q = &rq->jit;
	const uint64_t now_ns = host_now_ns();
	struct held *h;
	int rc = 0;

	/* What is held of him may be slow, too. */
	if (shunned_has(&rq->shunned, SHUNNED_PROCESS, (uint64_t)q->pid, now_ns) ||
	    shunned_has(&rq->shunned, SHUNNED_USER, q->uid, now_ns))
		return 0;
	h = held_of(w, q);
	if (!h)
		return -ENOMEM;
	if (q->op == HELPER_JIT_DUMP && h->found)
		jit_home_dump(&h->home, (const char *)rest, q->ino);
	if (q->op == HELPER_JIT_READ || q->op == HELPER_JIT_END)
		rc = read_held(w, h, q, (const uint64_t *)(const void *)rest);
	if (q->op == HELPER_JIT_END)
		held_done(h);
	return rc;
}

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)time_text_ns(&ts);
}

static int
answer(struct jit_worker *w, struct request *rq, struct stint *stint)
{
	struct helper_jit_part last = { .last = true };
	const uint64_t before_ns = cpu_ns();
	int rc;

	stint_begin(stint);
	w->told = 0;
	jitsyms_begin(&w->payload);
	rc = serve(w, rq);
	last.gone = rq->jit.slot < HELPER_JIT_PROCESSES && w->held[rq->jit.slot].gone;
	last.cpu_ns = cpu_ns() - before_ns;
	last.took_ns = stint_took_ns(stint);
	last.took_ns -= last.took_ns > last.cpu_ns ? last.cpu_ns : last.took_ns;
	return rc < 0 ? rc : send_part(w, &last);
}

static void
serve_jit(int fd)
{
	struct jit_worker *w = calloc(1, sizeof(*w));
	struct request *rq = calloc(1, sizeof(*rq));
	struct stint stint = stint_open();

	descriptor_limit_raise(); /* four descriptors a process */
	if (w)
		w->fd = fd;
	/* One that failed ends: that shows. */
	while (w && rq && helper_serve_take(fd, rq, HELPER_JIT, sizeof(rq->jit)) && is_whole(rq) &&
	       answer(w, rq, &stint) == 0)
		;
	for (size_t i = 0; w && i < HELPER_JIT_PROCESSES; i++)
		held_done(&w->held[i]);
	if (w)
		buf_done(&w->payload);
	free(w);
	free(rq);
	stint_close(&stint);
}

const struct helper_work helper_jit = { serve_jit, HELPER_RIGHTS_JIT };
