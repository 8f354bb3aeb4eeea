/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks and processes of a model: found, made, and forgotten. */
#include "format/model/task_model_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

static int
task_cmp(const struct task_node *a, const struct task_node *b)
{
	return (a->t.tid > b->t.tid) - (a->t.tid < b->t.tid);
}

static int
process_cmp(const struct process *a, const struct process *b)
{
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* libbsd's RB_GENERATE_STATIC() needs a __unused that glibc's headers do not stand. */
RB_GENERATE_INTERNAL(task_tree, task_node, by_tid, task_cmp, __attribute__((unused)) static)
RB_GENERATE_INTERNAL(process_tree, process, by_pid, process_cmp, __attribute__((unused)) static)

/* --- finding ------------------------------------------------------------------------------ */

struct task_node *
task_table_find(const struct task_model *m, uint32_t tid)
{
	struct task_node **slot = &m->cache->tasks[tid % TASK_MODEL_SLOTS], *t = *slot;

	if (t && t->t.tid == tid)
		return t;
	if (tid > m->cache->last_tid)
		return NULL;
	t = RB_ROOT(&m->tasks);
	while (t && t->t.tid != tid)
		t = tid < t->t.tid ? RB_LEFT(t, by_tid) : RB_RIGHT(t, by_tid);
	if (t)
		*slot = t;
	return t;
}

struct process *
task_model_process(const struct task_model *m, uint32_t pid)
{
	struct process **slot = &m->cache->processes[pid % TASK_MODEL_SLOTS], *p = *slot;

	if (p && p->pid == pid)
		return p;
	if (pid > m->cache->last_pid && pid != TASK_PID_KERNEL)
		return NULL;
	p = RB_ROOT(&m->processes);
	while (p && p->pid != pid)
		p = pid < p->pid ? RB_LEFT(p, by_pid) : RB_RIGHT(p, by_pid);
	if (p)
		*slot = p;
	return p;
}

const struct task *
task_model_task(const struct task_model *m, uint32_t pid, uint32_t tid)
{
	const struct task_node *t = task_table_find(m, tid);

	if (t && t->t.pid == pid)
		return &t->t;
	return pid == 0 && tid == 0 ? &m->idle : NULL;
}

bool
task_model_namespace(const struct task_model *m, uint32_t pid, uint32_t tid, size_t number,
		     uint64_t *ret_dev, uint64_t *ret_inode)
{
	const struct task_node *t = task_table_find(m, tid);

	if (!t || t->t.pid != pid || !t->ns || number >= t->ns->nr)
		return false;
	*ret_dev = t->ns->words[2 * number];
	*ret_inode = t->ns->words[2 * number + 1];
	return true;
}

uint32_t
task_model_owner(const struct task_model *m, uint32_t tid)
{
	const struct task_node *t = task_table_find(m, tid);

	return t ? t->t.pid : UINT32_MAX;
}

const struct task *
task_model_next(const struct task_model *m, const struct task *prev)
{
	struct task_node *t;

	if (prev) {
		t = task_table_find(m, prev->tid);
		t = t ? RB_NEXT(task_tree, &m->tasks, t) : NULL;
		return t ? &t->t : NULL;
	}
	t = RB_ROOT(&m->tasks);
	while (t && RB_LEFT(t, by_tid))
		t = RB_LEFT(t, by_tid);
	return t ? &t->t : NULL;
}

const struct task_map *
task_model_map(const struct task_model *m, uint32_t pid, uint64_t addr)
{
	const struct process *p = task_model_process(m, pid);

	return p ? address_space_find(p->space, addr) : NULL;
}

uint64_t
task_model_maps_version(const struct task_model *m, uint32_t pid)
{
	const struct process *p = task_model_process(m, pid);

	return p ? address_space_version(p->space) : 0;
}

const struct task_map *
task_model_next_map(const struct task_model *m, uint32_t pid, const struct task_map *prev)
{
	const struct process *p = task_model_process(m, pid);

	return p ? address_space_next(p->space, prev) : NULL;
}

const struct task_origin *
task_model_origin(const struct task_model *m, uint32_t pid)
{
	const struct process *p = task_model_process(m, pid);

	return p ? p->origin : NULL;
}

const char *
task_model_cgroup(const struct task_model *m, uint64_t id)
{
	return kernel_names_cgroup(&m->names, id);
}

struct process *
task_model_next_process(const struct task_model *m, struct process *prev)
{
	struct process *p = RB_ROOT(&m->processes);

	if (prev)
		return RB_NEXT(process_tree, &m->processes, prev);
	while (p && RB_LEFT(p, by_pid))
		p = RB_LEFT(p, by_pid);
	return p;
}

/* --- making and unmaking ------------------------------------------------------------------ */

uint64_t
task_table_namespaces_bytes(const struct namespaces *ns)
{
	return sizeof(*ns) + ns->nr * 2 * sizeof(ns->words[0]);
}

void
task_table_unref_namespaces(struct task_model *m, struct namespaces *ns)
{
	if (!ns || --ns->refs > 0)
		return;
	m->namespaces_bytes -= task_table_namespaces_bytes(ns);
	free(ns);
}

int
task_table_copied(struct task_model *m, struct process *p, uint32_t ppid, uint64_t fork_ns)
{
	const struct process *parent = task_model_process(m, ppid);
	const struct task_node *leader = task_table_find(m, ppid);
	struct task_origin *from = parent ? parent->origin : NULL, *origin = from;
	const bool known = leader && leader->t.pid == ppid && leader->t.start_ns <= fork_ns;

	/* The code is most likely the first one's. */
	if (!from || from->depth < TASK_MODEL_ORIGINS_MAX) {
		origin = malloc(sizeof(*origin));
		if (!origin)
			return -FMT_E_NOMEM;
		*origin = (struct task_origin){ .pid = ppid,
						.start_ns = known ? leader->t.start_ns : 0,
						.fork_ns = fork_ns,
						.from = from,
						.depth = from ? from->depth + 1 : 1,
						.refs = 1 };
		m->nr_origins++;
	}
	(void)task_table_ref_origin(from);
	task_table_unref_origin(m, p->origin);
	p->origin = origin;
	return 0;
}

struct task_origin *
task_table_ref_origin(struct task_origin *origin)
{
	if (origin)
		origin->refs++;
	return origin;
}

void
task_table_unref_origin(struct task_model *m, struct task_origin *origin)
{
	while (origin && --origin->refs == 0) {
		struct task_origin *from = origin->from;

		free(origin);
		m->nr_origins--;
		origin = from;
	}
}

struct process *
task_table_new_process(struct task_model *m, uint32_t pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	TAILQ_INIT(&p->tasks);
	RB_INSERT(process_tree, &m->processes, p);
	if (pid > m->cache->last_pid && pid != TASK_PID_KERNEL)
		m->cache->last_pid = pid;
	m->cache->processes[pid % TASK_MODEL_SLOTS] = p;
	m->nr_processes++;
	return p;
}

struct process *
task_table_process(struct task_model *m, uint32_t pid)
{
	struct process *p = task_model_process(m, pid);

	return p ? p : task_table_new_process(m, pid);
}

void
task_table_free_process(struct task_model *m, struct process *p)
{
	RB_REMOVE(process_tree, &m->processes, p);
	if (m->cache->processes[p->pid % TASK_MODEL_SLOTS] == p)
		m->cache->processes[p->pid % TASK_MODEL_SLOTS] = NULL;
	address_space_unref(p->space);
	task_table_unref_origin(m, p->origin);
	m->nr_processes--;
	free(p);
}

void
task_table_free(struct task_model *m, struct task_node *t)
{
	RB_REMOVE(task_tree, &m->tasks, t);
	if (m->cache->tasks[t->t.tid % TASK_MODEL_SLOTS] == t)
		m->cache->tasks[t->t.tid % TASK_MODEL_SLOTS] = NULL;
	TAILQ_REMOVE(&t->process->tasks, t, siblings);
	if (t->t.exited) {
		TAILQ_REMOVE(&m->ghosts, t, by_age);
		m->nr_ghosts--;
	} else {
		TAILQ_REMOVE(&m->living, t, by_age);
	}
	task_table_unref_namespaces(m, t->ns);
	m->nr_tasks--;
	free(t);
}

void
task_table_forget(struct task_model *m, struct task_node *t)
{
	struct process *p = t->process;

	task_table_free(m, t);
	if (TAILQ_EMPTY(&p->tasks))
		task_table_free_process(m, p);
}

void
task_table_forget_process(struct task_model *m, uint32_t pid)
{
	struct process *p = task_model_process(m, pid);
	struct task_node *t;

	if (!p)
		return;
	while ((t = TAILQ_FIRST(&p->tasks)))
		task_table_free(m, t);
	task_table_free_process(m, p);
}

struct task_node *
task_table_new(struct task_model *m, struct process *p, uint32_t tid, uint64_t since_ns)
{
	struct task_node *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->t.pid = p->pid;
	t->t.tid = tid;
	t->since_ns = since_ns;
	t->process = p;
	(void)snprintf(t->t.comm, sizeof(t->t.comm), ":%u", tid);
	RB_INSERT(task_tree, &m->tasks, t);
	if (tid > m->cache->last_tid)
		m->cache->last_tid = tid;
	m->cache->tasks[tid % TASK_MODEL_SLOTS] = t;
	TAILQ_INSERT_TAIL(&p->tasks, t, siblings);
	TAILQ_INSERT_TAIL(&m->living, t, by_age);
	m->nr_tasks++;
	return t;
}

void
task_table_exit(struct task_model *m, struct task_node *t, uint64_t time_ns)
{
	if (t->t.exited)
		return;
	t->t.exited = true;
	t->t.exit_ns = time_ns;
	TAILQ_REMOVE(&t->process->tasks, t, siblings);
	TAILQ_INSERT_HEAD(&t->process->tasks, t, siblings);
	TAILQ_REMOVE(&m->living, t, by_age);
	TAILQ_INSERT_TAIL(&m->ghosts, t, by_age);
	m->nr_ghosts++;
}

static void
task_revive(struct task_model *m, struct task_node *t)
{
	if (!t->t.exited)
		return;
	t->t.exited = false;
	t->t.exit_ns = 0;
	TAILQ_REMOVE(&t->process->tasks, t, siblings);
	TAILQ_INSERT_TAIL(&t->process->tasks, t, siblings);
	TAILQ_REMOVE(&m->ghosts, t, by_age);
	TAILQ_INSERT_TAIL(&m->living, t, by_age);
	m->nr_ghosts--;
}

/*
 * All of the process had ended: its number is another's now, whose FORK is missing. A thread that
 * executes is different: it goes on with the number of its leader, which has ended.
 */
static bool
is_another(const struct process *p, uint64_t time_ns)
{
	return TAILQ_LAST(&p->tasks, task_list)->t.exited &&
		TAILQ_FIRST(&p->tasks)->t.exit_ns < time_ns;
}

struct task_node *
task_table_get(struct task_model *m, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct process *p = task_model_process(m, pid);
	struct task_node *t;

	if (p && is_another(p, time_ns))
		task_table_forget_process(m, pid);
	t = task_table_find(m, tid);
	if (t && t->t.pid == pid) {
		task_revive(m, t);
		return t;
	}
	if (t)
		task_table_forget(m, t);
	p = task_table_process(m, pid);
	if (!p)
		return NULL;
	t = task_table_new(m, p, tid, time_ns);
	if (!t && TAILQ_EMPTY(&p->tasks))
		task_table_free_process(m, p);
	return t;
}

bool
task_table_is_nobody(uint32_t pid, uint32_t tid)
{
	return pid == UINT32_MAX || tid == UINT32_MAX || pid == 0 || tid == 0;
}
