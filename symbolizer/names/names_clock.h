/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names_clock: deadlines, on CLOCK_MONOTONIC. */
#ifndef SYMBOLIZER_NAMES_NAMES_CLOCK_H
#define SYMBOLIZER_NAMES_NAMES_CLOCK_H

#include <stdint.h>

#include "format/bytes/time_text.h"
#include "recorder/host/host.h"

static inline int64_t
names_clock_now(void)
{
	return (int64_t)host_now_ns();
}

/* Until then, as poll(2) takes it: at least 0, and no more than most_ms. */
static inline int
names_clock_ms(int64_t deadline_ns, int most_ms)
{
	const int64_t left = (deadline_ns - names_clock_now() + 999999) / 1000000;

	return left < 0 ? 0 : left < most_ms ? (int)left : most_ms;
}

#endif
