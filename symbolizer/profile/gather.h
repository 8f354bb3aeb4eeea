/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gather: the samples of a recording into raw profiles.
 *
 * It needs nothing but its recording, names of JIT code, which change with time, and for copied
 * stacks the files that were mapped; no other symbol is looked up. Several can run side by side. A
 * raw profile that has grown large is handed over, and another one begun.
 */
#ifndef SYMBOLIZER_PROFILE_GATHER_H
#define SYMBOLIZER_PROFILE_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/model/task_model.h"
#include "format/record/perf_record.h"
#include "format/record/read_counts.h"
#include "format/record/tracepoint.h"
#include "format/recording/record_stream.h"
#include "symbolizer/jit/jit_names.h"
#include "symbolizer/profile/filter.h"
#include "symbolizer/profile/process_table.h"
#include "symbolizer/profile/raw_profile.h"
#include "symbolizer/profile/sample_detail.h"
#include "symbolizer/profile/user_stack.h"
#include "symbolizer/profile/waits.h"

#define GATHER_RAW_BYTES_MAX (64u << 20)
/* Paths, commands, groups and names of the kernel: of a recording, 250,000 of the usual length. */
#define GATHER_STRINGS_BYTES_MAX (32u << 20)

struct profile_options {
	const struct filter *filter;  /* NULL: everything; its times are the stream's window */
#define X(type, name) bool by_##name; /* keep samples of different ones apart */
	PROFILE_KEYS(X)
#undef X
	uint32_t details; /* likewise by these (sample_detail.h), sample by sample */
	bool branches;	/* each branch of a sample's branch stack is counted, once, where it went */
	bool by_weight; /* the period is the weight of a sample, or 1 where that is 0 */
	/*
	 * With by_time: width of a bucket, and what is added to a sample's time (modulo 2^64) before
	 * it is divided by that. gathering adds what the recording needs to be on the clock of the
	 * first one; of an archive, and with bucket_wall, on that of the day (time_buckets.h).
	 */
	uint64_t bucket_ns, bucket_shift_ns;
	bool bucket_wall;
	/*
	 * With by_time: the period of a clock's sample is divided among all buckets that have a part of the time since
	 * the sample before it. Nothing is put into buckets before spread_from_ns, which gathering sets.
	 */
	bool spread;
	uint64_t spread_from_ns;
	/*
	 * With by_trace: of which fields, "EVENT.FIELD" with commas (trace_fields.h); NULL: all of them.
	 * It takes the slow way.
	 */
	const char *trace_fields;
	bool fields;	       /* with each_sample: what the bytes of tracepoints mean as well */
	bool by_address;       /* likewise frames, of which this has none */
	bool by_file, by_line; /* likewise, by where the source is */
	bool inlines;	       /* inlined calls are frames */
	bool by_inlined;       /* a function is another where it is inlined */
	bool kernel_lines;     /* addresses of the kernel have lines, and each matters */
	bool leaf_only;	       /* callers are not needed: flat report */
	bool innermost;	       /* nor kept, of what the filter shows of a stack: likewise */
	bool in_order;	       /* the slow way: sample by sample */
	bool each_sample;      /* likewise, and each is kept, for profile_on_sample() */
	bool forget;	       /* no stack is, once its samples were given to that */
	size_t raw_bytes_max;  /* of one raw profile; 0: GATHER_RAW_BYTES_MAX */
	/*
	 * No place is needed, nor a name: whose samples are counted, and their stacks are one frame that
	 * means nothing. Not with a filter_by_leaf(), and only with leaf_only.
	 */
	bool no_places;
	/*
	 * Samples without a name are counted by process as well (process_table.h): rows of the raw profile are kept
	 * apart by process, those of the profile are not for that. Not with no_places.
	 */
	bool processes;
	bool any_comm;	      /* commands are not kept apart: all are "" */
	uint64_t *reached_ns; /* stored into, atomically: up to when it was read; NULL: nobody asks */
	struct jit_names *jit; /* of this recording alone; NULL: code made at run time has no names */
};

/* Are lines asked for, or what was inlined? */
static inline bool
profile_options_lines(const struct profile_options *o)
{
	return o->by_line || o->by_file || (o->inlines && !o->leaf_only);
}

struct gather;

/*
 * What was gathered since the last call; the strings live as long as the gather. More of it may
 * come, unless it is the last: then what follows below is known. 0, or what ends the run.
 */
typedef int gather_take_fn(void *arg, struct gather *g, const struct raw_profile *raw);

/* stream and options are borrowed for the gather's life. NULL: out of memory. */
struct gather *gather_new(struct record_stream *stream, const struct profile_options *options);
void gather_free(struct gather *g);
/*
 * Copies of stacks shall be unwound (user_stack.h); without this they have no callers. 0,
 * -FMT_E_NOMEM.
 */
int gather_unwind(struct gather *g, const char *arch, const struct object_places *places);

/*
 * Reads the whole stream, from its start, and gives take what was gathered. 0, negative as
 * record_stream_next() (after what was read until then has been given), or what take returned.
 */
int gather_run(struct gather *g, gather_take_fn *take, void *arg, struct fmt_where *where);

/*
 * Of the recording, as far as it was read. Names of its events, by the numbers of raw_who.event.
 */
size_t gather_events(const struct gather *g);
const char *gather_event_name(const struct gather *g, size_t event);
/* What the bytes of an event's samples mean; NULL: it is no tracepoint, or its format is not known. */
const struct tracepoint *gather_tracepoint(struct gather *g, int event);
/* Where the kernel and its modules lie, by its MMAP records. */
const struct perf_mmap *gather_kernel_maps(const struct gather *g, size_t *ret_nr);
/* Kernel symbols came along: what they do not name has no name. */
bool gather_has_kernel(const struct gather *g);

/*
 * At the end. What there was no room for, and blocks of symbols and build-ids not read to their
 * ends.
 */
struct task_model_left_out gather_left_out(const struct gather *g);
/* What an event counted, by the numbers of raw_who.event. */
struct read_total gather_counted(const struct gather *g, size_t event);
struct unwind_stops gather_unwound(const struct gather *g);
struct waits_counts gather_waits(const struct gather *g);
uint64_t gather_bad_blocks(const struct gather *g);
/* With processes: what they are called, and which runtimes they have. */
const struct process_table *gather_processes(const struct gather *g);
/* jit_names_doubtful() of it. */
uint64_t gather_jit_doubtful(const struct gather *g);

#endif
