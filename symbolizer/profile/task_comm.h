/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_comm: what the task of a sample is called, as perf has it.
 */
#ifndef SYMBOLIZER_PROFILE_TASK_COMM_H
#define SYMBOLIZER_PROFILE_TASK_COMM_H

#include <stdint.h>

#include "format/model/task_model.h"

#define TASK_COMM_BYTES 16
#define TASK_COMM_ELSEWHERE "[other PID namespace]"

/*
 * The idle task is "swapper", one with TASK_PID_ELSEWHERE is TASK_COMM_ELSEWHERE, one never heard of ":" and its
 * number. The model's until the next
 * task_model_apply(), or spare, or a constant.
 */
const char *task_comm(const struct task_model *m, uint32_t pid, uint32_t tid,
		      char spare[TASK_COMM_BYTES]);

#endif
