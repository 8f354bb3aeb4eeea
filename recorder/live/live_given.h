/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_given: which build-ids the open file has been given, and those that its next BUILDIDS block gives it.
 */
#ifndef RECORDER_LIVE_LIVE_GIVEN_H
#define RECORDER_LIVE_LIVE_GIVEN_H

#include "format/block/buildids.h"
#include "format/recording/recording_writer.h"

struct live_given;

struct live_given *live_given_new(void); /* NULL: out of memory */
void live_given_free(struct live_given *g);

/* Another file begins, which has been given nothing. */
void live_given_begin_file(struct live_given *g);

/* Gives it one, in any case; of what has no inode, say. */
void live_given_put(struct live_given *g, const struct buildid_entry *e);
/* Likewise, unless it has that: one of many may be forgotten, and is given again. */
void live_given_put_once(struct live_given *g, const struct buildid_entry *e);

/* Writes a BUILDIDS block if there is something to give. 0, -FMT_E_*. */
int live_given_write(struct live_given *g, struct recording_writer *w, struct fmt_where *where);

#endif
