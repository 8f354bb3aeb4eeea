/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_build: makes PERF_RECORD_*s, for state that no ring will tell any more (the tasks
 * and maps that were there before recording began) and for tests.
 *
 * Each call appends one whole record, padded to 8 bytes and ended by the sample_id trailer
 * of attr (NULL: none; sid NULL: all zero), to a buf. A string over
 * PERF_RECORD_STRING_MAX is cut; anything else too long is -FMT_E_TOO_BIG. -FMT_E_NOMEM. On error nothing is appended.
 */
#ifndef FORMAT_RECORD_RECORD_BUILD_H
#define FORMAT_RECORD_RECORD_BUILD_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/perf_record.h"

int record_build_comm(struct buf *out, const struct event_attr *attr,
		      const struct perf_sample_id *sid, uint32_t pid, uint32_t tid,
		      const char *comm, uint16_t misc);
int record_build_fork(struct buf *out, const struct event_attr *attr,
		      const struct perf_sample_id *sid, uint32_t pid, uint32_t ppid, uint32_t tid,
		      uint32_t ptid, uint64_t time, uint16_t misc);
int record_build_exit(struct buf *out, const struct event_attr *attr,
		      const struct perf_sample_id *sid, uint32_t pid, uint32_t ppid, uint32_t tid,
		      uint32_t ptid, uint64_t time);
/* A build-id of m makes the record's other shape, and sets its misc bit. */
int record_build_mmap2(struct buf *out, const struct event_attr *attr,
		       const struct perf_sample_id *sid, const struct perf_mmap *m, uint16_t misc);
int record_build_mmap(struct buf *out, const struct event_attr *attr,
		      const struct perf_sample_id *sid, const struct perf_mmap *m, uint16_t misc);
/* links: nr x {dev, inode}. */
int record_build_namespaces(struct buf *out, const struct event_attr *attr,
			    const struct perf_sample_id *sid, uint32_t pid, uint32_t tid,
			    const uint64_t *links, uint64_t nr);
int record_build_cgroup(struct buf *out, const struct event_attr *attr,
			const struct perf_sample_id *sid, uint64_t id, const char *path);
int record_build_ksymbol(struct buf *out, const struct event_attr *attr,
			 const struct perf_sample_id *sid, uint64_t addr, uint32_t len,
			 uint16_t ksym_type, uint16_t flags, const char *name);
int record_build_lost_samples(struct buf *out, const struct event_attr *attr,
			      const struct perf_sample_id *sid, uint64_t lost);
/* read: the struct read_format of attr, as read(2) on the event gave it. */
int record_build_read(struct buf *out, const struct event_attr *attr,
		      const struct perf_sample_id *sid, uint32_t pid, uint32_t tid,
		      struct span read);

#endif
