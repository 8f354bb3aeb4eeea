/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/record_filter.h"

#include <linux/perf_event.h>

void
record_filter_init(struct record_filter *f, const struct filter *filter)
{
	f->filter = filter;
	kernel_names_init(&f->names);
	f->verdicts = filter && filter_by_cgroup(filter) ? cgroup_verdicts_new() : NULL;
}

void
record_filter_done(struct record_filter *f)
{
	kernel_names_done(&f->names);
	cgroup_verdicts_free(f->verdicts);
}

int
record_filter_see(struct record_filter *f, const struct stream_record *rec,
		  const struct event_set *events)
{
	const struct perf_record *r = rec->record;
	struct filter_subject s;
	int error;

	if (!f->filter || !r)
		return 1;
	if (r->type == REC_CGROUP && filter_by_cgroup(f->filter)) {
		error = kernel_names_apply(&f->names, r);
		return error < 0 ? error : 1;
	}
	if (rec->state || r->type != REC_SAMPLE)
		return 1;
	s = (struct filter_subject){
		.pid = r->sid.pid, .tid = r->sid.tid, .cpu = r->sid.cpu, .verdicts = f->verdicts
	};
	s.event = rec->event < 0 ? "" : event_set_at(events, (size_t)rec->event)->name;
	if (r->sample.have & PERF_SAMPLE_CGROUP)
		s.cgroup = kernel_names_cgroup(&f->names, r->sample.cgroup);
	return filter_sample(f->filter, &s);
}
