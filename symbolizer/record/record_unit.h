/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_unit: the control group of a unit of systemd that spoor record is given the name of. */
#ifndef SYMBOLIZER_RECORD_RECORD_UNIT_H
#define SYMBOLIZER_RECORD_RECORD_UNIT_H

/*
 * Its path now, for the caller to free: a unit that begins anew has another group of that path. option, "--unit" or
 * "--slice", is for messages. CLI_GO_ON, or the status to end with, which was told.
 */
int record_unit_group(const char *option, const char *name, char **ret_path);

#endif
