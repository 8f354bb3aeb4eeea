/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_samples: user addresses of samples that wait for the records of their time. Rings are read one after
 * another: a sample in one ring may come before a FORK or a map of its process in another ring. Bounded.
 */
#ifndef RECORDER_LIVE_JIT_SAMPLES_H
#define RECORDER_LIVE_JIT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/record/event_set.h"

#define JIT_SAMPLES_WORDS (1u << 17) /* 1 MiB; two a sample, and one an address */

struct jit_samples {
	uint64_t *v;
	size_t nr, cap; /* words in use */
};

/* The addresses of user code of a sample: of the interrupted instruction, and of calls that have not returned. */
typedef void jit_samples_fn(void *arg, uint32_t pid, uint64_t time_ns, const uint64_t *addresses,
			    size_t nr);

void jit_samples_done(struct jit_samples *s); /* all zero is an empty one */

/* False: there is no room for it. It has room when s is empty, if there is memory. */
bool jit_samples_add(struct jit_samples *s, const struct sample_glance *sample);
/* Takes the samples that are older than until_ns, in the order in which they came. */
void jit_samples_run(struct jit_samples *s, uint64_t until_ns, jit_samples_fn *fn, void *arg);

#endif
