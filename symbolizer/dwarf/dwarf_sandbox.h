/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_sandbox: what a process may still do that reads files of enemies: compute, and write
 * to what is open, and take what its parent passes. It opens nothing, connects to nothing, executes nothing.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_SANDBOX_H
#define SYMBOLIZER_DWARF_DWARF_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

/*
 * Of the calling process, for the rest of its life: memory_max bytes of data beside what it has,
 * cpu_s seconds (0: as many as it had, and limits only where it may set them), no core file; it ends when parent does, and before all others where the machine has no memory left. A
 * system call that it must not make fails with EPERM; stat is by descriptor alone, and of clocks that are system calls there is the CPU time of the process. Where the kernel, or what the process is
 * in, refuses any of it, the process exits with DWARF_SANDBOX_REFUSED. CPUs that the filter does not know have the limits
 * alone.
 */
#define DWARF_SANDBOX_REFUSED 3
void dwarf_sandbox_enter(pid_t parent, uint64_t memory_max, unsigned int cpu_s);

#endif
