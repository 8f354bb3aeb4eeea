/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_here: was a recording made on this host since it was booted, so that what its processes left in
 * files is theirs?
 *
 * A recording of spoor has the boot's id. A perf.data has none: its host name, its kernel's release and its
 * clocks, which begin anew with each boot, have to be this host's.
 */
#ifndef SYMBOLIZER_INPUT_MADE_HERE_H
#define SYMBOLIZER_INPUT_MADE_HERE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/recording_meta.h"
#include "symbolizer/input/input.h"

enum made_here {
	MADE_ELSEWHERE,
	MADE_HERE_MAYBE, /* the host is this one; the boot is not known */
	MADE_HERE,
};

/* This host, at one instant; ns. */
struct made_here_host {
	uint8_t boot_id[16]; /* 0: not known */
	const char *hostname, *release;
	uint64_t realtime, monotonic, monotonic_raw, boottime;
};

/* What a recording says of itself besides its meta. */
struct made_here_times {
	uint64_t written_ns; /* its file's last change, CLOCK_REALTIME; 0: not known */
	uint64_t last_ns;    /* of its last sample, on its clock; 0: it has none */
};

enum made_here made_here_judge(const struct recording_meta *m, const struct made_here_times *times,
			       const struct made_here_host *host);
/* What makes CLOCK_MONOTONIC of times of the recording's clock, about; 0: it is that one, or not known. */
int64_t made_here_shift(const struct recording_meta *m, const struct made_here_host *host);

/* Of an open recording, whose reader is rewound. */
enum made_here made_here_find(struct input *in, int64_t *ret_shift_ns);

#endif
