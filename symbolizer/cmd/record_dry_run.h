/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_dry_run: what spoor record would open, printed. */
#ifndef SYMBOLIZER_CMD_RECORD_DRY_RUN_H
#define SYMBOLIZER_CMD_RECORD_DRY_RUN_H

#include <stdbool.h>

struct session_error;
struct session_options;

/*
 * Prints the attrs that a session would open, a line each or as JSON. 0, *ret_notes to be freed; or -errno with
 * *error.
 */
int record_dry_run(const struct session_options *options, bool json, char **ret_notes,
		   struct session_error *error);

#endif
