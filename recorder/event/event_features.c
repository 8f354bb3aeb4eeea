/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_features.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "format/record/event_attr.h"
#include "recorder/event/event_def.h"
#include "recorder/event/event_open.h"
#include "recorder/event/event_refusal.h"

#define BIT(flag) (UINT64_C(1) << EVENT_ATTR_##flag)
#define SIDEBAND_BASE (BIT(mmap) | BIT(comm) | BIT(task))

/* Side-band that a kernel may not have, or not for everybody; what needs another, after it. */
static const struct sideband_feature {
	uint64_t bit;
	const char *missing;
} sideband_features[] = {
	{ BIT(mmap2), "no MMAP2 records: mapped files are known by name only" },
	{ BIT(comm_exec), "exec is not told from a change of name" },
	{ BIT(namespaces), "no namespaces of tasks" },
	{ BIT(ksymbol), "no names of kernel code that comes later (BPF)" },
	{ BIT(bpf_event), "no BPF programs" },
	{ BIT(cgroup), "no names of control groups that come later" },
	{ BIT(build_id), "no build-ids from the kernel" },
	{ BIT(text_poke), NULL },
};

/* On ourselves, which needs the least permission. */
static int
try_open(const struct perf_event_attr *attr)
{
	return event_open_try(attr, 0, -1);
}

/* skip: bits that are not wanted, and of which nothing is said. */
static void
probe_sideband(const struct perf_event_attr *scratch, uint64_t skip, struct event_features *f,
	       struct buf *notes)
{
	struct perf_event_attr attr = *scratch;
	uint64_t base = event_attr_bits(scratch);

	f->sideband = SIDEBAND_BASE;
	for (size_t i = 0; i < sizeof(sideband_features) / sizeof(sideband_features[0]); i++) {
		const struct sideband_feature *s = &sideband_features[i];

		if (s->bit & skip)
			continue;
		event_attr_set_bits(&attr, base | f->sideband | s->bit);
		if (try_open(&attr) == 0)
			f->sideband |= s->bit;
		else if (s->missing)
			session_note(notes, "this kernel, or this user, gives %s", s->missing);
	}
}

/* What the oldest kernel that spoor records on has is refused. */
static int
kernel_refuses(int err, const char *what, struct session_error *error)
{
	struct utsname u = { 0 };

	(void)uname(&u);
	return session_fail(error, err,
			    "perf_event_open: Linux %s refuses %s (%s): spoor needs Linux 4.18 or "
			    "newer, with CONFIG_PERF_EVENTS",
			    u.release, what, strerror(-err));
}

int
event_features_probe(const struct session_options *o, struct event_features *f, struct buf *notes,
		     struct session_error *error)
{
	struct event_def scratch = { .name = "dummy" };
	struct perf_event_attr *attr = &scratch.attr;
	int r;

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->size = event_attr_size(attr);
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->sample_id_all = 1;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU;
	r = try_open(attr);
	if (r == -EINVAL || r == -ENOENT || r == -EOPNOTSUPP || r == -ENOSYS)
		return kernel_refuses(r, "the dummy event", error);
	/* Whoever may not open this may not open the others either: told is what those need. */
	if (r < 0)
		return event_open_error(
			&scratch, o->target == SESSION_ALL || o->target == SESSION_CGROUP ? -1 : 0,
			-1, r, error);
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	r = try_open(attr);
	if (r < 0)
		return kernel_refuses(r, "CLOCK_MONOTONIC in events", error);
	f->read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->read_format = f->read_format | PERF_FORMAT_LOST;
	if (try_open(attr) == 0)
		f->read_format |= PERF_FORMAT_LOST;
	attr->read_format = f->read_format;
	attr->sample_type |= PERF_SAMPLE_CGROUP;
	f->sample_type = attr->sample_type & PERF_SAMPLE_CGROUP;
	if (try_open(attr) < 0) {
		f->sample_type = 0;
		session_note(notes, "samples do not tell their control group: not in this kernel");
	}
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	attr->write_backward = 1;
	if (o->overwrite && try_open(attr) < 0)
		return session_fail(error, -EOPNOTSUPP,
				    "this kernel writes no rings backward, over what is oldest "
				    "(attr.write_backward, Linux 4.7): record without --overwrite");
	attr->write_backward = 0;
	f->extra = event_extra_probe(&o->extra, attr, notes);
	probe_sideband(attr, o->build_ids == SESSION_BUILD_IDS_FILE ? BIT(build_id) : 0, f, notes);
	return 0;
}
