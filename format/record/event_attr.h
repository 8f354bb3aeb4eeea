/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_attr: what a perf_event_attr says about the shape of the records of its event.
 *
 * A plain value decoded from the attr's bytes (any published size, 64 and up; fields past
 * attr.size are 0, bytes past what we know are carried), and back to those bytes.
 * Source: include/uapi/linux/perf_event.h, struct perf_event_attr.
 */
#ifndef FORMAT_RECORD_EVENT_ATTR_H
#define FORMAT_RECORD_EVENT_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/span.h"

#define EVENT_ATTR_SIZE_MIN 64	  /* PERF_ATTR_SIZE_VER0 */
#define EVENT_ATTR_SIZE_MAX 4096  /* the kernel refuses more than a page */
#define EVENT_ATTR_SIZE_KNOWN 144 /* up to config4 (Linux 6.17) */

/* Flag bits of the u64 after read_format; the uapi header calls them by bit-field. */
#define EVENT_ATTR_FLAGS(X)                                                                        \
	X(0, disabled)                                                                             \
	X(1, inherit)                                                                              \
	X(2, pinned)                                                                               \
	X(3, exclusive)                                                                            \
	X(4, exclude_user)                                                                         \
	X(5, exclude_kernel)                                                                       \
	X(6, exclude_hv)                                                                           \
	X(7, exclude_idle)                                                                         \
	X(8, mmap)                                                                                 \
	X(9, comm)                                                                                 \
	X(10, freq)                                                                                \
	X(11, inherit_stat)                                                                        \
	X(12, enable_on_exec)                                                                      \
	X(13, task)                                                                                \
	X(14, watermark)                                                                           \
	X(17, mmap_data)                                                                           \
	X(18, sample_id_all)                                                                       \
	X(19, exclude_host)                                                                        \
	X(20, exclude_guest)                                                                       \
	X(21, exclude_callchain_kernel)                                                            \
	X(22, exclude_callchain_user)                                                              \
	X(23, mmap2)                                                                               \
	X(24, comm_exec)                                                                           \
	X(25, use_clockid)                                                                         \
	X(26, context_switch)                                                                      \
	X(27, write_backward)                                                                      \
	X(28, namespaces)                                                                          \
	X(29, ksymbol)                                                                             \
	X(30, bpf_event)                                                                           \
	X(31, aux_output)                                                                          \
	X(32, cgroup)                                                                              \
	X(33, text_poke)                                                                           \
	X(34, build_id)                                                                            \
	X(35, inherit_thread)                                                                      \
	X(36, remove_on_exec)                                                                      \
	X(37, sigtrap)                                                                             \
	X(38, defer_callchain)                                                                     \
	X(39, defer_output)

enum event_attr_flag {
#define X(bit, name) EVENT_ATTR_##name = bit,
	EVENT_ATTR_FLAGS(X)
#undef X
};

struct event_attr {
	uint32_t type;
	uint32_t size; /* of the encoded attr; 0 in the bytes means 64 */
	uint64_t config;
	uint64_t sample_period; /* or frequency in Hz, when flag freq is set */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;	 /* see EVENT_ATTR_FLAGS; bits 15-16 are precise_ip */
	uint32_t wakeup; /* events, or bytes when flag watermark is set */
	uint32_t bp_type;
	uint64_t config1;
	uint64_t config2;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t reserved2;
	uint32_t aux_sample_size;
	uint32_t aux_action;
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};

static inline bool
event_attr_has(const struct event_attr *a, enum event_attr_flag flag)
{
	return (a->flags >> flag) & 1;
}

/* The period of a sample that has none of its own: by frequency it is not known, and 1. */
static inline uint64_t
event_attr_period(const struct event_attr *a)
{
	return event_attr_has(a, EVENT_ATTR_freq) ? 1 : a->sample_period;
}

/*
 * Reads one attr from the front of s and moves s past attr.size bytes. Bytes beyond
 * EVENT_ATTR_SIZE_KNOWN are skipped (who must keep them keeps the raw bytes).
 * -FMT_E_TRUNCATED, -FMT_E_CORRUPT (size under 64, over 4096 or not a multiple of 8).
 */
int event_attr_parse(struct span *s, struct event_attr *ret);

/*
 * Writes a->size bytes (64..EVENT_ATTR_SIZE_KNOWN, zero-padded beyond) to out, which has
 * room for cap bytes. Returns the number of bytes, or -FMT_E_TOO_BIG.
 */
int event_attr_encode(const struct event_attr *a, uint8_t *out, size_t cap);

#endif
