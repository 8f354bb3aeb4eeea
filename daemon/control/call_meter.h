/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_meter: how often clients of a user have their turn: a connection, a piece that is read and a call are a turn
 * each, three for one call of spoorctl. A client that has none left waits for the next one, so that a flood is slow, and
 * never an error. All users together have a limit, too. Pure: no clock.
 */
#ifndef DAEMON_CONTROL_CALL_METER_H
#define DAEMON_CONTROL_CALL_METER_H

#include <stdint.h>
#include <sys/types.h>

#define CALL_METER_A_SECOND 150 /* of a user: 50 calls of spoorctl */
#define CALL_METER_SAVED 600	/* that may be taken at once */
#define CALL_METER_WORK 9	/* more for a call that may wait for a disk */
#define CALL_METER_CAPTURE                                                                         \
	59		    /* more for a capture: to begin one costs as much as a thousand calls */
#define CALL_METER_ALL 4    /* times as much is for all users together */
#define CALL_METER_USERS 64 /* with an account; beyond, who has taken least has none */

struct call_account {
	uid_t uid;
	uint64_t full_ns; /* when it has all that may be saved up; 0: a free place */
};

/* All zero to begin with. */
struct call_meter {
	struct call_account all, users[CALL_METER_USERS];
};

/* Takes a turn: 0; else in how many ns there is one. */
uint64_t call_meter_take(struct call_meter *m, uid_t uid, uint64_t now_ns);
/* What a turn was used for takes more of them, of those that are still to come. */
void call_meter_charge(struct call_meter *m, uid_t uid, unsigned int turns, uint64_t now_ns);

#endif
