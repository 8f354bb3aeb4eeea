/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_attr: what a perf_event_attr says about the shape of the records of its event.
 *
 * A plain value, of the fields that tell it, decoded from the attr's bytes (any published size, 64
 * and up; fields past attr.size are 0). Who must keep an attr keeps its bytes.
 * Source: include/uapi/linux/perf_event.h, struct perf_event_attr.
 */
#ifndef FORMAT_RECORD_EVENT_ATTR_H
#define FORMAT_RECORD_EVENT_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/span.h"

#define EVENT_ATTR_SIZE_MIN 64	 /* PERF_ATTR_SIZE_VER0 */
#define EVENT_ATTR_SIZE_MAX 4096 /* the kernel refuses more than a page */

/* Bits of the u64 after read_format; the uapi header calls them by bit-field. */
enum event_attr_flag {
	EVENT_ATTR_disabled = 0,
	EVENT_ATTR_inherit = 1,
	EVENT_ATTR_exclude_user = 4,
	EVENT_ATTR_exclude_kernel = 5,
	EVENT_ATTR_exclude_hv = 6,
	EVENT_ATTR_exclude_idle = 7,
	EVENT_ATTR_mmap = 8,
	EVENT_ATTR_comm = 9,
	EVENT_ATTR_freq = 10,
	EVENT_ATTR_inherit_stat = 11,
	EVENT_ATTR_task = 13,
	EVENT_ATTR_sample_id_all = 18,
	EVENT_ATTR_exclude_host = 19,
	EVENT_ATTR_exclude_guest = 20,
	EVENT_ATTR_mmap2 = 23,
	EVENT_ATTR_comm_exec = 24,
	EVENT_ATTR_use_clockid = 25,
	EVENT_ATTR_context_switch = 26,
	EVENT_ATTR_namespaces = 28,
	EVENT_ATTR_ksymbol = 29,
	EVENT_ATTR_bpf_event = 30,
	EVENT_ATTR_cgroup = 32,
	EVENT_ATTR_text_poke = 33,
	EVENT_ATTR_build_id = 34,
	EVENT_ATTR_defer_callchain = 38,
};

struct event_attr {
	uint32_t type;
	uint32_t size; /* of the encoded attr; 0 in the bytes means 64 */
	uint64_t config;
	uint64_t sample_period; /* or frequency in Hz, when flag freq is set */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* see event_attr_flag; bits 15-16 are precise_ip */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint16_t sample_max_stack; /* frames of a call chain; 0: the kernel's limit */
};

static inline bool
event_attr_has(const struct event_attr *a, enum event_attr_flag flag)
{
	return (a->flags >> flag) & 1;
}

/*
 * Of software events that count something, the kernel makes samples for all at once, see event_set_of_sample(): clocks
 * have a timer each, and the dummy never has a sample.
 */
bool event_attr_is_shared(uint32_t type, uint64_t config);
/* Is it a clock, cpu-clock or task-clock? Then the period of a sample is ns. */
bool event_attr_counts_time(uint32_t type, uint64_t config);

/* The period of a sample that has none of its own: by frequency it is not known, and 1. */
static inline uint64_t
event_attr_period(const struct event_attr *a)
{
	return event_attr_has(a, EVENT_ATTR_freq) ? 1 : a->sample_period;
}

/*
 * Reads one attr from the front of s and moves s past attr.size bytes.
 * -FMT_E_TRUNCATED, -FMT_E_CORRUPT (size under 64, over 4096 or not a multiple of 8).
 */
int event_attr_parse(struct span *s, struct event_attr *ret);

#endif
