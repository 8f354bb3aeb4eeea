/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_dotnet: asks a .NET runtime for the names of its code: EnablePerfMap, by its diagnostics socket.
 *
 * The runtime listens on $TMPDIR/dotnet-diagnostic-PID-START-socket; START is its starttime of proc_pid_stat(5). A message is
 * a header of 20 bytes and a payload, little-endian: "DOTNET_IPC_V1" with NUL, u16 size of all, u8 command set, u8 command,
 * u16 0. EnablePerfMap is command 5 of set 4 (process), with a u32 type: 3 is the perf map alone. The answer is of set 255,
 * command 0 for success, 255 with a u32 code for an error. Source: ipc-protocol.md of dotnet/diagnostics, ds-types.h and
 * ds-process-protocol.h of dotnet/runtime. The map has what was compiled before as well.
 */
#ifndef SYMBOLIZER_NAMES_NAMES_DOTNET_H
#define SYMBOLIZER_NAMES_NAMES_DOTNET_H

#include <stdint.h>

#include "symbolizer/names/names_process.h"

/* tmpdir: of its environment; NULL: none. As the user that the process is. */
void names_dotnet_ask(const struct names_process *p, const char *tmpdir, int64_t deadline_ns,
		      struct names_answer *a);

#endif
