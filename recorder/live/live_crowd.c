/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_crowd.h"

#include "format/bytes/time_text.h"

bool
live_crowd_turn(struct live_crowd *c, uint32_t uid, uint64_t now_ns)
{
	struct live_crowd_user *u = c->users, *end = c->users + LIVE_CROWD_USERS;

	if (now_ns - c->began_ns >= SECOND_NS)
		*c = (struct live_crowd){ .began_ns = now_ns };
	while (u < end && u->turns && u->uid != uid)
		u++;
	if (u == end || u->turns == LIVE_CROWD_EACH)
		return false;
	u->uid = uid;
	u->turns++;
	return true;
}
