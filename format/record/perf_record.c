/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/perf_record.h"

#include <stddef.h>

#include "format/bytes/fmt_error.h"
#include "format/record/perf_sample.h"

#define MINORS (1u << 20) /* of a device: the kernel's MINORBITS */

struct record_type {
	const char *name;
	uint16_t min; /* bytes after the header, trailer not counted */
};

static const struct record_type types[REC_KERNEL_MAX] = {
#define PERF_RECORD_ROW(number, name, min) [number] = { #name, min },
#include "format/record/perf_record_tbl.h"
#undef PERF_RECORD_ROW
};

const char *
perf_record_type_name(uint32_t type)
{
	return type < REC_KERNEL_MAX ? types[type].name : NULL;
}

/* ---- the sample_id trailer ---- */

/* Bytes of it that events of this attr append to records other than samples. */
static size_t
perf_sample_id_bytes(const struct event_attr *attr)
{
	if (!event_attr_has(attr, EVENT_ATTR_sample_id_all))
		return 0;
	return 8 * (size_t)__builtin_popcountll(attr->sample_type & SAMPLE_ID_FIELDS);
}

/* t is exactly perf_sample_id_bytes() long: the getters cannot fail. */
static void
get_trailer(struct span t, uint64_t sample_type, struct perf_sample_id *sid)
{
	uint32_t reserved;

	sid->have = sample_type & SAMPLE_ID_FIELDS;
	if (sample_type & PERF_SAMPLE_TID) {
		span_u32(&t, &sid->pid);
		span_u32(&t, &sid->tid);
	}
	if (sample_type & PERF_SAMPLE_TIME)
		span_u64(&t, &sid->time);
	if (sample_type & PERF_SAMPLE_ID)
		span_u64(&t, &sid->id);
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		span_u64(&t, &sid->stream_id);
	if (sample_type & PERF_SAMPLE_CPU) {
		span_u32(&t, &sid->cpu);
		span_u32(&t, &reserved);
	}
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		span_u64(&t, &sid->id);
}

/* ---- the payload of each type; the minimum length has been checked ---- */

/*
 * What rounds a string or bytes up to the next word belongs to them; only what is not
 * the kernel's zeros is left to be carried as trailing.
 */
static void
skip_padding(struct span *s)
{
	size_t n = s->len % 8, i;

	for (i = 0; i < n; i++)
		if (s->p[i])
			return;
	span_skip(s, n);
}

static int
get_string(struct span *s, const char **ret_str)
{
	const size_t len = s->len;

	if (!span_string(s, ret_str))
		return -FMT_E_TRUNCATED;
	if (len - s->len > PERF_RECORD_STRING_MAX)
		return -FMT_E_TOO_BIG;
	skip_padding(s);
	return 0;
}

static bool
get_mmap_head(struct span *s, struct perf_mmap *m)
{
	return span_u32(s, &m->pid) && span_u32(s, &m->tid) && span_u64(s, &m->addr) &&
		span_u64(s, &m->len) && span_u64(s, &m->pgoff);
}

static int
get_mmap(struct span *s, struct perf_record *r)
{
	if (!get_mmap_head(s, &r->mmap))
		return -FMT_E_TRUNCATED;
	return get_string(s, &r->mmap.filename);
}

static int
get_build_id(struct span *s, struct perf_mmap *m)
{
	struct span id;
	uint8_t size;

	if (!span_u8(s, &size) || !span_skip(s, 3) || !span_take(s, BUILDID_MAX, &id))
		return -FMT_E_TRUNCATED;
	if (size > BUILDID_MAX)
		return -FMT_E_CORRUPT;
	m->build_id = buildid_of(BUILDID_GNU, id.p, size);
	return 0;
}

/*
 * Is there a build-id, as the bit says? Linux (6.18 and before) does not take it back for the
 * events after one that asked for build-ids, so that with two recorders at a time one has the
 * bit on records with inodes. When the event did not ask, perf inject may have put a build-id
 * there: then its size is what no device's major number is, or what would be the minor
 * number is none.
 */
static bool
has_build_id(struct span s, const struct perf_record *r)
{
	uint32_t maj, min, size;

	if (!(r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return false;
	if (!r->attr || event_attr_has(r->attr, EVENT_ATTR_build_id))
		return true;
	if (!span_u32(&s, &maj) || !span_u32(&s, &min))
		return true;
	size = maj & 0xff;
	if (size == 0 || size > 20)
		return false;
	/* Behind the end of an id nothing is said. */
	if (size < 4)
		min &= (UINT32_C(1) << 8 * size) - 1;
	return maj == 16 || maj == 20 || min >= MINORS;
}

static int
get_inode(struct span *s, struct perf_mmap *m)
{
	if (!span_u32(s, &m->maj) || !span_u32(s, &m->min) || !span_u64(s, &m->ino) ||
	    !span_u64(s, &m->ino_generation))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_mmap2(struct span *s, struct perf_record *r)
{
	struct perf_mmap *m = &r->mmap;
	int error;

	if (!get_mmap_head(s, m))
		return -FMT_E_TRUNCATED;
	if (has_build_id(*s, r))
		error = get_build_id(s, m);
	else
		error = get_inode(s, m);
	if (error < 0)
		return error;
	if (!span_u32(s, &m->prot) || !span_u32(s, &m->flags))
		return -FMT_E_TRUNCATED;
	return get_string(s, &m->filename);
}

static int
get_lost(struct span *s, struct perf_record *r)
{
	if (!span_u64(s, &r->lost.id) || !span_u64(s, &r->lost.lost))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_lost_samples(struct span *s, struct perf_record *r)
{
	return span_u64(s, &r->lost.lost) ? 0 : -FMT_E_TRUNCATED;
}

static int
get_comm(struct span *s, struct perf_record *r)
{
	if (!span_u32(s, &r->comm.pid) || !span_u32(s, &r->comm.tid))
		return -FMT_E_TRUNCATED;
	return get_string(s, &r->comm.comm);
}

static int
get_task(struct span *s, struct perf_record *r)
{
	if (!span_u32(s, &r->task.pid) || !span_u32(s, &r->task.ppid) ||
	    !span_u32(s, &r->task.tid) || !span_u32(s, &r->task.ptid) ||
	    !span_u64(s, &r->task.time))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_throttle(struct span *s, struct perf_record *r)
{
	if (!span_u64(s, &r->throttle.time) || !span_u64(s, &r->throttle.id) ||
	    !span_u64(s, &r->throttle.stream_id))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_read(struct span *s, struct perf_record *r)
{
	if (!span_u32(s, &r->read.pid) || !span_u32(s, &r->read.tid))
		return -FMT_E_TRUNCATED;
	return perf_read_parse(s, r->attr ? r->attr->read_format : 0, &r->read.read);
}

static int
get_aux(struct span *s, struct perf_record *r)
{
	if (!span_u64(s, &r->aux.offset) || !span_u64(s, &r->aux.size) ||
	    !span_u64(s, &r->aux.flags))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_itrace_start(struct span *s, struct perf_record *r)
{
	if (!span_u32(s, &r->itrace_start.pid) || !span_u32(s, &r->itrace_start.tid))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_switch_cpu_wide(struct span *s, struct perf_record *r)
{
	if (!span_u32(s, &r->context_switch.next_prev_pid) ||
	    !span_u32(s, &r->context_switch.next_prev_tid))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_namespaces(struct span *s, struct perf_record *r)
{
	if (!span_u32(s, &r->namespaces.pid) || !span_u32(s, &r->namespaces.tid) ||
	    !span_u64(s, &r->namespaces.nr) ||
	    !span_take_words(s, r->namespaces.nr, 2, &r->namespaces.links))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_ksymbol(struct span *s, struct perf_record *r)
{
	if (!span_u64(s, &r->ksymbol.addr) || !span_u32(s, &r->ksymbol.len) ||
	    !span_u16(s, &r->ksymbol.ksym_type) || !span_u16(s, &r->ksymbol.flags))
		return -FMT_E_TRUNCATED;
	return get_string(s, &r->ksymbol.name);
}

static int
get_bpf_event(struct span *s, struct perf_record *r)
{
	struct span tag;

	if (!span_u16(s, &r->bpf.type) || !span_u16(s, &r->bpf.flags) || !span_u32(s, &r->bpf.id) ||
	    !span_take(s, sizeof(r->bpf.tag), &tag))
		return -FMT_E_TRUNCATED;
	memcpy(r->bpf.tag, tag.p, sizeof(r->bpf.tag));
	return 0;
}

static int
get_cgroup(struct span *s, struct perf_record *r)
{
	if (!span_u64(s, &r->cgroup.id))
		return -FMT_E_TRUNCATED;
	return get_string(s, &r->cgroup.path);
}

static int
get_text_poke(struct span *s, struct perf_record *r)
{
	uint16_t old_len, new_len;

	if (!span_u64(s, &r->text_poke.addr) || !span_u16(s, &old_len) || !span_u16(s, &new_len) ||
	    !span_take(s, old_len, &r->text_poke.old_bytes) ||
	    !span_take(s, new_len, &r->text_poke.new_bytes))
		return -FMT_E_TRUNCATED;
	skip_padding(s);
	return 0;
}

static int
get_hw_id(struct span *s, struct perf_record *r)
{
	return span_u64(s, &r->hw_id.hw_id) ? 0 : -FMT_E_TRUNCATED;
}

static int
get_deferred(struct span *s, struct perf_record *r)
{
	uint64_t nr;

	if (!span_u64(s, &r->deferred.cookie) || !span_u64(s, &nr) ||
	    !span_take_words(s, nr, 1, &r->deferred.ips))
		return -FMT_E_TRUNCATED;
	return 0;
}

/* A type that is not here (SWITCH) has no fields of its own. */
static int (*const getters[REC_KERNEL_MAX])(struct span *s, struct perf_record *r) = {
	[REC_MMAP] = get_mmap,
	[REC_LOST] = get_lost,
	[REC_COMM] = get_comm,
	[REC_EXIT] = get_task,
	[REC_THROTTLE] = get_throttle,
	[REC_UNTHROTTLE] = get_throttle,
	[REC_FORK] = get_task,
	[REC_READ] = get_read,
	[REC_SAMPLE] = perf_sample_parse,
	[REC_MMAP2] = get_mmap2,
	[REC_AUX] = get_aux,
	[REC_ITRACE_START] = get_itrace_start,
	[REC_LOST_SAMPLES] = get_lost_samples,
	[REC_SWITCH_CPU_WIDE] = get_switch_cpu_wide,
	[REC_NAMESPACES] = get_namespaces,
	[REC_KSYMBOL] = get_ksymbol,
	[REC_BPF_EVENT] = get_bpf_event,
	[REC_CGROUP] = get_cgroup,
	[REC_TEXT_POKE] = get_text_poke,
	[REC_AUX_OUTPUT_HW_ID] = get_hw_id,
	[REC_CALLCHAIN_DEFERRED] = get_deferred,
};

/* ---- the record ---- */

static int
get_header(struct span *s, struct perf_record *r)
{
	const size_t have = s->len;

	if (!span_u32(s, &r->type) || !span_u16(s, &r->misc) || !span_u16(s, &r->size) ||
	    r->size > have)
		return -FMT_E_TRUNCATED;
	if (r->size != have || r->size % 8)
		return -FMT_E_CORRUPT;
	return 0;
}

/*
 * Splits the trailer off the end. A type we do not know may be too short for one, and is
 * carried as it is.
 */
static int
split_trailer(struct span *s, struct perf_record *r)
{
	struct span trailer;
	size_t n;

	if (!r->attr || r->type == REC_SAMPLE || r->type >= REC_USER_FIRST)
		return 0;
	n = perf_sample_id_bytes(r->attr);
	if (n == 0)
		return 0;
	if (!span_take_last(s, n, &trailer))
		return perf_record_type_name(r->type) ? -FMT_E_TRUNCATED : 0;
	get_trailer(trailer, r->attr->sample_type, &r->sid);
	return 0;
}

int
perf_record_parse(struct span record, const struct event_attr *attr, struct perf_record *ret)
{
	struct span s = record;
	int error;

	memset(ret, 0, sizeof(*ret));
	ret->sid.cpu = UINT32_MAX;
	ret->raw = record;
	ret->attr = attr;
	error = get_header(&s, ret);
	if (error < 0)
		return error;
	if (ret->type == REC_SAMPLE && !attr)
		return -FMT_E_UNKNOWN_ID;
	error = split_trailer(&s, ret);
	if (error < 0)
		return error;
	if (ret->type < REC_KERNEL_MAX) {
		if (s.len < types[ret->type].min)
			return -FMT_E_TRUNCATED;
		if (getters[ret->type]) {
			error = getters[ret->type](&s, ret);
			if (error < 0)
				return error;
		}
	}
	ret->trailing = s;
	return 0;
}
