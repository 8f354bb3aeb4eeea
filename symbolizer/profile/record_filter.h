/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_filter: a filter of samples for who reads records as they are, without a profile: it
 * follows the names of tasks and control groups by the records themselves. Inside of a PID namespace the kernel's symbols
 * tell the idle task, as they do in a profile (other_namespace.h). Of one recording.
 */
#ifndef SYMBOLIZER_PROFILE_RECORD_FILTER_H
#define SYMBOLIZER_PROFILE_RECORD_FILTER_H

#include "format/model/kernel_names.h"
#include "format/model/task_model.h"
#include "format/recording/record_stream.h"
#include "symbolizer/profile/filter.h"
#include "symbolizer/resolve/kernel_symbols.h"

struct record_filter {
	const struct filter *filter;
	struct kernel_names names;
	struct task_model *tasks; /* NULL: nobody asks for their names */
	uint64_t aged_ns;
	struct cgroup_verdicts *verdicts;
	struct tracepoints tracepoints;
	struct intern *strings;	       /* of kernel */
	struct kernel_symbols *kernel; /* NULL: not recorded inside of a PID namespace */
	int error;
};

/* filter is borrowed; NULL: everything passes. It has no --dso and no --symbol. 0, -FMT_E_NOMEM. */
int record_filter_init(struct record_filter *f, const struct filter *filter,
		       const struct recording_meta *meta);
void record_filter_done(struct record_filter *f);

/* To be shown every block of record_stream_on_block(), whose function it can be. */
void record_filter_block(void *filter, const struct block *block);

/*
 * To be shown every record of the stream, in its order: 1 it passes, as all that are no samples
 * do; 0; -FMT_E_NOMEM.
 */
int record_filter_see(struct record_filter *f, const struct stream_record *rec,
		      const struct event_set *events);

#endif
