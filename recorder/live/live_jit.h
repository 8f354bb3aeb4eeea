/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_jit: names of code that processes make at run time, as far as samples of the open file hit it.
 *
 * A process that maps anonymous memory, or a jitdump, to be executed may have files that name it
 * (jit_home). A helper opens them at first sight, and is asked for the names of sampled addresses now
 * and then, when the process has ended, and at the end of each file. Nobody waits for an answer but the
 * end of a file, and that a second at most, of the last one five. Belongs to the writer thread, as live does.
 */
#ifndef RECORDER_LIVE_LIVE_JIT_H
#define RECORDER_LIVE_LIVE_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/record/event_set.h"
#include "format/recording/recording_writer.h"

struct helper_pool;
struct live_jit;
struct task_model;
struct task_users;

/* All are borrowed. NULL: out of memory. */
struct live_jit *live_jit_new(struct helper_pool *pool, const struct task_model *model,
			      struct task_users *users);
void live_jit_free(struct live_jit *l);

/* A record goes by; told: by a scan, of what has been there for who knows how long. */
void live_jit_see(struct live_jit *l, const struct perf_record *r, bool told);
/* A sample goes by. */
void live_jit_sample(struct live_jit *l, const struct sample_glance *sample);

/*
 * Asks for what it is time for, takes what has been answered, and leaves a helper behind that does not
 * answer. Never waits. All records and samples older than complete_ns have been shown.
 */
void live_jit_pass(struct live_jit *l, uint64_t complete_ns);

/* The file ends soon: whatever its samples hit is asked for now, as far as passes get to it. */
void live_jit_hurry(struct live_jit *l);
/* Is an answer to that still to come? */
bool live_jit_waiting(const struct live_jit *l);
/* A descriptor that polls readable when there is an answer to that; -1: none is to come. */
int live_jit_fd(const struct live_jit *l);

/* Another file begins, which has no names yet. */
void live_jit_begin_file(struct live_jit *l);

/* Writes a JIT block if there is something to write. 0, -FMT_E_*. */
int live_jit_write(struct live_jit *l, struct recording_writer *w, struct fmt_where *where);

#endif
