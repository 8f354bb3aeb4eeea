/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_bound: what sampling may take of each CPU, and what it takes.
 *
 * Nobody tells what an interrupt costs that takes a sample, so each has a price. What can be known
 * before is bounded before: frequencies, and periods of what counts time. All else, such as each
 * page fault or each hit of a tracepoint, is counted and paid from an account of the CPU; while
 * the account is overdrawn, its sampling events are off. Pure: no clock, no system call.
 */
#ifndef RECORDER_EVENT_SAMPLE_BOUND_H
#define RECORDER_EVENT_SAMPLE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/event/event.h"

#define SAMPLE_SHARE_ALL 1000000u /* shares are parts of this: a millionth of a CPU each */
#define SAMPLE_EVENTS_MAX 16	  /* of a session that is bounded: each costs at each switch */

/*
 * The least prices. An interrupt of a timer or counter with its sample took 12 to 18 us in a
 * virtual machine, a software event's or a tracepoint's sample 2 to 4, the hit of a breakpoint 10
 * to 20, a hit of another event without a sample 0.1 to 0.2. The reader of a sample takes some more.
 * A plan whose interrupt_ns is known pays a quarter more than that for each interrupt, if it is more
 * than the least price. An interrupt took 50 us in a nested virtual machine.
 *
 * A plan whose trace_ns is known pays five times that for each sample of a software event or tracepoint,
 * if it is more than the least price. Where a page fault's took 1.2 us without a ring, one of an allocated
 * page took 3.7 us, with its fields, a deeper stack and a ring.
 */
#define SAMPLE_INTERRUPT_NS 20000u
#define SAMPLE_TRACE_NS 6000u
#define SAMPLE_TRACE_FAULTS 5u
#define SAMPLE_STACK_BYTE_NS 4u /* copied three times, compressed, written */
/* Copied three times. It is not in the price of a sample: the bytes that there were are paid. */
#define SAMPLE_UNWIND_BYTE_NS 2u
#define SAMPLE_HIT_NS 200u
#define SAMPLE_HIT_TRAP_NS 20000u /* breakpoints and probes */

/* Has the plan samples of software events or tracepoints, whose price is by trace_ns? */
bool sample_bound_traces(const struct event_plan *plan);
/* Of one sample, at most, of these events. */
uint64_t sample_bound_price_ns(const struct event_plan *plan);
/* Of one count of an event; 0: what it counts costs nothing. */
uint64_t sample_bound_hit_ns(const struct event_def *def);

/*
 * Lowers the frequencies of a plan to what a share allows, with a note; periods of what counts time
 * stay, or are refused. Copies of stacks whose size the recorder chooses count as small as they can be.
 * notes as in event_plan_make(). 0, or -EINVAL with *error.
 */
int sample_bound_plan(struct event_plan *plan, uint32_t share, struct buf *notes,
		      struct session_error *error);

/*
 * So many bytes of samples that are to be unwound can be copied in a second of a CPU that is always busy, at the plan's
 * frequencies and periods.
 */
uint64_t sample_bound_copied(const struct event_plan *plan, uint32_t share);

/* Lowers those of a plan's frequencies that are above hz, with a note that tells the reason. */
void sample_bound_lower(struct event_plan *plan, uint64_t hz, const char *reason,
			struct buf *notes);

/* The account of one CPU; all zero to begin with. */
struct sample_account {
	int64_t left_ns;
	int64_t spent_ns; /* more than the share was in the meantime */
	uint64_t at_ns;
	uint64_t off_since_ns; /* overdrawn, and the events are off; 0: they are on */
	uint64_t off_ns;       /* all earlier times together */
};

/* Pays for what was taken since the last time. Returns whether the events are to be on from now. */
bool sample_account_pay(struct sample_account *a, uint32_t share, uint64_t now_ns,
			uint64_t cost_ns);
/* Remembers that they were turned off, or on. */
void sample_account_turn(struct sample_account *a, bool on, uint64_t now_ns);
/* How long it takes until no more than the share was taken, if nothing is meanwhile. */
uint64_t sample_account_owed_ns(const struct sample_account *a, uint32_t share);
/* How long they have been off, with the time that has not ended. */
uint64_t sample_account_off_ns(const struct sample_account *a, uint64_t now_ns);

#endif
