/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_probe: functions of files that spoor record is to probe, as places in these files. */
#ifndef SYMBOLIZER_RECORD_RECORD_PROBE_H
#define SYMBOLIZER_RECORD_RECORD_PROBE_H

#include <sys/types.h>

/*
 * Of a list of events as typed, each uprobe:PATH:SYMBOL[+OFFSET] and uretprobe:PATH:SYMBOL becomes PATH:SYMBOL=PLACE
 * as the recorder takes it, with the whole path; breakpoints (mem:) are as record_breakpoint_resolve() has them, of
 * this process. CLI_GO_ON with *ret to be freed, or an exit status, said.
 */
int record_probe_resolve(const char *text, pid_t pid, char **ret);

#endif
