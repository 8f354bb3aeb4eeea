/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/record_build.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

#define RECORD_BYTES_MAX (PERF_RECORD_MAX_BYTES & ~7) /* the last multiple of 8 in a u16 */

/* ---- header, padding and trailer, common to all ---- */

static size_t
record_build_begin(struct buf *out, uint32_t type, uint16_t misc)
{
	const size_t start = out->len;

	buf_u32(out, type);
	buf_u16(out, misc);
	buf_u16(out, 0); /* record_build_end() knows */
	return start;
}

static void
put_trailer(struct buf *out, const struct event_attr *attr, const struct perf_sample_id *sid)
{
	static const struct perf_sample_id none;
	const uint64_t type = attr->sample_type;

	if (!sid)
		sid = &none;
	if (type & PERF_SAMPLE_TID) {
		buf_u32(out, sid->pid);
		buf_u32(out, sid->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		buf_u64(out, sid->time);
	if (type & PERF_SAMPLE_ID)
		buf_u64(out, sid->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		buf_u64(out, sid->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		buf_u32(out, sid->cpu);
		buf_u32(out, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		buf_u64(out, sid->id);
}

static int
record_build_end(struct buf *out, size_t start, const struct event_attr *attr,
		 const struct perf_sample_id *sid)
{
	const size_t n = out->len - start;

	buf_zero(out, (8 - n % 8) % 8);
	if (attr && event_attr_has(attr, EVENT_ATTR_sample_id_all))
		put_trailer(out, attr, sid);
	if (buf_failed(out)) {
		out->len = start;
		return -FMT_E_NOMEM;
	}
	if (out->len - start > RECORD_BYTES_MAX) {
		out->len = start;
		return -FMT_E_TOO_BIG;
	}
	le16enc(out->p + start + 6, (uint16_t)(out->len - start));
	return 0;
}

/* The last field of a record: cut to what a reader takes, and its NUL. */
static void
put_string(struct buf *out, const char *s)
{
	buf_append(out, s, strnlen(s, PERF_RECORD_STRING_MAX - 1));
	buf_u8(out, 0);
}

/* ---- side-band ---- */

int
record_build_comm(struct buf *out, const struct event_attr *attr, const struct perf_sample_id *sid,
		  uint32_t pid, uint32_t tid, const char *comm, uint16_t misc)
{
	const size_t start = record_build_begin(out, REC_COMM, misc);

	buf_u32(out, pid);
	buf_u32(out, tid);
	put_string(out, comm);
	return record_build_end(out, start, attr, sid);
}

static int
build_task(struct buf *out, enum perf_record_type type, const struct event_attr *attr,
	   const struct perf_sample_id *sid, uint32_t pid, uint32_t ppid, uint32_t tid,
	   uint32_t ptid, uint64_t time, uint16_t misc)
{
	const size_t start = record_build_begin(out, type, misc);

	buf_u32(out, pid);
	buf_u32(out, ppid);
	buf_u32(out, tid);
	buf_u32(out, ptid);
	buf_u64(out, time);
	return record_build_end(out, start, attr, sid);
}

int
record_build_fork(struct buf *out, const struct event_attr *attr, const struct perf_sample_id *sid,
		  uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, uint64_t time,
		  uint16_t misc)
{
	return build_task(out, REC_FORK, attr, sid, pid, ppid, tid, ptid, time, misc);
}

int
record_build_exit(struct buf *out, const struct event_attr *attr, const struct perf_sample_id *sid,
		  uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, uint64_t time)
{
	return build_task(out, REC_EXIT, attr, sid, pid, ppid, tid, ptid, time, 0);
}

static void
put_mmap_head(struct buf *out, const struct perf_mmap *m)
{
	buf_u32(out, m->pid);
	buf_u32(out, m->tid);
	buf_u64(out, m->addr);
	buf_u64(out, m->len);
	buf_u64(out, m->pgoff);
}

int
record_build_mmap2(struct buf *out, const struct event_attr *attr, const struct perf_sample_id *sid,
		   const struct perf_mmap *m, uint16_t misc)
{
	const bool has_id = m->build_id.size > 0;
	size_t start;

	misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (has_id)
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	start = record_build_begin(out, REC_MMAP2, misc);
	put_mmap_head(out, m);
	if (has_id) {
		buf_u8(out, m->build_id.size);
		buf_zero(out, 3);
		buf_append(out, m->build_id.bytes, sizeof(m->build_id.bytes));
	} else {
		buf_u32(out, m->maj);
		buf_u32(out, m->min);
		buf_u64(out, m->ino);
		buf_u64(out, m->ino_generation);
	}
	buf_u32(out, m->prot);
	buf_u32(out, m->flags);
	put_string(out, m->filename);
	return record_build_end(out, start, attr, sid);
}

int
record_build_mmap(struct buf *out, const struct event_attr *attr, const struct perf_sample_id *sid,
		  const struct perf_mmap *m, uint16_t misc)
{
	const size_t start = record_build_begin(out, REC_MMAP, misc);

	put_mmap_head(out, m);
	put_string(out, m->filename);
	return record_build_end(out, start, attr, sid);
}

int
record_build_namespaces(struct buf *out, const struct event_attr *attr,
			const struct perf_sample_id *sid, uint32_t pid, uint32_t tid,
			const uint64_t *links, uint64_t nr)
{
	size_t start;
	uint64_t i;

	if (nr > RECORD_BYTES_MAX / 16)
		return -FMT_E_TOO_BIG;
	start = record_build_begin(out, REC_NAMESPACES, 0);
	buf_u32(out, pid);
	buf_u32(out, tid);
	buf_u64(out, nr);
	for (i = 0; i < nr * 2; i++)
		buf_u64(out, links[i]);
	return record_build_end(out, start, attr, sid);
}

int
record_build_cgroup(struct buf *out, const struct event_attr *attr,
		    const struct perf_sample_id *sid, uint64_t id, const char *path)
{
	const size_t start = record_build_begin(out, REC_CGROUP, 0);

	buf_u64(out, id);
	put_string(out, path);
	return record_build_end(out, start, attr, sid);
}

int
record_build_ksymbol(struct buf *out, const struct event_attr *attr,
		     const struct perf_sample_id *sid, uint64_t addr, uint32_t len,
		     uint16_t ksym_type, uint16_t flags, const char *name)
{
	const size_t start = record_build_begin(out, REC_KSYMBOL, 0);

	buf_u64(out, addr);
	buf_u32(out, len);
	buf_u16(out, ksym_type);
	buf_u16(out, flags);
	put_string(out, name);
	return record_build_end(out, start, attr, sid);
}

int
record_build_lost_samples(struct buf *out, const struct event_attr *attr,
			  const struct perf_sample_id *sid, uint64_t lost)
{
	const size_t start = record_build_begin(out, REC_LOST_SAMPLES, 0);

	buf_u64(out, lost);
	return record_build_end(out, start, attr, sid);
}

int
record_build_read(struct buf *out, const struct event_attr *attr, const struct perf_sample_id *sid,
		  uint32_t pid, uint32_t tid, struct span read)
{
	const size_t start = record_build_begin(out, REC_READ, 0);

	buf_u32(out, pid);
	buf_u32(out, tid);
	buf_append(out, read.p, read.len);
	return record_build_end(out, start, attr, sid);
}
