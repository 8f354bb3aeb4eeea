/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_jit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/block/jitsyms.h"
#include "format/bytes/time_text.h"
#include "format/jit/jitdump.h"
#include "format/model/task_model.h"
#include "recorder/helper/helper_serve.h"
#include "recorder/host/host.h"
#include "recorder/host/task_users.h"
#include "recorder/live/jit_addresses.h"
#include "recorder/live/jit_processes.h"
#include "recorder/live/jit_samples.h"
#include "recorder/live/live_crowd.h"
#include "recorder/live/live_worker.h"

#define ASKED_MAX 64		   /* questions on their way */
#define QUEUED_MAX (4u << 20)	   /* bytes of a block; of a file that cannot be written */
#define FILE_BYTES_MAX (16u << 20) /* of a file, before they are packed */
#define USER_BYTES_MAX (4u << 20)  /* of them, of one user; there are so many accounts of users */
#define USERS 256
#define FIRST_NS UINT64_C(1000000000)	/* from the first hit to the first question, */
#define PERIOD_NS UINT64_C(30000000000) /* and from one to the next, later */
#define PAUSE 500			/* times the CPU time that an answer took, at least */
#define FRESH_MANY 4096			/* addresses that are not kept waiting */
#define A_FILE "its perf map"

_Static_assert(JIT_PROCESSES_MAX == HELPER_JIT_PROCESSES, "a slot is the helper's");

struct question {
	uint64_t serial;
	pid_t pid;
	uint32_t uid;
	uint16_t process;
	uint8_t op;
};

struct live_jit {
	const struct task_model *model;
	struct task_users *users;
	struct live_worker worker;
	struct question asked[ASKED_MAX]; /* the worker's ring */
	struct jit_processes processes;
	struct jit_addresses addresses;
	struct jit_samples samples; /* which wait for records */
	uint64_t complete_ns;
	bool hurried;  /* the file ends */
	uint32_t file; /* number of the recording's file */
	uint64_t file_bytes, user_bytes[USERS];
	struct live_crowd crowd;
	struct buf payload; /* of the next JIT block */
	size_t nr;	    /* entries in it */
	uint64_t words[HELPER_JIT_ADDRESSES];
	uint8_t answer[HELPER_MESSAGE_MAX];
};

struct live_jit *
live_jit_new(struct helper_pool *pool, const struct task_model *model, struct task_users *users)
{
	struct live_jit *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->worker = (struct live_worker){ .pool = pool, .work = &helper_jit, .max = ASKED_MAX };
	l->model = model;
	l->users = users;
	buf_init(&l->payload);
	return l;
}

void
live_jit_free(struct live_jit *l)
{
	if (!l)
		return;
	helper_close(l->worker.helper);
	jit_processes_done(&l->processes);
	jit_addresses_done(&l->addresses);
	jit_samples_done(&l->samples);
	buf_done(&l->payload);
	free(l);
}

/* --- samples ------------------------------------------------------------------------------- */

static void
process_hit(struct live_jit *l, struct jit_process *p, uint64_t address)
{
	/* The process has ended, and no helper has its files open. */
	if (p->ended_ns && !p->held)
		return;
	if (p->fresh > FRESH_MANY || !jit_process_holds(p, address) ||
	    !jit_addresses_add(&l->addresses, p->slot, address))
		return;
	if (!p->hit) {
		p->hit = true;
		p->due_ns = host_now_ns() + FIRST_NS;
	}
	p->fresh++;
}

/* What it has had since it was forked is named by the process that it is a copy of. */
static void
sample_run(void *arg, uint32_t pid, uint64_t time_ns, const uint64_t *addresses, size_t nr)
{
	struct live_jit *l = arg;
	struct jit_process *p = jit_processes_find_at(&l->processes, pid, time_ns);

	for (; p; p = jit_processes_from(&l->processes, p))
		for (size_t i = 0; i < nr; i++)
			process_hit(l, p, addresses[i]);
}

/* Of what is older than until_ns, all records have come. */
static void
settle(struct live_jit *l, uint64_t until_ns)
{
	uint64_t done_ns;

	while ((done_ns = jit_processes_settle(&l->processes, until_ns)) < until_ns) {
		jit_samples_run(&l->samples, done_ns, sample_run, l);
		jit_processes_make_room(&l->processes, done_ns, until_ns);
	}
	jit_samples_run(&l->samples, until_ns, sample_run, l);
}

void
live_jit_sample(struct live_jit *l, const struct sample_glance *sample)
{
	if (!sample->pid || jit_samples_add(&l->samples, sample))
		return;
	/* There is no room to wait in. Forks wait on: what is done too early is lost for good. */
	jit_samples_run(&l->samples, UINT64_MAX, sample_run, l);
	(void)jit_samples_add(&l->samples, sample);
}

/* --- records ------------------------------------------------------------------------------- */

/* Where there is room for few more, nobody but root has more than an eighth of it. */
static bool
has_too_many(const struct live_jit *l, uint32_t uid)
{
	size_t nr = 0;

	if (uid == 0 || l->processes.nr <= JIT_PROCESSES_MAX / 2)
		return false;
	for (const struct jit_process *p = NULL; (p = jit_processes_next(&l->processes, p));)
		nr += p->uid == uid;
	return nr > JIT_PROCESSES_MAX / 8;
}

static void
see_map(struct live_jit *l, const struct perf_record *r, bool told)
{
	const struct perf_mmap *m = &r->mmap;
	const bool dump = jitdump_is_path(m->filename);
	struct jit_process *p;

	if (!(m->prot & PROT_EXEC) || m->pid == TASK_PID_KERNEL ||
	    (!dump && (m->build_id.size || !map_object_anonymous(m->filename))))
		return;
	p = jit_processes_find(&l->processes, m->pid);
	if (!p || p->ended_ns) {
		p = jit_processes_add(&l->processes, m->pid, r->sid.time, told);
		if (!p)
			return;
		p->uid = task_users_of(l->users, l->model, m->pid, r->sid.time);
		if (has_too_many(l, p->uid)) {
			jit_processes_remove(&l->processes, p);
			return;
		}
	}
	if (dump)
		jit_process_dump(p, m->filename, m->ino);
	else
		jit_process_map(p, m->addr, m->addr + m->len);
}

void
live_jit_see(struct live_jit *l, const struct perf_record *r, bool told)
{
	struct jit_process *p;

	if (r->type == REC_MMAP2) {
		see_map(l, r, told);
		return;
	}
	/* Who is gone may be known from a scan alone. */
	if (told && r->type != REC_EXIT)
		return;
	if (r->type == REC_FORK && r->task.pid != r->task.ppid) {
		/* The EXIT of the one before may have been lost. */
		p = jit_processes_find(&l->processes, r->task.pid);
		if (p && p->seen_ns < r->sid.time)
			jit_processes_end(&l->processes, r->task.pid, r->sid.time - 1);
		jit_processes_fork(&l->processes, r->task.ppid, r->task.pid, r->sid.time);
	} else if (r->type == REC_EXIT && r->task.pid == r->task.tid) {
		jit_processes_end(&l->processes, r->task.pid, r->sid.time);
	} else if (r->type == REC_COMM && r->misc & TASK_MISC_COMM_EXEC) {
		jit_processes_end(&l->processes, r->comm.pid, r->sid.time);
	}
}

/* --- asking -------------------------------------------------------------------------------- */

static void
forget(struct live_jit *l, struct jit_process *p)
{
	if (p->hit)
		jit_addresses_drop(&l->addresses, p->slot);
	jit_processes_remove(&l->processes, p);
}

/* All that has no answer is asked of another one, which has nothing open. */
static void
helper_lost(struct live_jit *l, bool at_once)
{
	struct live_worker *w = &l->worker;
	struct jit_process *p;

	live_worker_lost(w, at_once);
	while (w->nr) {
		const struct question *q = &l->asked[live_worker_take(w)];

		p = jit_processes_at(&l->processes, q->process, q->serial);
		if (p && (q->op == HELPER_JIT_READ || q->op == HELPER_JIT_END)) {
			p->fresh = jit_addresses_renew(&l->addresses, q->process);
			p->asked = false;
		}
	}
	for (p = NULL; (p = jit_processes_next(&l->processes, p));)
		p->held = p->dump_told = false;
}

static bool
ask(struct live_jit *l, struct jit_process *p, enum helper_jit_op op, const void *rest,
    size_t bytes)
{
	const uint64_t now_ns = host_now_ns();
	struct helper_jit q = { .kind = HELPER_JIT,
				.op = op,
				.slot = p->slot,
				.file = l->file,
				.serial = p->serial,
				.pid = (pid_t)p->pid,
				.uid = p->uid,
				.ino = p->dump_ino,
				.complete_ns = p->covered_ns,
				.alive_ns = p->seen_ns,
				.ended_ns = p->ended_ns };
	struct live_worker *w = &l->worker;
	bool fresh = false;
	int rc;

	if (w->nr == ASKED_MAX || !live_worker_ready(w, now_ns, &fresh))
		return false;
	if (op == HELPER_JIT_READ || op == HELPER_JIT_END)
		q.nr = (uint32_t)(bytes / sizeof(uint64_t));
	rc = live_worker_tell(w);
	if (rc == 0)
		rc = helper_send(w->helper, &q, sizeof(q), rest, bytes);
	if (rc == 0) {
		if (w->nr == 0)
			w->heard_ns = now_ns;
		l->asked[live_worker_at(w, w->nr++)] =
			(struct question){ .serial = p->serial,
					   .pid = (pid_t)p->pid,
					   .uid = p->uid,
					   .process = (uint16_t)q.slot,
					   .op = (uint8_t)op };
	} else if (rc != -EAGAIN) {
		helper_close(w->helper);
		helper_lost(l, false);
	}
	return rc == 0;
}

static bool
ask_names(struct live_jit *l, struct jit_process *p, enum helper_jit_op op, uint64_t now_ns)
{
	const uint16_t slot = p->slot;
	size_t nr = jit_addresses_fresh(&l->addresses, slot, l->words, HELPER_JIT_ADDRESSES);

	if (nr < HELPER_JIT_ADDRESSES)
		p->covered_ns = l->complete_ns;
	if (!ask(l, p, op, l->words, nr * sizeof(uint64_t)))
		return false;
	jit_addresses_asked(&l->addresses, slot, l->words, nr);
	p->fresh = 0;
	p->asked = true;
	p->urgent = false;
	p->wait_ns = p->wait_ns ? 2 * p->wait_ns : FIRST_NS;
	if (p->wait_ns > PERIOD_NS)
		p->wait_ns = PERIOD_NS;
	p->due_ns = now_ns + p->wait_ns;
	return true;
}

/* Is it over, as far as samples of it go? */
static bool
is_over(const struct live_jit *l, const struct jit_process *p)
{
	return p->ended_ns && p->ended_ns < l->complete_ns;
}

/* False: it has to wait. */
static bool
hold(struct live_jit *l, struct jit_process *p, uint64_t now_ns)
{
	if (!p->held && !is_over(l, p) &&
	    (p->turn || (p->turn = live_crowd_turn(&l->crowd, p->uid, now_ns))))
		p->held = ask(l, p, HELPER_JIT_HOLD, NULL, 0);
	if (p->held && p->dump && !p->dump_told)
		p->dump_told = ask(l, p, HELPER_JIT_DUMP, p->dump, strlen(p->dump) + 1);
	return p->held;
}

/* What it is time for, of one process. */
static void
follow(struct live_jit *l, struct jit_process *p, uint64_t now_ns)
{
	if (p->lazy && !p->hit && !is_over(l, p))
		return;
	if (!hold(l, p, now_ns) && is_over(l, p)) {
		/* Nothing of it is open any more. Copies lead to what it was a copy of. */
		if (p->copies == 0)
			forget(l, p);
		return;
	}
	if (!p->held || p->asked)
		return;
	/* What has a copy of its memory has its names. */
	if (is_over(l, p) && p->copies == 0) {
		(void)ask_names(l, p, HELPER_JIT_END, now_ns);
		return;
	}
	if (p->hit &&
	    (p->urgent || now_ns >= p->due_ns ||
	     (p->fresh >= FRESH_MANY && now_ns >= p->paused_ns)))
		(void)ask_names(l, p, HELPER_JIT_READ, now_ns);
}

/* --- answers ------------------------------------------------------------------------------- */

/* What there is no room for is left out: the report has addresses there. */
static void
take_names(struct live_jit *l, struct jit_process *p, struct span payload)
{
	uint64_t *user_bytes = &l->user_bytes[p->uid % USERS];
	struct jitsym symbol;
	size_t cursor = 0;

	while (jitsyms_next(payload, &cursor, &symbol) > 0) {
		const size_t bytes = 52 + symbol.name_len;

		if (l->payload.len + bytes > QUEUED_MAX || l->file_bytes + bytes > FILE_BYTES_MAX ||
		    (p->uid != 0 && *user_bytes + bytes > USER_BYTES_MAX))
			return;
		if (!l->nr++)
			jitsyms_begin(&l->payload);
		symbol.pid = p->pid;
		symbol.began_ns = p->began_ns;
		jitsyms_add(&l->payload, &symbol);
		l->file_bytes += bytes;
		*user_bytes += bytes;
	}
}

static void
take_last(struct live_jit *l, const struct helper_jit_part *part, uint64_t now_ns)
{
	const struct question q = l->asked[live_worker_take(&l->worker)];
	struct jit_process *p = jit_processes_at(&l->processes, q.process, q.serial);

	/* It ended before it could be looked at, and its EXIT was lost. */
	if (p && q.op == HELPER_JIT_HOLD && part->gone && !p->ended_ns)
		p->ended_ns = l->complete_ns ? l->complete_ns : 1;
	if (p && (q.op == HELPER_JIT_READ || q.op == HELPER_JIT_END)) {
		p->asked = false;
		p->paused_ns = now_ns + part->cpu_ns * PAUSE;
		if (p->due_ns < p->paused_ns)
			p->due_ns = p->paused_ns;
	}
	if (p && q.op == HELPER_JIT_END)
		forget(l, p);
	/* What is computed for him keeps others waiting as well. */
	if (helper_pool_late(l->worker.pool, q.pid, q.uid, part->took_ns + part->cpu_ns, A_FILE)) {
		helper_close(l->worker.helper);
		helper_lost(l, true);
	}
}

static void
leave_behind(struct live_jit *l)
{
	const struct question q = l->asked[live_worker_take(&l->worker)];
	struct jit_process *p = jit_processes_at(&l->processes, q.process, q.serial);

	helper_pool_abandon(l->worker.pool, l->worker.helper, q.pid, q.uid, 0, A_FILE);
	if (p)
		forget(l, p);
	helper_lost(l, true);
}

/* For want of memory, or over what it was at: that is not tried again. */
static void
has_ended(struct live_jit *l)
{
	struct jit_process *p = NULL;

	if (l->worker.nr) {
		const struct question q = l->asked[live_worker_take(&l->worker)];

		p = jit_processes_at(&l->processes, q.process, q.serial);
	}
	helper_close(l->worker.helper);
	if (p)
		forget(l, p);
	helper_lost(l, false);
}

static void
take_answers(struct live_jit *l, uint64_t now_ns)
{
	struct live_worker *w = &l->worker;
	struct helper_jit_part part;
	ssize_t n = 0;

	while (w->nr && w->helper &&
	       (n = helper_receive(w->helper, l->answer, sizeof(l->answer))) > 0) {
		const struct question *q = &l->asked[live_worker_at(w, 0)];
		struct jit_process *p = jit_processes_at(&l->processes, q->process, q->serial);

		if ((size_t)n < sizeof(part)) {
			n = -EPROTO;
			break;
		}
		memcpy(&part, l->answer, sizeof(part));
		w->heard_ns = now_ns;
		if (p)
			take_names(l, p,
				   span_of(l->answer + sizeof(part), (size_t)n - sizeof(part)));
		if (part.last)
			take_last(l, &part, now_ns);
	}
	if (n < 0)
		has_ended(l);
	else if (w->nr && helper_pool_overdue(w->helper, w->heard_ns, now_ns))
		leave_behind(l);
}

void
live_jit_pass(struct live_jit *l, uint64_t complete_ns)
{
	uint64_t now_ns;
	struct jit_process *p = NULL, *next;

	if (complete_ns > l->complete_ns)
		l->complete_ns = complete_ns;
	settle(l, l->complete_ns);
	if (!l->processes.nr && !l->worker.nr)
		return;
	now_ns = host_now_ns();
	take_answers(l, now_ns);
	for (p = jit_processes_next(&l->processes, NULL); p; p = next) {
		next = jit_processes_next(&l->processes, p);
		follow(l, p, now_ns);
	}
}

/* --- files --------------------------------------------------------------------------------- */

void
live_jit_hurry(struct live_jit *l)
{
	l->hurried = true;
	/* Whatever has ended by now is over. */
	l->complete_ns = host_now_ns();
	settle(l, UINT64_MAX);
	for (struct jit_process *p = NULL; (p = jit_processes_next(&l->processes, p));)
		p->urgent = p->hit;
}

bool
live_jit_waiting(const struct live_jit *l)
{
	const struct jit_process *p = NULL;

	while ((p = jit_processes_next(&l->processes, p)))
		if (p->hit && (p->urgent || p->asked))
			return true;
	return false;
}

int
live_jit_fd(const struct live_jit *l)
{
	/* Any other answer is left to the next pass. */
	return l->hurried && l->worker.nr && l->worker.helper ? helper_fd(l->worker.helper) : -1;
}

void
live_jit_begin_file(struct live_jit *l)
{
	l->file++;
	l->hurried = false;
	l->nr = 0;
	buf_clear(&l->payload);
	l->file_bytes = 0;
	memset(l->user_bytes, 0, sizeof(l->user_bytes));
	jit_addresses_clear(&l->addresses);
	l->samples.nr = 0;
	for (struct jit_process *p = NULL; (p = jit_processes_next(&l->processes, p));) {
		p->fresh = 0;
		p->hit = p->urgent = false;
	}
}

int
live_jit_write(struct live_jit *l, struct recording_writer *w, struct fmt_where *where)
{
	int rc;

	if (!l->nr)
		return 0;
	if (buf_failed(&l->payload)) {
		l->nr = 0;
		return -FMT_E_NOMEM;
	}
	rc = recording_writer_block(w, BLOCK_JIT, buf_span(&l->payload), where);
	/* What could not be written is written later: the disk may have room then. */
	if (rc == 0) {
		l->nr = 0;
		buf_clear(&l->payload);
	}
	return rc;
}
