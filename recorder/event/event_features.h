/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_features: what this kernel gives to this user, tried on an event that samples nothing. */
#ifndef RECORDER_EVENT_EVENT_FEATURES_H
#define RECORDER_EVENT_EVENT_FEATURES_H

#include <stdint.h>

#include "recorder/event/event_extra.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"

struct buf;

struct event_features {
	uint64_t read_format;
	uint64_t sample_type; /* of what samples may have besides what all kernels give */
	uint64_t sideband;    /* bits of the attr */
	struct event_extra_found extra;
};

/*
 * A line in notes for what is not given and can be done without. 0; -errno with *error: what spoor, or what was
 * asked for, needs.
 */
int event_features_probe(const struct session_options *o, struct event_features *f,
			 struct buf *notes, struct session_error *error);

#endif
