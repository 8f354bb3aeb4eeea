/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_dry_run: what spoor record would open, printed. */
#ifndef SYMBOLIZER_RECORD_RECORD_DRY_RUN_H
#define SYMBOLIZER_RECORD_RECORD_DRY_RUN_H

struct buf;
struct session;
struct session_attr;
struct session_error;
struct session_options;

enum record_dry_run_form {
	RECORD_DRY_RUN_LINES, /* of perf evlist -v: a line each */
	RECORD_DRY_RUN_LONG,  /* of perf record -v: a field a line */
	RECORD_DRY_RUN_JSON,
};

/* Prints the attrs that a session would open. 0, *ret_notes to be freed; or -errno with *error. */
int record_dry_run(const struct session_options *options, enum record_dry_run_form form,
		   char **ret_notes, struct session_error *error);

/* Appends one, as a line. */
void record_dry_run_append(struct buf *line, const struct session_attr *a);

/* Prints those of a session, a line each, on stderr. */
void record_dry_run_session(const struct session *s);

#endif
