/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a task_model as records. */
#include "format/model/task_model.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "format/model/task_model_impl.h"
#include "format/record/record_build.h"

/* Where a snapshot goes. */
struct snapshot {
	const struct event_attr *attr;
	struct perf_sample_id sid;
	struct buf out; /* the next piece */
	task_model_emit_fn *emit;
	void *arg;
};

static int
task_snapshot_emit(struct snapshot *s)
{
	int rc = s->emit(s->arg, buf_span(&s->out));

	buf_clear(&s->out);
	return rc;
}

/* After each record. */
static int
emit_full(void *arg)
{
	struct snapshot *s = arg;

	return s->out.len < TASK_MODEL_PIECE_BYTES ? 0 : task_snapshot_emit(s);
}

static int
snapshot_task(struct snapshot *s, const struct task_node *t)
{
	uint32_t pid = t->t.pid, tid = t->t.tid;
	bool leader = pid == tid;
	int rc;

	s->sid.pid = pid;
	s->sid.tid = tid;
	rc = record_build_fork(&s->out, s->attr, &s->sid, pid, leader ? t->ppid : pid, tid,
			       leader ? t->ptid : pid, t->t.start_ns, TASK_MISC_FORK_FRESH);
	if (!rc && t->ns)
		rc = record_build_namespaces(&s->out, s->attr, &s->sid, pid, tid, t->ns->words,
					     t->ns->nr);
	if (!rc && t->t.comm_known)
		rc = record_build_comm(&s->out, s->attr, &s->sid, pid, tid, t->t.comm, 0);
	return rc ? rc : emit_full(s);
}

static int
snapshot_maps(struct snapshot *s, const struct process *p, uint32_t tid)
{
	bool kernel = p->pid == TASK_PID_KERNEL;
	const struct task_map *map;
	int rc = 0;

	s->sid.pid = p->pid;
	s->sid.tid = tid;
	for (map = address_space_next(p->space, NULL); map && !rc;
	     map = address_space_next(p->space, map)) {
		const struct map_object *o = map->object;
		struct perf_mmap k = { .pid = p->pid,
				       .tid = tid,
				       .addr = map->start,
				       .len = map->end - map->start,
				       .pgoff = map->pgoff,
				       .maj = o->maj,
				       .min = o->min,
				       .ino = o->ino,
				       .ino_generation = o->ino_generation,
				       .prot = map->prot,
				       .flags = map->flags,
				       .filename = o->path };

		/* A record can hold a GNU id alone. */
		if (o->build_id.kind == BUILDID_GNU)
			k.build_id = o->build_id;
		rc = kernel
			? record_build_mmap(&s->out, s->attr, &s->sid, &k, PERF_RECORD_MISC_KERNEL)
			: record_build_mmap2(&s->out, s->attr, &s->sid, &k,
					     PERF_RECORD_MISC_USER |
						     (map->prot & PROT_EXEC ? 0
									    : TASK_MISC_MAP_DATA));
		rc = rc ? rc : emit_full(s);
	}
	return rc;
}

static int
snapshot_process(struct snapshot *s, const struct process *p)
{
	const struct task_node *t, *first = NULL;
	int rc;

	/* The leader first: its FORK makes the process. */
	TAILQ_FOREACH(t, &p->tasks, siblings)
		if (!t->t.exited && (!first || t->t.tid == p->pid))
			first = t;
	if (!first)
		return 0;
	rc = snapshot_task(s, first);
	if (!rc)
		rc = snapshot_maps(s, p, first->t.tid);
	TAILQ_FOREACH(t, &p->tasks, siblings) {
		if (rc)
			break;
		if (t != first && !t->t.exited)
			rc = snapshot_task(s, t);
	}
	return rc;
}

int
task_model_snapshot(const struct task_model *m, const struct event_attr *attr,
		    const struct perf_sample_id *sid, task_model_emit_fn *emit_fn, void *arg)
{
	struct snapshot s = { .attr = attr, .sid = *sid, .emit = emit_fn, .arg = arg };
	struct process *p = task_model_process(m, TASK_PID_KERNEL);
	int rc = 0;

	buf_init(&s.out);
	if (p)
		rc = snapshot_maps(&s, p, 0);
	if (!rc)
		rc = kernel_names_snapshot(&m->names, attr, &s.sid, &s.out, emit_full, &s);
	for (p = task_model_next_process(m, NULL); p && !rc; p = task_model_next_process(m, p))
		rc = snapshot_process(&s, p);
	if (!rc && s.out.len)
		rc = task_snapshot_emit(&s);
	buf_done(&s.out);
	return rc;
}
