/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/cpu_use_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "daemon/stream/cpu_use.h"
#include "daemon/stream/streams.h"

/* Whose captures take what of a CPU. */
static json_t *
capture_percents(const struct cpu_use *u)
{
	json_t *by = json_object();
	char uid[16];

	for (size_t i = 0; by && i < CAPTURE_CPU_USERS; i++) {
		uid[0] = '\0';
		if (u->users[i].uid != UINT32_MAX)
			(void)snprintf(uid, sizeof(uid), "%" PRIu32, u->users[i].uid);
		if (u->users[i].percent > 0 &&
		    json_object_set_new(by, uid, json_real(u->users[i].percent)) < 0) {
			json_decref(by);
			return NULL;
		}
	}
	return by;
}

/* Sentences: what budgets have lowered. */
static json_t *
given_up(const struct streams_status *s)
{
	json_t *all = json_array();
	int failed = 0;

	if (all && s->governor[0])
		failed |= json_array_append_new(
			all,
			json_sprintf("%s: sampling at %" PRIu64 " of %" PRIu64 " Hz", s->governor,
				     s->lowered_hz, s->frequency_hz));
	if (all && s->sideband_parts > 1)
		failed |= json_array_append_new(
			all,
			json_sprintf("%s: side-band at 1/%u of sideband_share",
				     s->sideband_governor, s->sideband_parts));
	if (!failed)
		return all;
	json_decref(all);
	return NULL;
}

json_t *
cpu_use_json(const struct streams_status *s)
{
	json_t *j = json_object();
	int failed = !j ||
		json_object_set_new(j, "budget_percent", json_real(s->cpu_budget_percent)) |
			json_object_set_new(j, "percent", json_real(s->cpu.percent)) |
			json_object_set_new(j, "exceeded", json_boolean(s->cpu.exceeded)) |
			json_object_set_new(j, "captures", capture_percents(&s->cpu)) |
			json_object_set_new(j, "given_up", given_up(s));

	for (int i = 0; !failed && i < CPU_USE_PARTS; i++)
		if (i != CPU_USE_CAPTURES)
			failed = json_object_set_new(j, cpu_use_name((enum cpu_use_part)i),
						     json_real(s->cpu.parts[i]));
	if (!failed && s->cpu.exceeded)
		failed = json_object_set_new(
			j, "exceeded_since_s",
			json_integer((json_int_t)time(NULL) - (json_int_t)s->cpu_over_s));
	if (!failed)
		return j;
	json_decref(j);
	return NULL;
}
