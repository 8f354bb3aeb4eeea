/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/stack_size.h"

#include <stddef.h>
#include <string.h>

#include "format/bytes/time_text.h"
#include "recorder/ground/session_options.h"

#define CUT_SHARE 200 /* more than one walk in so many is cut: copies are to be larger */
#define CUT_SHARE_LARGE                                                                            \
	20	     /* more than one walk in so many is cut: they are to be larger by two sizes */
#define RECENT 400   /* walks that are looked at together */
#define RECENT_CUT 8 /* or as many as have so many cut ones */
#define SPARE_SHARE 400 /* no more than one in so many would be cut: copies are to be smaller */
#define SPARE 1000	/* walks that this is looked at in, at least */
#define SPARE_NS                                                                                   \
	(SECOND_NS * 5) /* and the time, doubled each time that a smaller size was too small */
#define SPARE_DOUBLED 4 /* times at most: more than a minute */

static const uint32_t sizes[STACK_SIZES_NR] = { SESSION_STACK_BYTES_LEAST, 8192, 16384, 32768,
						64512 };

uint32_t
stack_size_within(uint64_t bytes)
{
	size_t i = STACK_SIZES_NR - 1;

	while (i > 0 && sizes[i] > bytes)
		i--;
	return sizes[i];
}

static uint32_t
larger(uint32_t bytes)
{
	size_t i = 0;

	while (i < STACK_SIZES_NR - 1 && sizes[i] <= bytes)
		i++;
	return sizes[i];
}

static void
want(struct stack_size *s, uint32_t bytes)
{
	atomic_store_explicit(&s->wanted, bytes, memory_order_relaxed);
}

static void
begin(struct stack_size *s, uint32_t bytes, uint64_t now_ns)
{
	s->too_small += s->counted && bytes > s->counted && s->too_small < SPARE_DOUBLED;
	s->counted = bytes;
	s->from_ns = now_ns;
	s->recent = s->recent_cut = s->all = 0;
	memset(s->fit, 0, sizeof(s->fit));
}

/* Too many of the recent ones were cut. */
static void
look_up(struct stack_size *s)
{
	if (s->recent < RECENT && s->recent_cut < RECENT_CUT)
		return;
	if (s->recent_cut * CUT_SHARE_LARGE > s->recent)
		want(s, larger(larger(s->counted)));
	else if (s->recent_cut * CUT_SHARE > s->recent)
		want(s, larger(s->counted));
	s->recent = s->recent_cut = 0;
}

/* Nearly all for a long time would have done with less. */
static void
look_down(struct stack_size *s, uint64_t now_ns)
{
	uint64_t fit = 0;

	if (s->all < SPARE || now_ns - s->from_ns < (uint64_t)SPARE_NS << s->too_small)
		return;
	for (size_t i = 0; i < STACK_SIZES_NR && sizes[i] < s->counted; i++) {
		fit += s->fit[i];
		if ((s->all - fit) * SPARE_SHARE <= s->all) {
			want(s, sizes[i]);
			return;
		}
	}
	begin(s, s->counted, now_ns);
}

/* The kernel copies less than the largest size where a record would be too long. */
static bool
is_largest(uint32_t bytes, uint32_t asked)
{
	return bytes == sizes[STACK_SIZES_NR - 1] && asked < bytes &&
		asked > sizes[STACK_SIZES_NR - 2];
}

void
stack_size_count(struct stack_size *s, uint32_t asked, uint32_t used, bool cut, uint64_t now_ns)
{
	const uint32_t bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed);

	if (!bytes)
		return;
	if (bytes != s->counted)
		begin(s, bytes, now_ns);
	if (cut && asked != bytes && !is_largest(bytes, asked))
		return;
	s->recent++;
	s->recent_cut += cut;
	s->all++;
	for (size_t i = 0; !cut && i < STACK_SIZES_NR; i++)
		if (used <= sizes[i]) {
			s->fit[i]++;
			break;
		}
	look_up(s);
	look_down(s, now_ns);
}
