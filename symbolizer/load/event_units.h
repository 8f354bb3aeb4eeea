/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_units: what the samples of an event weigh for a person: seconds of a CPU where the event is a
 * clock or a CPU's cycles, seconds where it is a wait, else how often it happened.
 */
#ifndef SYMBOLIZER_LOAD_EVENT_UNITS_H
#define SYMBOLIZER_LOAD_EVENT_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "symbolizer/input/input.h"
#include "symbolizer/profile/raw_profile.h"

enum event_unit {
	EVENT_COUNTS,	     /* as often as the period says */
	EVENT_SECONDS,	     /* the period is ns of a clock */
	EVENT_WAITED,	     /* likewise, of waits: no CPU was taken */
	EVENT_ABOUT_SECONDS, /* a sample is a span of the sampling frequency */
};

struct event_units; /* of all recordings that are read */

struct event_units *event_units_new(void); /* NULL: out of memory */
void event_units_free(struct event_units *u);
/* arg: the units. Looks at the events of a recording; for load_options.opened. */
void event_units_look(void *arg, const struct input *in);

/* By the event's name. *ret_hz: of EVENT_ABOUT_SECONDS. */
enum event_unit event_units_of(const struct event_units *u, const char *event, double *ret_hz);

/* What samples weigh in a unit. */
double event_units_value(enum event_unit unit, double hz, const struct profile_weight *w);

#endif
