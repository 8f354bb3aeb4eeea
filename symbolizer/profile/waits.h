/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits: of a recording with the event off-cpu (format/record/off_cpu.h), who is off the CPU, and for how long.
 *
 * A thread that leaves its CPU is a sample of the event and then a SWITCH record, which tells whether it was
 * preempted; when it is back, there is another SWITCH record, on any CPU. In between it is woken, which the sample of
 * another event tells, where the recording has that. All is told in the order of times.
 * What was lost in between is counted and never guessed: a wait has its sample, its beginning and its end, or
 * is none.
 */
#ifndef SYMBOLIZER_PROFILE_WAITS_H
#define SYMBOLIZER_PROFILE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/span.h"

/* Samples of threads that are off the CPU, at most: 200,000 with call chains of usual lengths. */
#define WAITS_BYTES_MAX (64u << 20)

struct waits;

/* Who woke a thread: an interrupt, whoever ran there, or a task. All zero: not known. */
struct waker {
	bool known, interrupt;
	uint32_t pid, tid;
};

struct wait {
	struct span sample; /* the record, until the next call */
	uint64_t from_ns, until_ns;
	struct waker waker;
	uint64_t woken_ns; /* from then on it was for a CPU alone; until_ns: not known */
	uint64_t switches; /* for which it stands, itself included */
	bool preempted;
};

struct waits_counts {
	uint64_t open;	   /* begun, and not over when the recording was */
	uint64_t cut;	   /* records are missing that would tell how long */
	uint64_t left_out; /* over WAITS_BYTES_MAX */
};

struct waits *waits_new(void); /* NULL: out of memory */
void waits_free(struct waits *w);

/* Its sample, which is copied. 0, -FMT_E_NOMEM. */
int waits_sample(struct waits *w, uint32_t tid, struct span sample, uint64_t switches);
/* It is woken: the first time counts. */
void waits_woken(struct waits *w, uint32_t tid, uint64_t time_ns, const struct waker *waker);
/* SWITCH records: it goes now; it is back. True: *ret is a wait. */
void waits_out(struct waits *w, uint32_t tid, uint64_t time_ns, bool preempted);
bool waits_in(struct waits *w, uint32_t tid, uint64_t time_ns, struct wait *ret);
/* Another thread begins that has this number. */
void waits_fork(struct waits *w, uint32_t tid);
/* Records were lost until now: whoever is off the CPU may have been back in between. */
void waits_lost(struct waits *w);
/* One that was told is none: samples or records were not taken meanwhile. */
void waits_cut(struct waits *w);

struct waits_counts waits_count(const struct waits *w);
void waits_counts_add(struct waits_counts *to, const struct waits_counts *more);

#endif
