/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_probe: functions of files that spoor record is to probe, as places in these files. */
#ifndef SYMBOLIZER_RECORD_RECORD_PROBE_H
#define SYMBOLIZER_RECORD_RECORD_PROBE_H

struct record_probed;

/*
 * Of a list of events as typed, each uprobe:PATH:SYMBOL[+OFFSET] and uretprobe:PATH:SYMBOL becomes PATH:SYMBOL=PLACE
 * as the recorder takes it, with the whole path; static probes (usdt:, sdt:) are as record_usdt_resolve() has them, and
 * breakpoints (mem:) as record_breakpoint_resolve() has, if it is one process that is recorded. CLI_GO_ON with *ret to
 * be freed, or an exit status, said.
 */
int record_probe_resolve(const char *text, const struct record_probed *probed, char **ret);

#endif
