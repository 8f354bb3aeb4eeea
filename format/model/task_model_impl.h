/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_model_impl: what a task_model is made of; for task_model.c and task_snapshot.c only.
 */
#ifndef FORMAT_MODEL_TASK_MODEL_IMPL_H
#define FORMAT_MODEL_TASK_MODEL_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "format/model/address_space.h"
#include "format/model/kernel_names.h"
#include "format/model/task_model.h"

#define TASK_MODEL_SLOTS 4096 /* of the lookup cache; a power of two */

/* The namespaces of a task: {dev, inode} words; shared by tasks that have the same. */
struct namespaces {
	uint64_t refs, nr;
	uint64_t words[];
};

struct process;

struct task_node {
	struct task t; /* first: what others point to */
	RB_ENTRY(task_node) by_tid;
	TAILQ_ENTRY(task_node) siblings;
	TAILQ_ENTRY(task_node) by_age; /* among the ghosts or the living */
	struct process *process;
	struct namespaces *ns;
	uint32_t ppid, ptid;
	uint64_t since_ns; /* of the oldest record that this task stands on */
};

/* What the tasks of one pid share. */
struct process {
	RB_ENTRY(process) by_pid;
	TAILQ_HEAD(task_list, task_node) tasks; /* ghosts, then the living in order of arrival */
	struct address_space *space;
	struct task_origin *origin;
	uint32_t pid;
};

RB_HEAD(task_tree, task_node);
RB_HEAD(process_tree, process);

/* What the last lookups found; not part of the state, so a const model may change it. */
struct lookup_cache {
	struct task_node *tasks[TASK_MODEL_SLOTS];
	struct process *processes[TASK_MODEL_SLOTS];
	/* None is above, but for the kernel: what is new mostly is. */
	uint32_t last_tid, last_pid;
};

struct task_model {
	struct task_tree tasks;
	struct process_tree processes;
	TAILQ_HEAD(, task_node) ghosts; /* in order of exit */
	TAILQ_HEAD(, task_node) living; /* in order of arrival */
	struct lookup_cache *cache;
	struct map_objects *objects;
	struct kernel_names names;
	struct address_space_totals totals;
	struct task idle;
	uint64_t nr_tasks, nr_ghosts, nr_processes;
	uint64_t namespaces_bytes;
	uint64_t nr_origins;
	uint64_t left_out; /* tasks */
	uint64_t limit;	   /* bytes; 0: none */
};

struct process *task_model_process(const struct task_model *m, uint32_t pid);
/* By pid; prev NULL: the first. */
struct process *task_model_next_process(const struct task_model *m, struct process *prev);

/* --- task_table.c --- */

struct task_node *task_table_find(const struct task_model *m, uint32_t tid);
struct process *task_table_new_process(struct task_model *m, uint32_t pid);
struct process *task_table_process(struct task_model *m, uint32_t pid);
void task_table_free_process(struct task_model *m, struct process *p);
/* Takes a task out; its process stays, even when it was the last. */
void task_table_free(struct task_model *m, struct task_node *t);
/* Takes a task out, and its process with the last one. */
void task_table_forget(struct task_model *m, struct task_node *t);
void task_table_forget_process(struct task_model *m, uint32_t pid);
struct task_node *task_table_new(struct task_model *m, struct process *p, uint32_t tid,
				 uint64_t since_ns);
void task_table_exit(struct task_model *m, struct task_node *t, uint64_t time_ns);
/* The task that a record speaks of, as living; made when it is not known. NULL: no memory. */
struct task_node *task_table_get(struct task_model *m, uint32_t pid, uint32_t tid,
				 uint64_t time_ns);
/* The kernel says -1 of tasks that are dead, and 0 of those outside of the recorder's PID namespace. */
bool task_table_is_nobody(uint32_t pid, uint32_t tid);
/* What one takes, however many tasks have it. */
uint64_t task_table_namespaces_bytes(const struct namespaces *ns);
void task_table_unref_namespaces(struct task_model *m, struct namespaces *ns);
/* The memory of p is a copy of that of ppid at fork_ns. 0, -FMT_E_NOMEM. */
int task_table_copied(struct task_model *m, struct process *p, uint32_t ppid, uint64_t fork_ns);
/* origin may be NULL. */
struct task_origin *task_table_ref_origin(struct task_origin *origin);
void task_table_unref_origin(struct task_model *m, struct task_origin *origin);

#endif
