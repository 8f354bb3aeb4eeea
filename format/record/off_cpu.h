/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * off_cpu: the event of times off the CPU. It samples context switches, as threads leave their CPU, and has
 * the kernel's SWITCH records beside the samples, which tell when they are back. No other event has those.
 *
 *   off-cpu[/TERM,.../]   min=TIME: what is read leaves out shorter waits (default: none)
 *                         freq=HZ:  so many samples a second and CPU; each stands for as many switches as
 *                                   its period says (default: each switch is sampled)
 *                         no-wakeups, waker: see below
 *
 * Beside it, where tracepoints may be read, there is OFF_CPU_WAKEUPS: sched:sched_waking, whose samples tell when a
 * thread was woken and by whom, and so from when on it waited for a CPU alone. With freq= or no-wakeups it is left out.
 * With waker there is no recording without it.
 */
#ifndef FORMAT_RECORD_OFF_CPU_H
#define FORMAT_RECORD_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/record/event_set.h"

#define OFF_CPU_EVENT "off-cpu"
#define OFF_CPU_WAKEUPS "wakeups"

/* Why a thread was off its CPU: what waits are told apart by, as events of their own. */
#define OFF_CPU_WHYS(X)                                                                            \
	X(BLOCKED, "blocked")	  /* it waited for something */                                    \
	X(IO, "io")		  /* likewise, for a device, as the kernel accounts for it */      \
	X(RUNNABLE, "runnable")	  /* it had been woken, and waited for a CPU */                    \
	X(PREEMPTED, "preempted") /* it would have run: others had its CPU */

enum off_cpu_why {
#define X(name, word) OFF_CPU_##name,
	OFF_CPU_WHYS(X)
#undef X
		OFF_CPU_WHYS_MAX
};

/* "off-cpu:blocked"... */
const char *off_cpu_name(enum off_cpu_why why);
/* Is this the name of such a wait, or of the event? */
bool off_cpu_is_name(const char *event);

struct off_cpu_terms {
	uint64_t min_ns;  /* 0: none */
	uint64_t freq_hz; /* 0: each switch */
	bool no_wakeups, waker;
};

/*
 * "off-cpu" with its terms. 0; -FMT_E_UNSUPPORTED: it is another name; -FMT_E_CORRUPT: a term is wrong, at
 * *ret_bad, *ret_len bytes.
 */
int off_cpu_parse(const char *name, struct off_cpu_terms *ret, const char **ret_bad,
		  size_t *ret_len);

/* Is it that event, by name and attr? Then *ret are its terms. */
bool off_cpu_event(const struct event *e, struct off_cpu_terms *ret);
/* Is it OFF_CPU_WAKEUPS? */
bool off_cpu_wakeups(const struct event *e);

#endif
