/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any records into a task model; its snapshot has to make a model with the same snapshot. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/model/task_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct event_attr attr = {
	.size = 64,
	.sample_type = 2 | 4 | 128 | 1 << 16, /* TID, TIME, CPU, IDENTIFIER */
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
};

static void
look(const struct task_model *m, const struct perf_record *r)
{
	const struct task_map *map;

	if (r->type != REC_MMAP2 && r->type != REC_MMAP)
		return;
	map = task_model_map(m, r->mmap.pid, r->mmap.addr);
	if (map && (map->start > r->mmap.addr || map->end <= r->mmap.addr || !map->object->path))
		abort();
	(void)task_model_task(m, r->mmap.pid, r->mmap.tid);
}

static struct task_model *
replay(struct span s)
{
	struct task_model *m = task_model_new();
	struct perf_record r;
	struct span raw;

	if (!m)
		abort();
	while (perf_record_next(&s, &raw) == 1) {
		if (perf_record_parse(raw, &attr, &r))
			continue;
		if (task_model_apply(m, &r))
			abort();
		look(m, &r);
		if (raw.p[4] == 0xa5) /* header.misc: a way to ask for more */
			task_model_prune(m, r.sid.time);
		if (r.type == REC_MMAP2 && r.mmap.ino && raw.p[4] == 0x5a) {
			struct buildid id = buildid_of(BUILDID_GNU, raw.p, 20);

			(void)task_model_set_build_id(m, r.mmap.maj, r.mmap.min, r.mmap.ino,
						      r.mmap.ino_generation, &id);
		}
	}
	return m;
}

static int
collect(void *arg, struct span records)
{
	buf_append(arg, records.p, records.len);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_sample_id sid = { .time = 1 };
	struct task_model *m = replay(span_of(data, size)), *copy;
	struct buf one, two;

	buf_init(&one);
	buf_init(&two);
	if (task_model_snapshot(m, &attr, &sid, NULL, collect, &one))
		abort();
	copy = replay(buf_span(&one));
	if (task_model_snapshot(copy, &attr, &sid, NULL, collect, &two))
		abort();
	if (one.len != two.len || (one.len && memcmp(one.p, two.p, one.len) != 0))
		abort();
	buf_done(&one);
	buf_done(&two);
	task_model_free(copy);
	task_model_free(m);
	return 0;
}
