/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_maker: whose files may tell of code that a process runs: its own, then those of the processes whose
 * memory its own is a copy of, as of the fork.
 */
#ifndef SYMBOLIZER_PROFILE_JIT_MAKER_H
#define SYMBOLIZER_PROFILE_JIT_MAKER_H

#include "format/model/task_model.h"
#include "symbolizer/jit/jit_files.h"

struct jit_maker {
	struct jit_process process; /* at alive_ns; pid 0: there are no more */
	const struct task_origin *from;
};

/* The process itself. Good until the model's next record. */
static inline void
jit_maker_first(struct jit_maker *m, const struct task_model *model, uint32_t pid, uint64_t time_ns)
{
	const struct task *task = task_model_task(model, pid, pid);

	*m = (struct jit_maker){ .process = { .pid = pid,
					      .start_ns = task ? task->start_ns : 0,
					      .alive_ns = time_ns },
				 .from = task_model_origin(model, pid) };
}

static inline void
jit_maker_next(struct jit_maker *m)
{
	const struct task_origin *o = m->from;

	m->process = (struct jit_process){ 0 };
	if (!o)
		return;
	m->process = (struct jit_process){ .pid = o->pid,
					   .start_ns = o->start_ns,
					   .alive_ns = o->fork_ns };
	m->from = o->from;
}

#endif
