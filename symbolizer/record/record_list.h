/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_list: the events of a spoor record that runs, as perf lists them when --control asks. */
#ifndef SYMBOLIZER_RECORD_RECORD_LIST_H
#define SYMBOLIZER_RECORD_RECORD_LIST_H

struct session;
struct session_error;

/*
 * On stderr, an event a line but for side-band: its name; with "-v" its attr, with "-F" its frequency or period; with
 * "-g" a group a line. how: one of these, or "". 0, -EINVAL: it is none, -errno; with *error.
 */
int record_list_print(struct session *s, const char *how, struct session_error *error);

#endif
