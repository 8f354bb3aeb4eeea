/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_time: what the stacks of each user cost beyond the usual: files that are read for them, and walks that take long.
 *
 * Of a user other than root it may be some seconds, and after that a tenth of a CPU; while stacks of others wait, by far
 * less. What is above that is not walked.
 */
#ifndef SYMBOLIZER_UNWINDER_USER_TIME_H
#define SYMBOLIZER_UNWINDER_USER_TIME_H

#include <stdint.h>

#define USER_TIME_USERS 256 /* that are told apart */
#define USER_TIME_BURST_NS UINT64_C(2000000000)
#define USER_TIME_BESIDE_NS UINT64_C(250000000) /* likewise, while others wait */
#define USER_TIME_PART 10			/* of a CPU, after that */
#define USER_TIME_WALK_NS UINT64_C(100000)	/* of each walk, which is usual */

struct user_time {
	struct {
		uint64_t spent_ns; /* that is not yet paid back */
		uint64_t at_ns;	   /* when that was so */
	} of[USER_TIME_USERS];
};

/* May this user's stacks cost more now, if no others wait; and if they do? */
enum user_time_left { USER_TIME_NONE, USER_TIME_ALONE, USER_TIME_BESIDE };
enum user_time_left user_time_left(struct user_time *t, uint32_t uid, uint64_t now_ns);
/* A walk took so much CPU time, with the files that were read for it. */
void user_time_spend(struct user_time *t, uint32_t uid, uint64_t cpu_ns);

#endif
