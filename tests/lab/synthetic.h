/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synthetic: a recording made in memory, of tasks and samples that a test names. Code is
 * kernel code, so that its names travel in the recording and no file is needed.
 * Any failure ends the test.
 */
#ifndef TESTS_LAB_SYNTHETIC_H
#define TESTS_LAB_SYNTHETIC_H

#include "format/recording/record_stream.h"
#include "format/recording/recording_writer.h"

#define SYNTHETIC_EVENTS 2 /* "cpu-clock" and "page-faults" */

struct synthetic {
	struct recording_meta *meta;
	struct recording_writer *writer;
	struct buf file;
	struct buf records; /* not yet given to the writer */
	struct event_attr attr[SYNTHETIC_EVENTS + 2];
	uint64_t now;
	/* of the next samples */
	unsigned event;
	uint32_t cpu;
	uint16_t cpumode;
	uint64_t period;
	uint64_t cgroup;	 /* when the samples have one */
	struct perf_sample more; /* their other fields, as far as they have them */
	struct recording_reader *reader;
	struct record_stream *stream;
};

/* have: PERF_SAMPLE_* bits besides TID, TIME, CPU and, without ID, IDENTIFIER. */
void synthetic_begin(struct synthetic *s, uint64_t have);
/* The same, taken inside of a PID namespace. */
void synthetic_begin_inside(struct synthetic *s, uint64_t have);
/* The same with a third event, off-cpu (format/record/off_cpu.h), by this name. */
#define SYNTHETIC_OFF_CPU SYNTHETIC_EVENTS
void synthetic_begin_off_cpu(struct synthetic *s, uint64_t have, const char *name);
/* Its record of a thread that goes (misc has SWITCH_OUT) or is back; and one of lost records. */
void synthetic_switch(struct synthetic *s, uint32_t pid, uint32_t tid, uint16_t misc);
void synthetic_lost(struct synthetic *s, uint64_t lost);
/* The kernel writes over its code; up to SYNTHETIC_POKE_MAX bytes together. */
#define SYNTHETIC_POKE_MAX 256
void synthetic_poke(struct synthetic *s, uint64_t address, struct span old, struct span new);
/* One event more, from here on: a META block tells of it. Its index. */
unsigned synthetic_event(struct synthetic *s, const char *name);
/* Likewise wakeups; and its sample, of thread 91 of process 90, that says that tid is woken, flags being
 * those of the tracepoint (the samples have RAW). */
unsigned synthetic_wakeups(struct synthetic *s);
void synthetic_wakeup(struct synthetic *s, unsigned event, uint32_t tid, uint8_t flags);
/* Likewise a cpu-clock that leaves out the idle task. */
unsigned synthetic_clock_without_idle(struct synthetic *s);
/* A function of the kernel (module "") or a module, to be known from here on. */
void synthetic_ksym(struct synthetic *s, uint64_t start, uint64_t end, const char *module,
		    const char *name);
void synthetic_gap(struct synthetic *s, uint64_t from_ns, uint64_t until_ns);
void synthetic_comm(struct synthetic *s, uint32_t pid, uint32_t tid, const char *comm);
void synthetic_fork(struct synthetic *s, uint32_t pid, uint32_t tid, uint16_t misc);
void synthetic_exit(struct synthetic *s, uint32_t pid, uint32_t tid);
void synthetic_cgroup(struct synthetic *s, uint64_t id, const char *path);
void synthetic_map(struct synthetic *s, uint32_t pid, uint64_t addr, uint64_t len,
		   const char *path);
/* chain: the words of the callchain, markers included. */
void synthetic_sample(struct synthetic *s, uint32_t pid, uint32_t tid, uint64_t ip,
		      const uint64_t *chain, size_t words);
/* Closes the recording and opens it for reading. */
void synthetic_read(struct synthetic *s);
void synthetic_end(struct synthetic *s);

#endif
