/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_add: the whole of an open stream into a profile, as reports have one recording read. */
#ifndef TESTS_LAB_PROFILE_ADD_H
#define TESTS_LAB_PROFILE_ADD_H

#include "symbolizer/profile/profile.h"

/* options: the profile's. 0, or negative as gather_run(). */
static inline int
profile_add(struct profile *p, const struct profile_options *options, struct record_stream *stream,
	    struct fmt_where *where)
{
	struct gather *g = gather_new(stream, options);
	int err = -FMT_E_NOMEM;

	profile_begin(p, 0);
	if (g)
		err = gather_run(g, profile_take, p, where);
	profile_end(p, g);
	gather_free(g);
	return err;
}

#endif
