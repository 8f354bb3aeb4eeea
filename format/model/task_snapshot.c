/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a task_model as records. */
#include "format/model/task_model.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/bytes/array.h"
#include "format/model/task_model_impl.h"
#include "format/record/record_build.h"

#define MAP_BYTES 96 /* of a MMAP2, without its path */

/* Where a snapshot goes. */
struct snapshot {
	const struct event_attr *attr;
	struct perf_sample_id sid;
	struct buf out;	   /* the next piece */
	uint64_t maps_max; /* bytes of maps of a process */
	struct task_snapshot_bound *bound;
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
	const uint16_t copy = leader && t->process->origin ? TASK_MISC_FORK_COPY : 0;
	int rc;

	s->sid.pid = pid;
	s->sid.tid = tid;
	rc = record_build_fork(&s->out, s->attr, &s->sid, pid, leader ? t->ppid : pid, tid,
			       leader ? t->ptid : pid, t->t.start_ns, TASK_MISC_FORK_FRESH | copy);
	if (!rc && t->ns)
		rc = record_build_namespaces(&s->out, s->attr, &s->sid, pid, tid, t->ns->words,
					     t->ns->nr);
	if (!rc && t->t.comm_known)
		rc = record_build_comm(&s->out, s->attr, &s->sid, pid, tid, t->t.comm, 0);
	return rc ? rc : emit_full(s);
}

/* --- how much of it ---------------------------------------------------------------------- */

static uint64_t
map_bytes(const struct task_map *map)
{
	return MAP_BYTES + strlen(map->object->path);
}

static int
compare_bytes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The same for all, so that all together have max: processes with fewer leave theirs to the others. */
static uint64_t
fair_share(uint64_t *bytes, size_t nr, uint64_t max)
{
	uint64_t left = max;

	if (nr > 0)
		qsort(bytes, nr, sizeof(*bytes), compare_bytes);
	for (size_t i = 0; i < nr; i++) {
		if (bytes[i] > left / (nr - i))
			return left / (nr - i);
		left -= bytes[i];
	}
	return UINT64_MAX;
}

static int
find_share(struct snapshot *s, const struct task_model *m)
{
	const struct task_map *map;
	size_t nr = 0, cap = 0;
	uint64_t *bytes = NULL;

	for (struct process *p = task_model_next_process(m, NULL); p;
	     p = task_model_next_process(m, p)) {
		if (array_reserve(bytes, nr, cap, 1) != 0) {
			free(bytes);
			return -FMT_E_NOMEM;
		}
		bytes[nr] = 0;
		for (map = address_space_next(p->space, NULL); map;
		     map = address_space_next(p->space, map))
			bytes[nr] += map_bytes(map);
		nr++;
	}
	s->maps_max = fair_share(bytes, nr, s->bound->bytes);
	free(bytes);
	return 0;
}

/* --- records ----------------------------------------------------------------------------- */

static int
snapshot_maps(struct snapshot *s, const struct process *p, uint32_t tid)
{
	bool kernel = p->pid == TASK_PID_KERNEL;
	const struct task_map *map;
	uint64_t bytes = 0;
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

		bytes += map_bytes(map);
		if (bytes > s->maps_max) {
			s->bound->left_out++;
			continue;
		}
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
		    const struct perf_sample_id *sid, struct task_snapshot_bound *bound,
		    task_model_emit_fn *emit_fn, void *arg)
{
	struct snapshot s = { .attr = attr,
			      .sid = *sid,
			      .maps_max = UINT64_MAX,
			      .bound = bound,
			      .emit = emit_fn,
			      .arg = arg };
	struct process *p = task_model_process(m, TASK_PID_KERNEL);
	int rc = bound ? find_share(&s, m) : 0;

	buf_init(&s.out);
	if (p && !rc)
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
