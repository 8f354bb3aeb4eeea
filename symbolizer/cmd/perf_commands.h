/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_commands: commands of perf and of spoorctl that spoor has not, or has by another name, and what does the same.
 */
#ifndef SYMBOLIZER_CMD_PERF_COMMANDS_H
#define SYMBOLIZER_CMD_PERF_COMMANDS_H

/* What to do instead, in words; NULL: neither program has such a command. */
const char *perf_commands_instead(const char *name);

#endif
