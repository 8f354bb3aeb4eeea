/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/skid_text.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define PRECISE_SHIFT 15 /* of precise_ip among an attr's flags */

static bool
is_known(const struct skid_events *all, const struct skid_event *e)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->v[i].type == e->type && all->v[i].config == e->config &&
		    all->v[i].precise_ip == e->precise_ip && strcmp(all->v[i].name, e->name) == 0)
			return true;
	return false;
}

int
skid_events_add(struct skid_events *all, const struct event_set *events)
{
	for (size_t i = 0; i < event_set_count(events); i++) {
		const struct event *from = event_set_at(events, i);
		struct skid_event e = { .name = (char *)(uintptr_t)from->name,
					.type = from->attr.type,
					.config = from->attr.config,
					.precise_ip = from->attr.flags >> PRECISE_SHIFT & 3 };

		if (is_known(all, &e))
			continue;
		e.name = strdup(from->name);
		if (!e.name || array_reserve(all->v, all->nr, all->cap, 1) < 0) {
			free(e.name);
			return -FMT_E_NOMEM;
		}
		all->v[all->nr++] = e;
	}
	return 0;
}

void
skid_events_done(struct skid_events *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->v[i].name);
	free(all->v);
	*all = (struct skid_events){ 0 };
}

const struct skid_event *
skid_events_find(const struct skid_events *all, const char *name, size_t i)
{
	for (size_t k = 0; k < all->nr; k++)
		if (strcmp(all->v[k].name, name) == 0 && i-- == 0)
			return &all->v[k];
	return NULL;
}

/* Timers are hrtimers of the kernel, whose interrupt waits until interrupts are let in. */
static const char *
of_software(uint64_t config)
{
	if (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK)
		return "a timer, whose samples are of the instruction that was next when its interrupt "
		       "was let in: what took the time is that one or those before it, and kernel code "
		       "that runs with interrupts off shows where they are let in again";
	return "counted by the kernel, whose samples are of the instruction at which that happened";
}

const char *
skid_text(const struct skid_event *e)
{
	static const char *const precise[] = {
		"a counter of the CPU with any skid (precise_ip 0): what was counted stands before the "
		"sampled instruction, up to dozens of instructions away; modifiers :p to :P ask for less",
		"a counter of the CPU with constant skid (precise_ip 1): samples are the same distance "
		"behind what was counted",
		"a counter of the CPU that was asked for no skid (precise_ip 2): samples are mostly of "
		"the very instruction",
		"a counter of the CPU without skid (precise_ip 3): samples are of the very instruction",
	};

	switch (e->type) {
	case PERF_TYPE_SOFTWARE:
		return of_software(e->config);
	case PERF_TYPE_TRACEPOINT:
		return "a tracepoint, whose samples are of where the kernel passed it, or of the system "
		       "call that led there";
	case PERF_TYPE_BREAKPOINT:
		return "a breakpoint, whose samples are of the instruction behind the access (x86), or of "
		       "the one that is executed";
	default:
		return precise[e->precise_ip & 3];
	}
}
