/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/call_meter.h"

#include "format/bytes/time_text.h"

#define TURN_NS ((uint64_t)SECOND_NS / CALL_METER_A_SECOND)
#define SAVED_NS (CALL_METER_SAVED * TURN_NS)

/* What is left is told by the time at which all of it is there again: each turn puts that off. */
static uint64_t
full_after(const struct call_account *a, uint64_t ns, uint64_t now_ns)
{
	return (a->full_ns > now_ns ? a->full_ns : now_ns) + ns;
}

static uint64_t
wait_ns(const struct call_account *a, uint64_t turn_ns, uint64_t saved_ns, uint64_t now_ns)
{
	const uint64_t after_ns = full_after(a, turn_ns, now_ns);

	return after_ns > now_ns + saved_ns ? after_ns - now_ns - saved_ns : 0;
}

static struct call_account *
account_of(struct call_meter *m, uid_t uid)
{
	struct call_account *least = m->users;

	for (struct call_account *a = m->users; a < m->users + CALL_METER_USERS; a++) {
		if (a->full_ns && a->uid == uid)
			return a;
		least = a->full_ns < least->full_ns ? a : least;
	}
	*least = (struct call_account){ .uid = uid };
	return least;
}

void
call_meter_charge(struct call_meter *m, uid_t uid, unsigned int turns, uint64_t now_ns)
{
	struct call_account *a = account_of(m, uid);

	a->full_ns = full_after(a, TURN_NS * turns, now_ns);
	m->all.full_ns = full_after(&m->all, TURN_NS * turns / CALL_METER_ALL, now_ns);
}

uint64_t
call_meter_take(struct call_meter *m, uid_t uid, uint64_t now_ns)
{
	const uint64_t own_ns = wait_ns(account_of(m, uid), TURN_NS, SAVED_NS, now_ns);
	const uint64_t all_ns = wait_ns(&m->all, TURN_NS / CALL_METER_ALL, SAVED_NS, now_ns);

	if (own_ns || all_ns)
		return own_ns > all_ns ? own_ns : all_ns;
	call_meter_charge(m, uid, 1, now_ns);
	return 0;
}
