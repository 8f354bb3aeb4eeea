/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/helper/helper_pool.h"
#include "recorder/host/cgroup.h"
#include "recorder/host/host.h"
#include "recorder/host/proc.h"
#include "recorder/host/state.h"
#include "recorder/host/task_users.h"
#include "recorder/live/live_exits.h"
#include "recorder/live/live_ids.h"
#include "recorder/live/live_jit.h"
#include "recorder/live/live_kernel.h"
#include "recorder/live/live_objects.h"
#include "recorder/live/live_pending.h"
#include "recorder/live/live_scan.h"

#define GHOST_NS UINT64_C(10000000000) /* how long late samples may come */
#define DUE_NS UINT64_C(5000000000)    /* at most between passes of the model */
#define DUE_BYTES (256u << 10)
#define FINISH_NS UINT64_C(5000000000) /* that an end waits for objects */

struct live {
	const struct event_set *events;
	struct state_options scan;
	struct event_attr attr;
	struct task_model *model;
	struct live_kernel kernel;
	struct helper_pool *pool;
	struct task_users *users;
	struct live_ids *ids;
	struct live_objects *objects; /* NULL: none are stored */
	struct live_jit *jit;
	struct live_scan *state; /* as it comes in */
	struct live_exits exits; /* of a resync that goes on */
	struct live_pending pending;
	uint64_t pending_max; /* bytes */
	struct buf scratch;
	uint64_t complete_ns;
	uint64_t cut; /* processes of whose maps a scan told only a part */
	struct task_snapshot_bound bound;
	uint64_t model_ns;    /* the model has all records before this */
	live_reach_fn *reach; /* NULL: none is told */
	void *reach_arg;
	bool waiting; /* as in live_options */
	bool nomem;   /* a record could not be kept: live_pass() says so */
};

/* --- build-ids ------------------------------------------------------------------------------- */

static void
give_named(void *arg, const char *path, const struct buildid *id)
{
	live_ids_give(arg, path, id);
}

/* What has a build-id but no inode: said once in each file. */
static void
ids_begin_file(struct live *l)
{
	struct buildid id;

	live_ids_begin_file(l->ids);
	if (host_buildid_vdso(&id) == 0)
		live_ids_give(l->ids, "[vdso]", &id);
	live_modules_each(l->kernel.modules, give_named, l->ids);
}

/* --- life ------------------------------------------------------------------------------------ */

int
live_open(const struct live_options *options, struct live **ret)
{
	const struct event *event = event_set_at(options->events, (size_t)options->sideband);
	const uint64_t model_bytes = options->model_bytes ? options->model_bytes : LIVE_MODEL_BYTES;
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->waiting = options->waiting;
	l->attr = event->attr;
	l->scan = (struct state_options){ .attr = &l->attr,
					  .pids = options->nr_pids ? options->pids : NULL,
					  .nr_pids = options->nr_pids,
					  .data_maps = options->data_maps };
	live_events(l, options->events, options->sideband);
	l->model = task_model_new();
	l->pool = helper_pool_new();
	l->users = task_users_new();
	if (l->pool && options->objects.mode != SESSION_OBJECTS_NONE)
		l->objects = live_objects_new(l->pool, &options->objects);
	if (l->model && l->pool && l->users &&
	    (l->objects || options->objects.mode == SESSION_OBJECTS_NONE)) {
		l->ids = live_ids_new(l->pool, l->model, l->users, l->objects);
		l->jit = live_jit_new(l->pool, l->model, l->users);
		l->state = live_scan_new(l->pool);
	}
	if (!l->ids || !l->jit || !l->state ||
	    live_kernel_init(&l->kernel, options->kallsyms, options->modules) < 0) {
		live_close(l);
		return -ENOMEM;
	}
	l->scan.kernel = live_kernel_table(&l->kernel);
	task_model_limit(l->model, model_bytes);
	l->pending_max = model_bytes / LIVE_PENDING_PART;
	l->bound.bytes = LIVE_MODEL_BYTES;
	ids_begin_file(l);
	*ret = l;
	return 0;
}

void
live_close(struct live *l)
{
	if (!l)
		return;
	live_exits_done(&l->exits);
	live_scan_free(l->state);
	live_ids_free(l->ids);
	live_jit_free(l->jit);
	live_objects_free(l->objects);
	helper_pool_free(l->pool);
	task_users_free(l->users);
	task_model_free(l->model);
	live_kernel_done(&l->kernel);
	live_pending_done(&l->pending);
	buf_done(&l->scratch);
	free(l);
}

void
live_events(struct live *l, const struct event_set *events, int sideband)
{
	const struct event *event = event_set_at(events, (size_t)sideband);

	l->events = events;
	if (event->nr_ids)
		l->scan.id = event->ids[0];
}

const struct kallsyms *
live_kallsyms(const struct live *l)
{
	return live_kernel_table(&l->kernel);
}

const struct task_model *
live_model(const struct live *l)
{
	return l->model;
}

void
live_on_reach(struct live *l, live_reach_fn *fn, void *arg)
{
	l->reach = fn;
	l->reach_arg = arg;
}

uint64_t
live_model_ns(const struct live *l)
{
	return l->model_ns;
}

struct helper_pool *
live_helpers(struct live *l)
{
	return l->pool;
}

struct task_users *
live_users(struct live *l)
{
	return l->users;
}

const char *
live_note(const struct live *l)
{
	return l->kernel.note;
}

/* --- records as they pass by ----------------------------------------------------------------- */

void
live_sample(struct live *l, const struct sample_glance *sample)
{
	live_kernel_sample(&l->kernel, sample);
	live_jit_sample(l->jit, sample);
}

/* The model gets the map with its build-id, as if the kernel had told it. */
static void
pending_apply(void *arg, struct span record)
{
	struct live *l = arg;
	struct perf_record r;

	if (event_set_parse(l->events, record, &r, NULL))
		return;
	if (l->reach)
		l->reach(l->reach_arg, r.sid.time);
	if (live_ids_wanted(&r))
		(void)live_ids_known(l->ids, &r, &r.mmap.build_id);
	if (task_model_apply(l->model, &r))
		l->nomem = true;
}

/* The model takes what is older than this. */
static void
pending_run(struct live *l, uint64_t until_ns)
{
	live_pending_run(&l->pending, until_ns, pending_apply, l);
}

/* In order of time as far as there is room to wait; the younger half waits on, for samples that need it. */
static void
pending_add(struct live *l, const struct perf_record *record)
{
	if (live_pending_bytes(&l->pending) + record->raw.len > l->pending_max)
		pending_run(l, live_pending_middle_ns(&l->pending) + 1);
	l->nomem |= !live_pending_add(&l->pending, record);
}

/* What a scan tells of is no birth: its user need not be its parent's. */
static void
users_follow(struct task_users *users, const struct perf_record *r)
{
	if (r->type == REC_FORK && !(r->misc & TASK_MISC_FORK_FRESH))
		task_users_fork(users, r->task.ppid, r->task.pid);
	else if (r->type == REC_COMM && r->misc & TASK_MISC_COMM_EXEC)
		task_users_exec(users, r->comm.pid);
}

static void
live_see(struct live *l, const struct perf_record *record, bool told)
{
	users_follow(l->users, record);
	if (record->type == REC_KSYMBOL && !told)
		live_kernel_ksymbol(&l->kernel, record);
	live_jit_see(l->jit, record, told);
	/* At once: the model follows later, and until then the file may be out of reach. */
	if (live_ids_wanted(record))
		live_ids_see(l->ids, record);
	else
		live_ids_store(l->ids, record);
	switch (record->type) {
	case REC_MMAP:
	case REC_MMAP2:
	case REC_COMM:
	case REC_FORK:
	case REC_EXIT:
	case REC_NAMESPACES:
	case REC_KSYMBOL:
		pending_add(l, record);
		break;
	default:
		break;
	}
}

void
live_record(struct live *l, const struct perf_record *record)
{
	live_see(l, record, false);
}

static int
cgroup_record(void *arg, uint64_t id, const char *path)
{
	struct perf_record r = { .type = REC_CGROUP, .cgroup = { .id = id, .path = path } };
	struct live *l = arg;

	return task_model_apply(l->model, &r) ? -ENOMEM : 0;
}

/* Before pending_max is reached, at which records are taken whose order is not certain. */
static uint64_t
due_bytes(const struct live *l)
{
	return l->pending_max / 2 < DUE_BYTES ? l->pending_max / 2 : DUE_BYTES;
}

bool
live_due(const struct live *l, uint64_t complete_ns)
{
	/* Until a scan is over, the model takes nothing of what waits for that. */
	if (live_scanning(l))
		return l->nomem;
	return live_ids_missing(l->ids) || l->nomem ||
		live_pending_bytes(&l->pending) >= due_bytes(l) ||
		complete_ns >= l->complete_ns + DUE_NS;
}

int
live_pass(struct live *l, uint64_t complete_ns)
{
	/* Of a scan, older ones are still to come. */
	const uint64_t safe_ns = live_scan_safe_ns(l->state);
	const uint64_t until_ns = complete_ns < safe_ns ? complete_ns : safe_ns;

	live_ids_answers(l->ids);
	if (until_ns > l->model_ns)
		l->model_ns = until_ns;
	pending_run(l, until_ns);
	if (complete_ns > l->complete_ns)
		l->complete_ns = complete_ns;
	live_ids_ask_others(l->ids, l->model_ns);
	task_model_prune(l->model, l->complete_ns > GHOST_NS ? l->complete_ns - GHOST_NS : 0);
	if (!l->nomem)
		return 0;
	l->nomem = false;
	return -ENOMEM;
}

int
live_before_close(struct live *l, struct recording_writer *w, struct fmt_where *where)
{
	int rc;

	/* Those that came since the last pass as well. */
	live_ids_answers(l->ids);
	rc = live_jit_write(l->jit, w, where);
	if (rc)
		return rc;
	rc = live_kernel_write(&l->kernel, w, &l->scratch, where);
	if (rc)
		return rc;
	return live_ids_write(l->ids, w, where);
}

/* --- whole states ---------------------------------------------------------------------------- */

/* Shows the records of a state to the model, in their place among the others. */
static int
state_record(struct live *l, struct span state)
{
	struct perf_record r;
	struct span raw;

	while (perf_record_next(&state, &raw) == 1)
		if (event_set_parse(l->events, raw, &r, NULL) == 0)
			live_see(l, &r, true);
	return l->nomem ? -ENOMEM : 0;
}

int
live_scan(struct live *l, struct buf *out)
{
	struct state_options scan = l->scan;
	struct state_stats stats = { 0 };
	size_t at = out->len;
	int rc;

	scan.no_maps = l->waiting;
	l->complete_ns = host_now_ns();
	rc = state_scan_kernel(&scan, live_modules_now(l->kernel.modules), out);
	/* A program that waits may have ended before a helper looks; being ours, it keeps nobody waiting. */
	if (!rc && l->waiting)
		rc = proc_scan(&scan, out, &stats);
	if (!rc)
		rc = state_record(l, span_of(out->p + at, out->len - at));
	return rc ? rc : live_scan_begin(l->state, &scan);
}

/* For a scan of some processes only: also of those that came of them. NULL: out of memory. */
static pid_t *
pids_of_model(const struct live *l, size_t *ret_nr)
{
	const struct task *t = NULL;
	struct task_model_stats stats;
	size_t nr = l->scan.nr_pids;
	pid_t *pids;

	task_model_stats(l->model, &stats);
	pids = calloc(nr + stats.tasks + 1, sizeof(*pids));
	if (!pids)
		return NULL;
	memcpy(pids, l->scan.pids, nr * sizeof(*pids));
	while ((t = task_model_next(l->model, t)))
		if (!t->exited && t->pid == t->tid)
			pids[nr++] = (pid_t)t->pid;
	*ret_nr = nr;
	return pids;
}

int
live_resync(struct live *l, uint64_t now_ns)
{
	struct state_options scan = l->scan;
	pid_t *pids = NULL;
	int rc;

	if (scan.pids) {
		pids = pids_of_model(l, &scan.nr_pids);
		if (!pids)
			return -ENOMEM;
		scan.pids = pids;
	}
	live_exits_done(&l->exits);
	l->exits.began_ns = now_ns;
	rc = live_scan_begin(l->state, &scan);
	free(pids);
	return rc;
}

/* The scan has come to its end: who was not seen, where all were asked, is gone. */
static int
resync_end(struct live *l, struct buf *out)
{
	int rc = 0;

	if (l->exits.began_ns && live_scan_complete(l->state))
		rc = live_exits_add(&l->exits, l->model, &l->attr, l->scan.id, out);
	live_exits_done(&l->exits);
	l->cut += live_scan_stats(l->state)->truncated;
	return rc;
}

static int
scan_take(struct live *l, struct buf *out)
{
	size_t at = out->len;
	int rc = live_scan_take(l->state, out);

	if (!rc && l->exits.began_ns)
		rc = live_exits_see(&l->exits, l->events, span_of(out->p + at, out->len - at));
	return rc || live_scan_on(l->state) ? rc : resync_end(l, out);
}

void
live_modules_changed(struct live *l)
{
	live_modules_told(l->kernel.modules);
}

int
live_take(struct live *l, uint64_t complete_ns, struct buf *out)
{
	size_t at = out->len;
	int rc = 0;

	live_jit_pass(l->jit, complete_ns);
	live_ids_answers(l->ids);
	live_ids_ask_others(l->ids, l->model_ns);
	if (live_scan_on(l->state))
		rc = scan_take(l, out);
	if (!rc)
		rc = live_kernel_look(&l->kernel, &l->scan, l->model_ns, out, give_named, l->ids);
	l->scan.kernel = live_kernel_table(&l->kernel);
	return rc ? rc : state_record(l, span_of(out->p + at, out->len - at));
}

bool
live_scanning(const struct live *l)
{
	return live_scan_on(l->state);
}

bool
live_waiting(const struct live *l)
{
	return live_ids_waiting(l->ids);
}

int
live_fd(const struct live *l)
{
	if (live_scanning(l))
		return live_scan_fd(l->state);
	return live_ids_waiting(l->ids) ? live_ids_fd(l->ids) : live_jit_fd(l->jit);
}

void
live_hurry(struct live *l)
{
	live_jit_hurry(l->jit);
}

bool
live_hurrying(const struct live *l)
{
	return live_jit_waiting(l->jit);
}

int
live_write_names(struct live *l, struct recording_writer *w, struct fmt_where *where)
{
	return live_jit_write(l->jit, w, where);
}

uint64_t
live_unanswered(struct live *l)
{
	return helper_pool_unanswered(l->pool);
}

bool
live_news(struct live *l, struct news_line *ret)
{
	return helper_pool_news(l->pool, ret) || (l->objects && live_objects_news(l->objects, ret));
}

uint64_t
live_stored(const struct live *l)
{
	return l->objects ? live_objects_stored(l->objects) : 0;
}

void
live_allow_objects(struct live *l, uint64_t bytes)
{
	if (l->objects)
		live_objects_allow(l->objects, bytes);
}

void
live_finish(struct live *l)
{
	uint64_t until_ns = host_now_ns() + FINISH_NS;

	if (!l->objects)
		return;
	do {
		live_ids_finish(l->ids, until_ns);
		live_objects_finish(l->objects, until_ns);
	} while (host_now_ns() < until_ns && live_ids_offer_again(l->ids));
}

/* The kernel's records have no build-ids of these maps, and the last file was given them. */
static void
give_pending(struct live *l)
{
	struct span rest = buf_span(&l->pending.bytes), record;
	struct perf_record r;

	while (perf_record_next(&rest, &record) > 0)
		if (event_set_parse(l->events, record, &r, NULL) == 0 && live_ids_wanted(&r))
			live_ids_see(l->ids, &r);
}

int
live_snapshot(struct live *l, task_model_emit_fn *emit, void *arg)
{
	struct perf_sample_id sid = {
		.time = l->complete_ns, .id = l->scan.id, .stream_id = l->scan.id, .cpu = UINT32_MAX
	};
	int rc;

	live_kernel_begin_file(&l->kernel);
	ids_begin_file(l);
	live_jit_begin_file(l->jit);
	for (size_t i = 0; i < task_model_objects(l->model); i++) {
		const struct map_object *o = task_model_object(l->model, i);

		if (o && o->build_id.kind == BUILDID_SURROGATE)
			live_ids_give_object(l->ids, o);
		if (o && o->build_id.size && l->objects)
			live_objects_used(l->objects, &o->build_id);
	}
	/*
	 * Groups have no record of their end: those that are gone would pile up in the model. So it has
	 * none but for a snapshot, of those that are there. That there are none, or none that can be
	 * read, is no reason not to record.
	 */
	rc = cgroup_walk(NULL, cgroup_record, l) == -ENOMEM ? -FMT_E_NOMEM : 0;
	if (!rc)
		rc = task_model_snapshot(l->model, &l->attr, &sid, &l->bound, emit, arg);
	task_model_forget_cgroups(l->model);
	/* These went into the last file, but the model has not got to them yet. */
	if (!rc && l->pending.bytes.len)
		rc = emit(arg, buf_span(&l->pending.bytes));
	give_pending(l);
	return rc;
}

void
live_bound_snapshot(struct live *l, uint64_t bytes)
{
	l->bound.bytes = bytes;
}

uint64_t
live_left_out(const struct live *l)
{
	struct task_model_stats stats;

	task_model_stats(l->model, &stats);
	return stats.left_out + l->cut + l->bound.left_out;
}
