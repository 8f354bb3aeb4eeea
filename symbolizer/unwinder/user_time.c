/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwinder/user_time.h"

enum user_time_left
user_time_left(struct user_time *t, uint32_t uid, uint64_t now_ns)
{
	uint64_t *spent_ns = &t->of[uid % USER_TIME_USERS].spent_ns;
	uint64_t *at_ns = &t->of[uid % USER_TIME_USERS].at_ns;
	const uint64_t paid_ns = (now_ns - *at_ns) / USER_TIME_PART;

	*spent_ns -= paid_ns < *spent_ns ? paid_ns : *spent_ns;
	*at_ns = now_ns;
	if (uid == 0 || *spent_ns < USER_TIME_BESIDE_NS)
		return USER_TIME_BESIDE;
	return *spent_ns < USER_TIME_BURST_NS ? USER_TIME_ALONE : USER_TIME_NONE;
}

void
user_time_spend(struct user_time *t, uint32_t uid, uint64_t cpu_ns)
{
	if (cpu_ns > USER_TIME_WALK_NS)
		t->of[uid % USER_TIME_USERS].spent_ns += cpu_ns - USER_TIME_WALK_NS;
}
