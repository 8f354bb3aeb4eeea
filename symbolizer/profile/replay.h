/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay: the records of a recording in their order, made into what they mean: who was who and what
 * was mapped where (the task model), kernel symbols and build-ids (the resolver's); and its samples.
 *
 * Samples of a block that differ in nothing but their times are given once, with their number:
 * record_stream says for which tasks order does not matter.
 */
#ifndef SYMBOLIZER_PROFILE_REPLAY_H
#define SYMBOLIZER_PROFILE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/model/task_model.h"
#include "format/recording/record_stream.h"
#include "symbolizer/profile/callchain.h"
#include "symbolizer/resolve/resolve.h"

struct replay_sample {
	int event; /* index in record_stream_events(); -1: none */
	uint32_t pid, tid, cpu;
	bool has_cgroup;
	uint64_t cgroup; /* its id */
	struct callchain_words chain;
	uint64_t samples, period; /* of so many together */
	uint64_t first_ns, last_ns;
	uint64_t epoch; /* the model has not changed since another sample with this number */
};

struct replay;

/* The model is as of the sample. Anything but 0 ends the replay, and is what it returns. */
typedef int replay_sample_fn(void *arg, const struct replay_sample *sample);

struct replay_options {
	bool by_cpu;   /* samples of different CPUs differ */
	bool in_order; /* each sample by itself, in the order of their times */
	replay_sample_fn *on_sample;
	void *arg;
};

/* stream and resolver are borrowed for the replay's life. NULL: out of memory. */
struct replay *replay_new(struct record_stream *stream, struct resolver *resolver,
			  const struct replay_options *options);
void replay_free(struct replay *r);

/* The whole stream, from its start. 0, negative as record_stream_next(), or what on_sample returned. */
int replay_run(struct replay *r, struct fmt_where *where);

const struct task_model *replay_model(const struct replay *r);
/* Blocks of kernel symbols and build-ids that were not read to their ends. */
uint64_t replay_bad_blocks(const struct replay *r);

#endif
