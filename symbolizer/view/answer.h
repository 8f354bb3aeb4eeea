/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer: a command's way from its options to what it prints of each event.
 */
#ifndef SYMBOLIZER_VIEW_ANSWER_H
#define SYMBOLIZER_VIEW_ANSWER_H

#include "symbolizer/load/load.h"

/* Prints what was read; 0, or negative as fmt_error. */
typedef int answer_fn(void *arg, struct load *l);

/* Reads what o names and prints it. An exit status, after a message if not 0. */
int answer(struct load_options *o, const struct profile_options *po, answer_fn *print, void *arg);

/*
 * Prints what there is of an event (-1: of samples without one), before in front of it: 1; 0: there is
 * nothing, and nothing was printed; negative as fmt_error.
 */
typedef int answer_event_fn(void *arg, const struct load *l, int event, const char *before);

/*
 * Reads what o names and gives print each event that has samples, below a heading; in JSON as an array.
 * An exit status, after a message if not 0.
 */
int answer_events(struct load_options *o, const struct profile_options *po, bool json,
		  answer_event_fn *print, void *arg);

#endif
