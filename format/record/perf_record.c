/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/perf_record.h"

#include <stddef.h>

#include "format/bytes/fmt_error.h"
#include "format/record/perf_sample.h"

#define MINORS (1u << 20) /* of a device: the kernel's MINORBITS */

static const char *const names[REC_KERNEL_MAX] = {
#define PERF_RECORD_ROW(number, name) [number] = #name,
#include "format/record/perf_record_tbl.h"
#undef PERF_RECORD_ROW
};

const char *
perf_record_type_name(uint32_t type)
{
	return type < REC_KERNEL_MAX ? names[type] : NULL;
}

/* ---- the sample_id trailer ---- */

size_t
perf_sample_id_bytes(const struct event_attr *attr)
{
	if (!event_attr_has(attr, EVENT_ATTR_sample_id_all))
		return 0;
	return 8 * (size_t)__builtin_popcountll(attr->sample_type & SAMPLE_ID_FIELDS);
}

/* The fields of a type whose header may be too long; 0: of another type, or not to be told. */
static size_t
body_bytes(struct span s, uint32_t type)
{
	uint16_t old_len, new_len;
	const char *name;
	struct span from;

	span_skip(&s, PERF_RECORD_HEADER_BYTES);
	from = s;
	switch (type) {
	case REC_KSYMBOL:
		return span_skip(&s, 16) && span_string(&s, &name) ? from.len - s.len : 0;
	case REC_BPF_EVENT:
		return 16;
	case REC_TEXT_POKE:
		if (span_skip(&s, 8) && span_u16(&s, &old_len) && span_u16(&s, &new_len))
			return 12 + (size_t)old_len + new_len;
	}
	return 0;
}

size_t
perf_record_filled(struct span record, size_t trailer)
{
	size_t body = 0, filled;

	if (record.len >= PERF_RECORD_HEADER_BYTES)
		body = body_bytes(record, le32dec(record.p));
	filled = PERF_RECORD_HEADER_BYTES + (body + 7) / 8 * 8 + trailer;
	return body && filled < record.len ? filled : record.len;
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

/* ---- the payload of each type ---- */

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
	int error = has_build_id(*s, r) ? get_build_id(s, m) : get_inode(s, m);

	if (error < 0)
		return error;
	if (!span_u32(s, &m->prot) || !span_u32(s, &m->flags))
		return -FMT_E_TRUNCATED;
	return get_string(s, &m->filename);
}

static int
get_read(struct span *s, struct perf_record *r)
{
	return perf_read_parse(s, r->attr ? r->attr->read_format : 0, &r->read.read);
}

static int
get_namespaces(struct span *s, struct perf_record *r)
{
	if (!span_u64(s, &r->namespaces.nr) ||
	    !span_take_words(s, r->namespaces.nr, 2, &r->namespaces.links))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_bpf_tag(struct span *s, struct perf_record *r)
{
	struct span tag;

	if (!span_take(s, sizeof(r->bpf.tag), &tag))
		return -FMT_E_TRUNCATED;
	memcpy(r->bpf.tag, tag.p, sizeof(r->bpf.tag));
	return 0;
}

static int
get_text_poke(struct span *s, struct perf_record *r)
{
	uint16_t old_len, new_len;

	if (!span_u16(s, &old_len) || !span_u16(s, &new_len) ||
	    !span_take(s, old_len, &r->text_poke.old_bytes) ||
	    !span_take(s, new_len, &r->text_poke.new_bytes))
		return -FMT_E_TRUNCATED;
	skip_padding(s);
	return 0;
}

static int
get_deferred(struct span *s, struct perf_record *r)
{
	uint64_t nr;

	if (!span_u64(s, &nr) || !span_take_words(s, nr, 1, &r->deferred.ips))
		return -FMT_E_TRUNCATED;
	return 0;
}

#define FIELD(name, member, style)                                                                 \
	{                                                                                          \
		(name), (style), offsetof(struct perf_record, member),                             \
			sizeof(((struct perf_record *)NULL)->member)                               \
	}
#define DEC(name, member) FIELD(name, member, PERF_FIELD_DECIMAL)
#define HEX(name, member) FIELD(name, member, PERF_FIELD_HEX)
#define PID(name, member) FIELD(name, member, PERF_FIELD_PID)
#define STRING(name, member) FIELD(name, member, PERF_FIELD_STRING)

/* Both kinds of maps begin so. */
#define MMAP_HEAD                                                                                  \
	PID("pid", mmap.pid), PID("tid", mmap.tid), HEX("addr", mmap.addr), HEX("len", mmap.len),  \
		HEX("pgoff", mmap.pgoff)
#define TASK_FIELDS                                                                                \
	PID("pid", task.pid), PID("ppid", task.ppid), PID("tid", task.tid),                        \
		PID("ptid", task.ptid), DEC("time", task.time)
#define THROTTLE_FIELDS                                                                            \
	DEC("time", throttle.time), DEC("throttle_id", throttle.id),                               \
		DEC("throttle_stream_id", throttle.stream_id)

/* A type that is not here (SWITCH) has no fields of its own. */
static const struct {
	struct perf_field fields[7];			    /* ended by one without a name */
	int (*rest)(struct span *s, struct perf_record *r); /* NULL: nothing */
} layouts[REC_KERNEL_MAX] = {
	[REC_MMAP] = { .fields = { MMAP_HEAD, STRING("filename", mmap.filename) } },
	[REC_LOST] = { .fields = { DEC("lost_id", lost.id), DEC("lost", lost.lost) } },
	[REC_COMM] = { .fields = { PID("pid", comm.pid), PID("tid", comm.tid),
				   STRING("comm", comm.comm) } },
	[REC_EXIT] = { .fields = { TASK_FIELDS } },
	[REC_THROTTLE] = { .fields = { THROTTLE_FIELDS } },
	[REC_UNTHROTTLE] = { .fields = { THROTTLE_FIELDS } },
	[REC_FORK] = { .fields = { TASK_FIELDS } },
	[REC_READ] = { { PID("pid", read.pid), PID("tid", read.tid) }, get_read },
	[REC_SAMPLE] = { .rest = perf_sample_parse },
	[REC_MMAP2] = { { MMAP_HEAD }, get_mmap2 },
	[REC_AUX] = { .fields = { HEX("aux_offset", aux.offset), HEX("aux_size", aux.size),
				  HEX("flags", aux.flags) } },
	[REC_ITRACE_START] = { .fields = { PID("pid", itrace_start.pid),
					   PID("tid", itrace_start.tid) } },
	[REC_LOST_SAMPLES] = { .fields = { DEC("lost", lost.lost) } },
	[REC_SWITCH_CPU_WIDE] = { .fields = { PID("next_prev_pid", context_switch.next_prev_pid),
					      PID("next_prev_tid", context_switch.next_prev_tid) } },
	[REC_NAMESPACES] = { { PID("pid", namespaces.pid), PID("tid", namespaces.tid) },
			     get_namespaces },
	[REC_KSYMBOL] = { .fields = { HEX("addr", ksymbol.addr), HEX("len", ksymbol.len),
				      DEC("ksym_type", ksymbol.ksym_type),
				      HEX("flags", ksymbol.flags), STRING("name", ksymbol.name) } },
	[REC_BPF_EVENT] = { { DEC("bpf_type", bpf.type), HEX("flags", bpf.flags),
			      DEC("prog_id", bpf.id) },
			    get_bpf_tag },
	[REC_CGROUP] = { .fields = { DEC("cgroup_id", cgroup.id), STRING("path", cgroup.path) } },
	[REC_TEXT_POKE] = { { HEX("addr", text_poke.addr) }, get_text_poke },
	[REC_AUX_OUTPUT_HW_ID] = { .fields = { HEX("hw_id", hw_id.hw_id) } },
	[REC_CALLCHAIN_DEFERRED] = { { HEX("cookie", deferred.cookie) }, get_deferred },
};

const struct perf_field *
perf_record_fields(uint32_t type)
{
	/* There is no type 0. */
	return layouts[type < REC_KERNEL_MAX ? type : 0].fields;
}

static int
get_field(struct span *s, const struct perf_field *f, struct perf_record *r)
{
	void *member = (uint8_t *)r + f->offset;
	bool good;

	if (f->style == PERF_FIELD_STRING)
		return get_string(s, member);
	if (f->bytes == sizeof(uint64_t))
		good = span_u64(s, member);
	else if (f->bytes == sizeof(uint32_t))
		good = span_u32(s, member);
	else
		good = span_u16(s, member);
	return good ? 0 : -FMT_E_TRUNCATED;
}

static int
get_payload(struct span *s, struct perf_record *r)
{
	int error = 0;

	for (const struct perf_field *f = perf_record_fields(r->type); f->name && !error; f++)
		error = get_field(s, f, r);
	if (!error && r->type < REC_KERNEL_MAX && layouts[r->type].rest)
		error = layouts[r->type].rest(s, r);
	return error;
}

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
	return perf_record_parse_filled(record, record.len, attr, ret);
}

int
perf_record_parse_filled(struct span record, size_t filled, const struct event_attr *attr,
			 struct perf_record *ret)
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
	s.len -= record.len - filled;
	ret->filled = (uint16_t)filled;
	if (ret->type == REC_SAMPLE && !attr)
		return -FMT_E_UNKNOWN_ID;
	error = split_trailer(&s, ret);
	if (error < 0)
		return error;
	error = get_payload(&s, ret);
	if (error < 0)
		return error;
	ret->trailing = s;
	return 0;
}
