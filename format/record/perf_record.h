/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_record: one PERF_RECORD_* of the kernel, taken apart.
 *
 * Parsing needs the attr of the event that wrote the record; event_set finds it by id.
 * Everything in a parsed record points into the bytes it was parsed from and lives as
 * long as they do. Unknown types, unknown misc bits and bytes after the last known field
 * are carried in .trailing, never refused; a length that does not fit is.
 * Source: include/uapi/linux/perf_event.h, enum perf_event_type and kernel/events/core.c
 * (perf_output_sample, perf_output_read, __perf_event__output_id_sample).
 */
#ifndef FORMAT_RECORD_PERF_RECORD_H
#define FORMAT_RECORD_PERF_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"
#include "format/record/event_attr.h"

#define PERF_RECORD_HEADER_BYTES 8
#define PERF_RECORD_MAX_BYTES 65535 /* header.size is a u16 */
/*
 * Of a path or name, its NUL included: PATH_MAX, by which the kernel bounds paths of files and of
 * control groups; KSYM_NAME_LEN and TASK_COMM_LEN are less. A record with a longer one is not the kernel's.
 */
#define PERF_RECORD_STRING_MAX 4096

enum perf_record_type {
#define PERF_RECORD_ROW(number, name) REC_##name = number,
#include "format/record/perf_record_tbl.h"
#undef PERF_RECORD_ROW
	REC_KERNEL_MAX,	     /* first type that is not a kernel record we know */
	REC_USER_FIRST = 64, /* tool-made records of perf.data begin here */
};

/* The trailer of records other than SAMPLE; of a SAMPLE its own fields, for uniformity. */
struct perf_sample_id {
	uint64_t have; /* PERF_SAMPLE_* bits of the fields below that are real */
	uint32_t pid, tid;
	uint64_t time; /* ns of the event's clock; 0 when there is none */
	uint64_t id;   /* from IDENTIFIER or ID */
	uint64_t stream_id;
	uint32_t cpu; /* UINT32_MAX when there is none */
};

struct perf_read_value {
	uint64_t value;
	uint64_t id;   /* 0 without PERF_FORMAT_ID */
	uint64_t lost; /* 0 without PERF_FORMAT_LOST */
};

/* struct read_format in all shapes. */
struct perf_read {
	uint64_t format;       /* attr.read_format that shaped it */
	uint64_t nr;	       /* values; 1 without PERF_FORMAT_GROUP */
	uint64_t time_enabled; /* 0 when the format has none */
	uint64_t time_running;
	struct span values; /* see perf_read_at(); without GROUP the whole struct */
};

struct perf_regs {
	uint64_t abi;  /* 0: none, and then no words follow */
	uint64_t mask; /* attr.sample_regs_*; bit n set: register n is there */
	struct span words;
};

struct perf_branch {
	uint64_t from, to, flags;
};

struct perf_sample {
	uint64_t have; /* attr.sample_type */
	uint64_t ip, addr, period;
	struct perf_read read;
	struct span callchain; /* words, context markers included */
	struct span raw;       /* without its size word */
	struct {
		uint64_t nr;
		bool has_hw_idx;
		uint64_t hw_idx;
		struct span entries;  /* nr x 3 words; see perf_branch_at() */
		struct span counters; /* nr words, or empty */
	} branch;
	struct perf_regs regs_user;
	struct span stack_user;	      /* as copied; only dyn_size bytes of it mean anything */
	uint64_t stack_user_dyn_size; /* <= stack_user.len */
	struct span user_copy; /* the bytes of REGS_USER and STACK_USER, which stand together */
	uint64_t weight;       /* WEIGHT, or WEIGHT_STRUCT as u32|u16<<32|u16<<48 */
	uint64_t data_src, transaction;
	struct perf_regs regs_intr;
	uint64_t phys_addr, cgroup, data_page_size, code_page_size;
	struct span aux;
};

struct perf_mmap {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	/* MMAP2 only: */
	uint32_t maj, min; /* absent (0) where there is a build-id: the kernel overlays them */
	uint64_t ino, ino_generation;
	struct buildid build_id;
	uint32_t prot, flags;
	const char *filename;
};

struct perf_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	struct span raw; /* the whole record, header included */
	uint16_t filled; /* bytes of raw: without what perf_record_filled() leaves out */
	const struct event_attr *attr; /* NULL when parsed without one */
	struct perf_sample_id sid;
	struct span trailing; /* bytes between the last known field and the trailer */
	union {
		struct perf_sample sample;
		struct perf_mmap mmap; /* MMAP and MMAP2 */
		struct {
			uint64_t id, lost;
		} lost; /* LOST; LOST_SAMPLES has id 0 */
		struct {
			uint32_t pid, tid;
			const char *comm;
		} comm;
		struct {
			uint32_t pid, ppid, tid, ptid;
			uint64_t time;
		} task; /* FORK, EXIT */
		struct {
			uint64_t time, id, stream_id;
		} throttle; /* THROTTLE, UNTHROTTLE */
		struct {
			uint32_t pid, tid;
			struct perf_read read;
		} read;
		struct {
			uint64_t offset, size, flags;
		} aux;
		struct {
			uint32_t pid, tid;
		} itrace_start;
		struct {
			uint32_t next_prev_pid, next_prev_tid;
		} context_switch; /* SWITCH_CPU_WIDE; zero for SWITCH */
		struct {
			uint32_t pid, tid;
			uint64_t nr;
			struct span links; /* nr x {dev, inode} words */
		} namespaces;
		struct {
			uint64_t addr;
			uint32_t len;
			uint16_t ksym_type, flags;
			const char *name;
		} ksymbol;
		struct {
			uint16_t type, flags;
			uint32_t id;
			uint8_t tag[8];
		} bpf;
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t addr;
			struct span old_bytes, new_bytes;
		} text_poke;
		struct {
			uint64_t hw_id;
		} hw_id;
		struct {
			uint64_t cookie;
			struct span ips; /* words */
		} deferred;
	};
};

/* "SAMPLE", "MMAP2"...; NULL for a type that is not in the table. */
const char *perf_record_type_name(uint32_t type);

enum perf_field_style {
	PERF_FIELD_DECIMAL,
	PERF_FIELD_HEX,
	PERF_FIELD_PID, /* -1: no such task */
	PERF_FIELD_STRING,
};

/* A member of struct perf_record: an unsigned integer, or a const char * (PERF_FIELD_STRING). */
struct perf_field {
	const char *name;
	enum perf_field_style style;
	uint16_t offset, bytes;
};

/*
 * What records of a type other than SAMPLE begin with, in the kernel's order, ended by one without a
 * name. The fields that vary in shape come after them.
 */
const struct perf_field *perf_record_fields(uint32_t type);

/*
 * Takes the next whole record off the front of s, by its header alone. Returns 1, 0 at the
 * end of s, -FMT_E_CORRUPT when header.size is under 8, not a multiple of 8 or more than s
 * has (then nothing more can be taken from s: where the next one starts is unknown).
 */
static inline int
perf_record_next(struct span *s, struct span *ret_record)
{
	size_t size;

	if (s->len == 0)
		return 0;
	if (s->len < PERF_RECORD_HEADER_BYTES)
		return -FMT_E_CORRUPT;
	size = le16dec(s->p + 6);
	if (size < PERF_RECORD_HEADER_BYTES || size % 8 || !span_take(s, size, ret_record))
		return -FMT_E_CORRUPT;
	return 1;
}

/* Bytes of the trailer that events of this attr append to records other than samples. */
size_t perf_sample_id_bytes(const struct event_attr *attr);

/*
 * How many bytes of a record, with a trailer of so many right behind the last field, the kernel can have written: all,
 * or fewer. Where several events want one KSYMBOL, BPF_EVENT or TEXT_POKE, of whichever recorders,
 * each gets a header that is longer by the trailers of those before it, and behind its own trailer
 * what the ring had there before (Linux 6.18: perf_event_ksymbol_output(), perf_event_bpf_output(),
 * perf_event_text_poke_output() do not restore header.size, as those of other types do).
 */
size_t perf_record_filled(struct span record, size_t trailer);

/*
 * Parses one whole record (a span from perf_record_next()) by attr. attr may be NULL: then
 * a SAMPLE is refused and other types are taken to have no trailer.
 * Returns 0, -FMT_E_TRUNCATED (a field does not fit), -FMT_E_CORRUPT (lengths contradict
 * each other), -FMT_E_UNSUPPORTED (a read_format bit that is not known: what follows cannot
 * be found), -FMT_E_UNKNOWN_ID (a SAMPLE without attr). On error *ret holds nothing of use.
 */
int perf_record_parse(struct span record, const struct event_attr *attr, struct perf_record *ret);
/* Likewise of its first bytes, as many as are filled: the rest is not looked at. */
int perf_record_parse_filled(struct span record, size_t filled, const struct event_attr *attr,
			     struct perf_record *ret);

/* Entry i < read->nr of a parsed perf_read. */
struct perf_read_value perf_read_at(const struct perf_read *read, uint64_t i);

/*
 * Parses the struct read_format that read(2) on an event's descriptor returned and moves s
 * past it. -FMT_E_TRUNCATED, -FMT_E_UNSUPPORTED.
 */
int perf_read_parse(struct span *s, uint64_t read_format, struct perf_read *ret);

/* Branch i < nr. */
struct perf_branch perf_branch_at(const struct perf_sample *sample, uint64_t i);

/* Does it tell that a thread left its CPU, or is back? */
static inline bool
perf_record_is_switch(uint32_t type)
{
	return type == REC_SWITCH || type == REC_SWITCH_CPU_WIDE;
}

/*
 * A recorder's own KSYMBOL: the module "[name]" is gone from the range. The kernel's are of code that it made, and
 * no such name begins with a bracket.
 */
static inline bool
perf_record_ends_module(const struct perf_record *r)
{
	return r->type == REC_KSYMBOL && (r->ksymbol.flags & 1) /* unregistered */ &&
		r->ksymbol.name[0] == '[';
}

/* Is this callchain word a PERF_CONTEXT_* marker rather than an address? */
static inline bool
perf_context_marker(uint64_t word)
{
	return word >= (uint64_t)-4095;
}

#endif
