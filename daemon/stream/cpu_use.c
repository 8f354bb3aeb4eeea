/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/cpu_use.h"

#define WINDOWS 2 /* in a row: one burst is no habit, and one lull no end */

const char *
cpu_use_name(enum cpu_use_part part)
{
	static const char *const names[CPU_USE_PARTS] = {
		[CPU_USE_SAMPLES] = "samples",	 [CPU_USE_SIDEBAND] = "sideband",
		[CPU_USE_HELPERS] = "helpers",	 [CPU_USE_FLIGHT] = "flight_recorder",
		[CPU_USE_CAPTURES] = "captures", [CPU_USE_REST] = "rest",
	};

	return names[part];
}

/* A session that ends badly takes its counts along. */
static uint64_t
more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint64_t
user_before(const struct cpu_use_reading *r, uint32_t uid)
{
	for (size_t i = 0; i < CAPTURE_CPU_USERS; i++)
		if (r->users[i].ns && r->users[i].uid == uid)
			return r->users[i].ns;
	return 0;
}

static void
divide(struct cpu_use *u, const struct cpu_use_reading *now)
{
	const double percent_of_ns = 100 / (double)(now->now_ns - u->at.now_ns);
	uint64_t all = more(now->cpu_ns, u->at.cpu_ns), rest = all;

	u->percent = (double)all * percent_of_ns;
	for (int i = 0; i < CPU_USE_REST; i++) {
		const uint64_t ns = more(now->parts_ns[i], u->at.parts_ns[i]);

		u->parts[i] = (double)ns * percent_of_ns;
		rest = more(rest, ns);
	}
	u->parts[CPU_USE_REST] = (double)rest * percent_of_ns;
	for (size_t i = 0; i < CAPTURE_CPU_USERS; i++) {
		const struct capture_cpu *c = &now->users[i];

		u->users[i] = (struct cpu_use_of){
			c->uid, (double)more(c->ns, user_before(&u->at, c->uid)) * percent_of_ns
		};
	}
}

void
cpu_use_forget(struct cpu_use *u)
{
	u->over = u->calm = 0;
	u->exceeded = false;
}

void
cpu_use_take(struct cpu_use *u, const struct cpu_use_reading *now, uint64_t budget_milli_percent)
{
	const double most = (double)budget_milli_percent / 1000 * CPU_USE_OVER;
	const uint64_t began_ns = u->at.now_ns;

	if (u->windows > 0 && now->now_ns - began_ns < CPU_USE_WINDOW_NS)
		return;
	if (u->windows > 0)
		divide(u, now);
	u->at = *now;
	/* The first one has the cost of the start in it. */
	if (++u->windows <= 2 || !budget_milli_percent) {
		u->exceeded &= budget_milli_percent != 0;
		return;
	}
	if (u->percent <= most) {
		u->over = 0;
		if (++u->calm >= WINDOWS)
			u->exceeded = false;
		return;
	}
	u->calm = 0;
	if (u->over++ == 0 && !u->exceeded)
		u->over_ns = began_ns;
	if (u->over >= WINDOWS)
		u->exceeded = true;
}
