/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_crowd: whose turn it is where there are more questions than answers.
 *
 * Each user has a few turns a second, so that one who maps new files without end keeps no others
 * from being heard. A pure decision: the clock is the caller's.
 */
#ifndef RECORDER_LIVE_LIVE_CROWD_H
#define RECORDER_LIVE_LIVE_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_CROWD_USERS 16 /* that have turns in a second; later ones have none */
#define LIVE_CROWD_EACH 8   /* turns of one user in a second */

/* All zero: nobody has had a turn. */
struct live_crowd {
	uint64_t began_ns; /* this second */
	struct live_crowd_user {
		uint32_t uid;
		unsigned int turns; /* had in this second; 0: a free slot */
	} users[LIVE_CROWD_USERS];
};

/* Has this user a turn now? One turn is then taken. TASK_USER_UNKNOWN is a user as any other. */
bool live_crowd_turn(struct live_crowd *c, uint32_t uid, uint64_t now_ns);

#endif
