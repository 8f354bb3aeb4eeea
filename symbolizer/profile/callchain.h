/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callchain: the addresses of a sample, the sampled place first and then its callers, each with
 * the world that it is of.
 */
#ifndef SYMBOLIZER_PROFILE_CALLCHAIN_H
#define SYMBOLIZER_PROFILE_CALLCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/recording/record_stream.h"
#include "symbolizer/unwind/unwind.h"

/* PERF_RECORD_MISC_CPUMODE_MASK's values, which callchain markers switch between. */
enum callchain_mode {
	CALLCHAIN_UNKNOWN,
	CALLCHAIN_KERNEL,
	CALLCHAIN_USER,
	CALLCHAIN_HYPERVISOR,
	CALLCHAIN_GUEST_KERNEL,
	CALLCHAIN_GUEST_USER,
};

/* Of a guest's, too. */
static inline bool
callchain_mode_is_kernel(enum callchain_mode mode)
{
	return mode == CALLCHAIN_KERNEL || mode == CALLCHAIN_HYPERVISOR ||
		mode == CALLCHAIN_GUEST_KERNEL;
}

struct callchain_address {
	enum callchain_mode mode;
	bool is_return; /* ip follows a call */
	uint64_t ip;
	uint32_t frame; /* its number in the block */
};
#define CALLCHAIN_NO_FRAME UINT32_MAX /* it came in a record */

/* The page of x86-64 that is the user's, in the upper half: the kernel, and thus every process, has it there. */
#define CALLCHAIN_VSYSCALL UINT64_C(0xffffffffff600000)
#define CALLCHAIN_VSYSCALL_END (CALLCHAIN_VSYSCALL + 4096)
/* Whose an address is that comes without a mode: the kernel has the upper half. */
enum callchain_mode callchain_mode_of(uint64_t ip);

/* What a sample tells of its stack, from a record or from columns. */
struct callchain_words {
	uint16_t misc; /* of the record's header */
	bool has_ip;
	uint64_t ip;
	uint32_t ip_frame;
	size_t nr;		/* words, context markers included */
	struct span words;	/* they, unless index is set: */
	const uint32_t *index;	/* then frames[index[i]] */
	const uint64_t *frames; /* of the whole block */
	/* The user's part when it was unwound from a copy: its first frame is where the user was. */
	const struct unwind_frame *user;
	size_t nr_user;
	/*
	 * Or as the CPU kept it (LBR), where the event asked for call stacks: words of entries, from, to and
	 * flags, the innermost call first. It takes the place of what the chain has of the user.
	 */
	struct span calls;
	size_t nr_calls;
};

/* Of a SAMPLE, which has to outlive it. */
void callchain_of_record(const struct perf_record *r, struct callchain_words *ret);
/* Of a sample of columns, likewise. */
void callchain_of_columns(const struct columns_view *view, uint32_t source, uint32_t stack,
			  struct callchain_words *ret);

/*
 * Where the words of a chain have the marker of a user's part that comes later, behind which stands its
 * cookie (deferred_chains.h); false: nowhere.
 */
bool callchain_cookie(struct span words, size_t *ret_at);

/* Is there a user's part among the words? */
bool callchain_has_user(const struct callchain_words *words);

struct callchain {
	const struct callchain_words *words;
	size_t next, next_user;
	enum callchain_mode leaf_mode, mode;
	bool first, leaf_seen;
	bool last;  /* no other context follows this one */
	bool calls; /* the rest is what the CPU kept */
};

/* words is borrowed. *ret is the sampled place; there is always one. */
void callchain_begin(struct callchain *c, const struct callchain_words *words,
		     struct callchain_address *ret);
/* The next caller; false: there is none. */
bool callchain_next(struct callchain *c, struct callchain_address *ret);

#endif
