/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/task_comm.h"

#include <inttypes.h>
#include <stdio.h>

const char *
task_comm(const struct task_model *m, uint32_t pid, uint32_t tid, char spare[TASK_COMM_BYTES])
{
	const struct task *t;

	if (pid == 0 && tid == 0)
		return "swapper";
	if (pid == TASK_PID_ELSEWHERE)
		return TASK_COMM_ELSEWHERE;
	t = task_model_task(m, pid, tid);
	if (t && t->comm_known)
		return t->comm;
	snprintf(spare, TASK_COMM_BYTES, ":%" PRId32, (int32_t)tid);
	return spare;
}
