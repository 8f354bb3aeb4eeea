/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/model/task_model.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/fmt_error.h"
#include "format/model/map_objects.h"
#include "format/model/task_model_impl.h"

#define NAMESPACES_MAX 16 /* the kernel has 7 */

struct task_model *
task_model_new(void)
{
	struct task_model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	RB_INIT(&m->tasks);
	RB_INIT(&m->processes);
	TAILQ_INIT(&m->ghosts);
	TAILQ_INIT(&m->living);
	kernel_names_init(&m->names);
	m->cache = calloc(1, sizeof(*m->cache));
	m->objects = map_objects_new();
	m->idle.comm_known = true;
	(void)strlcpy(m->idle.comm, "swapper", sizeof(m->idle.comm));
	if (!m->cache || !m->objects) {
		task_model_free(m);
		return NULL;
	}
	return m;
}

void
task_model_free(struct task_model *m)
{
	struct process *p;

	if (!m)
		return;
	while ((p = RB_ROOT(&m->processes)))
		task_table_forget_process(m, p->pid);
	kernel_names_done(&m->names);
	map_objects_free(m->objects);
	free(m->cache);
	free(m);
}

/* --- records ------------------------------------------------------------------------------ */

static void
task_inherit(struct task_node *t, const struct task_node *parent)
{
	if (!t->t.comm_known && parent->t.comm_known) {
		memcpy(t->t.comm, parent->t.comm, sizeof(t->t.comm));
		t->t.comm_known = true;
	}
	if (!t->ns && parent->ns) {
		t->ns = parent->ns;
		t->ns->refs++;
	}
}

static int
process_inherit(struct task_model *m, struct process *p, uint32_t ppid, uint64_t fork_ns)
{
	const struct process *parent = task_model_process(m, ppid);

	if (!parent || p->space)
		return 0;
	p->space = address_space_ref(parent->space);
	return task_table_copied(m, p, ppid, fork_ns);
}

/* A synthesized FORK says that memory is a copy; what was known of that is more. */
static int
process_stays_copy(struct task_model *m, struct process *p, const struct perf_record *r,
		   uint64_t time_ns, struct task_origin *before)
{
	if (!before)
		return task_table_copied(m, p, r->task.ppid, r->task.time ? r->task.time : time_ns);
	task_table_unref_origin(m, p->origin);
	p->origin = task_table_ref_origin(before);
	return 0;
}

/* Makes room for the task of a FORK; used: its tid was another's. NULL: no memory. */
static struct task_node *
fork_begin(struct task_model *m, const struct perf_record *r, bool used, uint64_t time_ns)
{
	const uint32_t pid = r->task.pid, tid = r->task.tid;
	struct task_node *old, *t;
	struct process *p;

	if (pid != r->task.ppid) {
		task_table_forget_process(m, pid);
		p = task_table_new_process(m, pid);
	} else {
		p = task_table_process(m, pid);
	}
	if (!p)
		return NULL;
	/* Not through task_table_forget(): the old task may be the only one that holds p. */
	old = used ? task_table_find(m, tid) : NULL;
	if (old && old->process == p)
		task_table_free(m, old);
	else if (old)
		task_table_forget(m, old);
	t = task_table_new(m, p, tid, time_ns);
	if (!t && TAILQ_EMPTY(&p->tasks))
		task_table_free_process(m, p);
	return t;
}

/* What a task has of who made it. */
static int
fork_inherit(struct task_model *m, struct task_node *t, const struct perf_record *r,
	     uint64_t time_ns, struct task_origin *before)
{
	const struct task_node *parent = task_table_find(m, r->task.ptid);
	const bool thread = r->task.pid == r->task.ppid;

	if (r->misc & TASK_MISC_FORK_FRESH)
		return r->misc & TASK_MISC_FORK_COPY && !thread
			? process_stays_copy(m, t->process, r, time_ns, before)
			: 0;
	if (parent && parent != t && parent->t.pid == r->task.ppid)
		task_inherit(t, parent);
	return thread ? 0 : process_inherit(m, t->process, r->task.ppid, time_ns);
}

static int
apply_fork(struct task_model *m, const struct perf_record *r, uint64_t time_ns)
{
	uint32_t pid = r->task.pid, tid = r->task.tid;
	uint64_t start_ns = r->task.time;
	struct task_node *t = task_table_find(m, tid);
	bool known = t && t->t.pid == pid && !t->t.exited;
	struct task_origin *before;
	int rc = -FMT_E_NOMEM;

	if (task_table_is_nobody(pid, tid))
		return 0;
	if (r->misc & TASK_MISC_FORK_FRESH && known && !start_ns)
		start_ns = t->t.start_ns;
	before = known ? task_table_ref_origin(t->process->origin) : NULL;
	if (!known || !time_ns || time_ns > t->since_ns)
		t = fork_begin(m, r, t != NULL, time_ns);
	if (t) {
		t->since_ns = time_ns;
		t->ppid = r->task.ppid;
		t->ptid = r->task.ptid;
		t->t.start_ns = start_ns;
		rc = fork_inherit(m, t, r, time_ns, before);
	}
	task_table_unref_origin(m, before);
	return rc;
}

static int
apply_exit(struct task_model *m, const struct perf_record *r, uint64_t time_ns)
{
	struct task_node *t = task_table_find(m, r->task.tid);

	if (t && t->t.pid == r->task.pid)
		task_table_exit(m, t, time_ns);
	return 0;
}

static int
apply_comm(struct task_model *m, const struct perf_record *r, uint64_t time_ns)
{
	struct task_node *t, *other, *before;

	if (task_table_is_nobody(r->comm.pid, r->comm.tid))
		return 0;
	t = task_table_get(m, r->comm.pid, r->comm.tid, time_ns);
	if (!t)
		return -FMT_E_NOMEM;
	(void)strlcpy(t->t.comm, r->comm.comm, sizeof(t->t.comm));
	t->t.comm_known = true;
	if (!(r->misc & TASK_MISC_COMM_EXEC))
		return 0;
	address_space_unref(t->process->space);
	t->process->space = NULL;
	task_table_unref_origin(m, t->process->origin);
	t->process->origin = NULL;
	/* Exec ends the other threads; the one that called it took over the leader's tid. */
	other = TAILQ_LAST(&t->process->tasks, task_list);
	for (; other && !other->t.exited; other = before) {
		before = TAILQ_PREV(other, task_list, siblings);
		if (other != t)
			task_table_exit(m, other, time_ns);
	}
	return 0;
}

/* What living and dead tasks take. */
static uint64_t
tasks_bytes(const struct task_model *m)
{
	return m->nr_tasks * sizeof(struct task_node) + m->nr_processes * sizeof(struct process) +
		m->namespaces_bytes + m->nr_origins * sizeof(struct task_origin);
}

static uint64_t
model_bytes(const struct task_model *m)
{
	return tasks_bytes(m) + address_space_bytes(&m->totals) + map_objects_bytes(m->objects) +
		m->names.cgroups.bytes + m->names.ksymbols.bytes + sizeof(*m) + sizeof(*m->cache);
}

/* Are there living tasks without room? Maps are refused before that, and the oldest living tasks go. */
static bool
too_many_living(const struct task_model *m)
{
	if (m->nr_tasks - m->nr_ghosts > TASK_MODEL_LIVING_MAX)
		return true;
	return m->limit && m->nr_tasks > m->nr_ghosts + 1 &&
		tasks_bytes(m) > m->limit / TASK_MODEL_TASKS_PART && model_bytes(m) > m->limit;
}

/* How many maps a process may have, as full as the model is. */
static uint64_t
maps_max(const struct task_model *m)
{
	uint64_t bytes = m->limit ? model_bytes(m) : 0;

	if (!m->limit)
		return ADDRESS_SPACE_MAPS_MAX;
	if (bytes <= m->limit / 2)
		return TASK_MODEL_MAPS_EMPTY;
	if (bytes <= m->limit / 8 * 7)
		return TASK_MODEL_MAPS_HALF;
	return bytes <= m->limit ? TASK_MODEL_MAPS_FULL : 0;
}

static int
apply_mmap(struct task_model *m, const struct perf_record *r, uint64_t time_ns)
{
	const struct perf_mmap *k = &r->mmap;
	struct task_map map = { .start = k->addr,
				.end = k->addr + k->len,
				.pgoff = k->pgoff,
				.prot = k->prot,
				.flags = k->flags };
	struct task_node *t;
	struct process *p;
	uint64_t max;

	if (map.end < map.start)
		map.end = UINT64_MAX;
	if (map.end == map.start)
		return 0;
	if (k->pid == TASK_PID_KERNEL) {
		p = task_table_process(m, k->pid);
	} else if (task_table_is_nobody(k->pid, k->tid)) {
		return 0;
	} else {
		t = task_table_get(m, k->pid, k->tid, time_ns);
		p = t ? t->process : NULL;
	}
	max = maps_max(m);
	/* Names that nothing maps any more are most of what a flood of them takes. */
	if (max < TASK_MODEL_MAPS_EMPTY) {
		map_objects_sweep(m->objects);
		max = maps_max(m);
	}
	map.object = max ? map_objects_get(m->objects, k) : map_objects_find(m->objects, k);
	if (!p || (max && !map.object))
		return -FMT_E_NOMEM;
	return address_space_put(&p->space, &m->totals, &map, max);
}

static int
apply_namespaces(struct task_model *m, const struct perf_record *r, uint64_t time_ns)
{
	size_t words = span_words(r->namespaces.links);
	struct namespaces *ns;
	struct task_node *t;

	if (task_table_is_nobody(r->namespaces.pid, r->namespaces.tid))
		return 0;
	t = task_table_get(m, r->namespaces.pid, r->namespaces.tid, time_ns);
	if (!t)
		return -FMT_E_NOMEM;
	if (words > NAMESPACES_MAX * 2)
		words = NAMESPACES_MAX * 2;
	ns = malloc(sizeof(*ns) + words * sizeof(ns->words[0]));
	if (!ns)
		return -FMT_E_NOMEM;
	ns->refs = 1;
	ns->nr = words / 2;
	for (size_t i = 0; i < words; i++)
		ns->words[i] = span_word(r->namespaces.links, i);
	/* The kernel says them after each fork, and they are nearly always the parent's. */
	if (t->ns && t->ns->nr == ns->nr &&
	    memcmp(t->ns->words, ns->words, words * sizeof(ns->words[0])) == 0) {
		free(ns);
		return 0;
	}
	m->namespaces_bytes += task_table_namespaces_bytes(ns);
	task_table_unref_namespaces(m, t->ns);
	t->ns = ns;
	return 0;
}

/* A module is gone. */
static void
apply_module_end(struct task_model *m, const struct perf_record *r)
{
	struct process *p = task_model_process(m, TASK_PID_KERNEL);

	if (p)
		address_space_unmap(p->space, r->ksymbol.addr, r->ksymbol.addr + r->ksymbol.len);
}

static int
task_model_take(struct task_model *m, const struct perf_record *r)
{
	uint64_t time_ns = r->sid.time;

	switch (r->type) {
	case REC_FORK:
		return apply_fork(m, r, time_ns ? time_ns : r->task.time);
	case REC_EXIT:
		return apply_exit(m, r, time_ns ? time_ns : r->task.time);
	case REC_COMM:
		return apply_comm(m, r, time_ns);
	case REC_MMAP:
	case REC_MMAP2:
		return apply_mmap(m, r, time_ns);
	case REC_NAMESPACES:
		return apply_namespaces(m, r, time_ns);
	case REC_KSYMBOL:
		if (perf_record_ends_module(r))
			apply_module_end(m, r);
		return kernel_names_apply(&m->names, r);
	case REC_CGROUP:
		return kernel_names_apply(&m->names, r);
	default:
		return 0;
	}
}

int
task_model_apply(struct task_model *m, const struct perf_record *r)
{
	int rc = task_model_take(m, r);

	while (m->nr_ghosts > TASK_MODEL_GHOSTS_MAX ||
	       (m->limit && m->nr_ghosts && model_bytes(m) > m->limit / 2))
		task_table_forget(m, TAILQ_FIRST(&m->ghosts));
	while (too_many_living(m)) {
		task_table_forget(m, TAILQ_FIRST(&m->living));
		m->left_out++;
	}
	return rc;
}

void
task_model_limit(struct task_model *m, uint64_t bytes)
{
	m->limit = bytes;
	m->names.limit = bytes / 8;
}

/* --- the rest ----------------------------------------------------------------------------- */

uint32_t
task_model_parent(const struct task_model *m, uint32_t pid)
{
	const struct task_node *t = task_table_find(m, pid);

	return t ? t->ppid : 0;
}

/* {dev, inode} of the mounts among the words of NAMESPACES (MNT_NS_INDEX); NULL: not known. */
static const uint64_t *
mounts_of(const struct task_node *t)
{
	return t->ns && t->ns->nr > MNT_NS_INDEX ? t->ns->words + 2 * MNT_NS_INDEX : NULL;
}

void
task_model_peers(const struct task_model *m, const uint32_t *pids, uint32_t *ret, size_t nr)
{
	const uint64_t *wanted[TASK_MODEL_PEERS_MAX], *mounts;
	const struct task *t = NULL;

	assert(nr <= TASK_MODEL_PEERS_MAX);
	for (size_t i = 0; i < nr; i++) {
		const struct task_node *leader = task_table_find(m, pids[i]);

		wanted[i] = leader ? mounts_of(leader) : NULL;
		ret[i] = 0;
	}
	while (nr && (t = task_model_next(m, t))) {
		mounts = t->exited ? NULL : mounts_of((const struct task_node *)t);
		for (size_t i = 0; mounts && i < nr; i++)
			if (!ret[i] && wanted[i] && t->pid != pids[i] &&
			    memcmp(mounts, wanted[i], 2 * sizeof(*mounts)) == 0)
				ret[i] = t->pid;
	}
}

int
task_model_set_build_id(struct task_model *m, uint32_t maj, uint32_t min, uint64_t ino,
			uint64_t ino_generation, const struct buildid *id)
{
	struct map_object inode = {
		.maj = maj, .min = min, .ino = ino, .ino_generation = ino_generation
	};

	return id->size ? map_objects_set_build_id(m->objects, &inode, id) : 0;
}

int
task_model_give_build_id(struct task_model *m, uint32_t maj, uint32_t min, uint64_t ino,
			 uint64_t ino_generation, const char *path, const struct buildid *id)
{
	const struct map_object file = {
		.maj = maj, .min = min, .ino = ino, .ino_generation = ino_generation, .path = path
	};

	return map_objects_give_build_id(m->objects, &file, id);
}

int
task_model_set_path_build_id(struct task_model *m, const char *path, size_t len,
			     const struct buildid *id)
{
	char *copy;
	int rc;

	if (!id->size)
		return 0;
	copy = strndup(path, len);
	if (!copy)
		return -FMT_E_NOMEM;
	rc = map_objects_set_path_build_id(m->objects, copy, id);
	free(copy);
	return rc;
}

size_t
task_model_objects(const struct task_model *m)
{
	return map_objects_count(m->objects);
}

const struct map_object *
task_model_object(const struct task_model *m, size_t index)
{
	return map_objects_at(m->objects, index);
}

void
task_model_forget_exited(struct task_model *m, uint64_t time_ns)
{
	struct task_node *t;

	while ((t = TAILQ_FIRST(&m->ghosts)) && t->t.exit_ns < time_ns)
		task_table_forget(m, t);
}

void
task_model_prune(struct task_model *m, uint64_t time_ns)
{
	task_model_forget_exited(m, time_ns);
	map_objects_sweep(m->objects);
}

void
task_model_forget_cgroups(struct task_model *m)
{
	kernel_names_forget(&m->names.cgroups);
}

struct task_model_left_out
task_model_left_out(const struct task_model *m)
{
	return (struct task_model_left_out){
		.tasks = m->left_out,
		.maps = m->totals.left_out,
		.names = m->names.left_out + map_objects_left_out(m->objects),
	};
}

void
task_model_stats(const struct task_model *m, struct task_model_stats *ret)
{
	const struct task_model_left_out left = task_model_left_out(m);

	*ret = (struct task_model_stats){ .tasks = m->nr_tasks,
					  .ghosts = m->nr_ghosts,
					  .maps = m->totals.maps,
					  .objects = map_objects_used(m->objects),
					  .bytes = model_bytes(m),
					  .left_out = left.tasks + left.maps + left.names };
}
