/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay: the records of a recording in their order, made into what they mean: who was who and
 * what was mapped where (the task model), the kernel's symbols, build-ids; and its samples.
 *
 * Samples of a block for whose tasks order does not matter come as the block keeps them, all at
 * once (record_stream says which those are); every other sample comes by itself. One with counts
 * comes once for each event that counted since the one before, with that as its period.
 *
 * A recording that was taken inside of a PID namespace comes sample by sample, too.
 *
 * Where there is the event off-cpu, no sample of it is given, but each wait that is over, as a sample of
 * events that the recording does not have: off-cpu:blocked, off-cpu:io, off-cpu:runnable, off-cpu:preempted. Its period
 * is how long the wait was, in ns, its time the end, its stack without the scheduler's own frames. Such a
 * recording comes sample by sample.
 */
#ifndef SYMBOLIZER_PROFILE_REPLAY_H
#define SYMBOLIZER_PROFILE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/unwind_stops.h"
#include "format/model/task_model.h"
#include "format/record/read_counts.h"
#include "format/recording/record_stream.h"
#include "symbolizer/profile/callchain.h"
#include "symbolizer/profile/wait_samples.h"
#include "symbolizer/resolve/kernel_symbols.h"

/* How much later samples of a task that has ended may be. */
#define REPLAY_GHOST_NS UINT64_C(1000000000)

struct replay_sample {
	int event;		/* see replay_event_name(); -1: none */
	uint32_t pid, tid, cpu; /* TASK_PID_ELSEWHERE: see other_namespace.h */
	bool has_cgroup;
	uint64_t cgroup; /* its id */
	struct callchain_words chain;
	const struct perf_sample *copied; /* all of it, of one that came in a record; else NULL */
	uint64_t period, time_ns;
	struct waker waker; /* of a wait */
	uint64_t record; /* the same number for all that one record is given as; 0: it is given once */
};

struct replay;

struct replay_options {
	bool in_order; /* each sample by itself, in the order of their times */
	/*
	 * The model is as of the sample, or of all samples of the block whose task is not
	 * in_order: the others have been given, or will be, to on_sample. Anything but 0 ends the
	 * replay, and is what it returns.
	 */
	int (*on_sample)(void *arg, const struct replay_sample *sample);
	int (*on_block)(void *arg, const struct stream_columns *block);
	/*
	 * A MMAP or MMAP2 record; of the kernel and its modules pid is TASK_PID_KERNEL. NULL: nobody
	 * asks. Returns likewise.
	 */
	int (*on_map)(void *arg, const struct perf_mmap *map);
	void *arg;
};

/* stream and strings are borrowed for the replay's life. NULL: out of memory. */
struct replay *replay_new(struct record_stream *stream, struct intern *strings,
			  const struct replay_options *options);
void replay_free(struct replay *r);

/*
 * The whole stream, from its start. 0, negative as record_stream_next(), or what a callback
 * returned.
 */
int replay_run(struct replay *r, struct fmt_where *where);

/* One sample of a block by columns; or all of it but its chain. */
void replay_block_who(const struct stream_columns *block, size_t number, struct replay_sample *ret);
void replay_block_sample(const struct stream_columns *block, size_t number,
			 struct replay_sample *ret);

/* Of events of samples: those of record_stream_events(), and those that were made of waits. */
const char *replay_event_name(const struct replay *r, size_t event);
/* Those of the stream, as long as that is open. */
const struct event_set *replay_events(const struct replay *r);
/* The number of the first of those that were made of waits (wait_samples.h); SIZE_MAX: there are none. */
size_t replay_first_wait(const struct replay *r);
/* What waits are not among the samples. */
/* What became of stacks that were unwound while it was recorded. */
const struct unwind_stops *replay_stops(const struct replay *r);
struct waits_counts replay_waits(const struct replay *r);

const struct task_model *replay_model(const struct replay *r);
/*
 * What holds addr in process pid: as task_model_map(), and the vsyscall page of x86-64, which each process has and no
 * record tells of.
 */
const struct task_map *replay_map(const struct replay *r, uint32_t pid, uint64_t addr);
/* Its names are interned in strings. */
const struct kernel_symbols *replay_kernel(const struct replay *r);
/* Neither the model nor the kernel's symbols have changed since this was the same number. */
uint64_t replay_epoch(const struct replay *r);
/* Likewise of the kernel's symbols alone. */
uint64_t replay_kernel_epoch(const struct replay *r);
/* Kernel symbols came along with the recording: what they do not name has no name. */
bool replay_has_kernel(const struct replay *r);
/* Of the vDSO of 64-bit processes, which has no inode; size 0: not known yet. */
const struct buildid *replay_vdso(const struct replay *r);
/* What the events counted, by the READ records; the caller's from now on. */
void replay_take_counts(struct replay *r, struct read_counts *ret);
/* Blocks of kernel symbols and build-ids that were not read to their ends. */
uint64_t replay_bad_blocks(const struct replay *r);

#endif
