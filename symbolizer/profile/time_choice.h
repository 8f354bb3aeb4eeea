/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_choice: the times of which samples are asked for: --since, --until and --last by the time of
 * day, --time as perf has it.
 */
#ifndef SYMBOLIZER_PROFILE_TIME_CHOICE_H
#define SYMBOLIZER_PROFILE_TIME_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/block/recording_meta.h"
#include "format/recording/record_stream.h"

#define TIME_CHOICE_SLICES_MAX 1024

/* One end of a slice. */
struct time_edge {
	enum { TIME_EDGE_NONE, TIME_EDGE_NS, TIME_EDGE_PART, TIME_EDGE_WALL } kind;
	uint64_t ns; /* by the recording's clock; of TIME_EDGE_WALL since 1970 */
	double part; /* of the whole, 0 to 1 */
};

struct time_slice {
	struct time_edge from, until;
};

struct time_choice {
	int64_t now_ns;			      /* since 1970 */
	bool live;			      /* the recordings are still being written */
	uint64_t since_ns, until_ns, last_ns; /* of --since, --until and --last; 0, UINT64_MAX, 0 */
	uint64_t tail_from_ns; /* of --last, once it is known, by the recording's clock */
	struct time_slice *slices;
	size_t n;
	struct stream_slice
		*within; /* them by the clock of the recording that was asked about last */
};

void time_choice_init(struct time_choice *t, int64_t now_ns);
void time_choice_done(struct time_choice *t);
/* *to is a new one. 0, -FMT_E_NOMEM. */
int time_choice_copy(struct time_choice *to, const struct time_choice *from);

/*
 * Takes --time: "A,B", "A,", ",B" or "A" in seconds of the recording's clock, several with blanks
 * between them; or "10%" (the first), "10%-20%", "10%/2" (the second tenth), several with commas.
 * An end belongs to its slice, as in perf. Given again it adds. 0, or -1 with a message (static).
 */
int time_choice_slices(struct time_choice *t, const char *arg, const char **reterr);
/* A time of day; a span, that ends with the recording, or now if it is still being written. */
int time_choice_since(struct time_choice *t, const char *arg, const char **reterr);
int time_choice_until(struct time_choice *t, const char *arg, const char **reterr);
int time_choice_last(struct time_choice *t, const char *arg, const char **reterr);

/* Nothing before since, and nothing from until on, whatever is said; ns since 1970. */
void time_choice_clip(struct time_choice *t, uint64_t since_ns, uint64_t until_ns);

/* Do --since and --until leave anything? */
bool time_choice_possible(const struct time_choice *t);
/* Is the range of all samples to be told before it is asked about windows? */
bool time_choice_needs_range(const struct time_choice *t);
/* The first and the last sample: of one recording by its own clock, of an archive since 1970 (wall). */
void time_choice_range(struct time_choice *t, bool wall, uint64_t first_ns, uint64_t last_ns);

/* The window in ns since 1970, as far as it is said in that: 0 and UINT64_MAX when it is not. */
void time_choice_wall(const struct time_choice *t, uint64_t *ret_from, uint64_t *ret_until);
/*
 * The window [from, until) in a recording's time, of which start is one instant; 0 and UINT64_MAX
 * when there is none. -1: it is said by the time of day, and this recording does not know that.
 */
int time_choice_window(const struct time_choice *t, const struct clock_triple *start,
		       uint64_t *ret_from, uint64_t *ret_until);
/* What there is of it, when it has holes: *ret until the next call, how many; 0: it has none. */
size_t time_choice_within(struct time_choice *t, const struct clock_triple *start,
			  const struct stream_slice **ret);

#endif
