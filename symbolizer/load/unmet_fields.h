/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unmet_fields: fields of tracepoints that rows are to be by (trace_fields.h), and that no event of the recordings
 * has, said on stderr with the name that is most like it.
 */
#ifndef SYMBOLIZER_LOAD_UNMET_FIELDS_H
#define SYMBOLIZER_LOAD_UNMET_FIELDS_H

#include <stdbool.h>

#include "format/record/event_set.h"

#define UNMET_FIELDS_MAX 32 /* of those that are looked for */
#define UNMET_FIELD_BYTES 160

/* All zero: nothing was seen. */
struct unmet_fields {
	struct unmet_field {
		bool met;
		unsigned distance;
		char nearest[UNMET_FIELD_BYTES]; /* "": none is like it */
	} v[UNMET_FIELDS_MAX];
};

/* The events of a recording. list: as profile_options.trace_fields; NULL: all of them, which is never unmet. */
void unmet_fields_see(struct unmet_fields *u, const char *list, const struct event_set *events);
void unmet_fields_warn(const struct unmet_fields *u, const char *list, const char *path);

#endif
