/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms_file: the kernel symbols of a recording in the form of /proc/kallsyms, for
 * `perf report --kallsyms`.
 *
 * perf ends a symbol where the next one begins. Where the recording knows of no next one, a
 * symbol "unknown" ends it, so that no address gets the name of its neighbour.
 */
#ifndef SYMBOLIZER_PERFDATA_KALLSYMS_FILE_H
#define SYMBOLIZER_PERFDATA_KALLSYMS_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "symbolizer/resolve/kernel_symbols.h"

/*
 * text: address of _text, by which perf finds out how far the kernel was moved; 0: not known,
 * and perf refuses the file. Errors are the stream's.
 */
void kallsyms_file_write(const struct kernel_symbols *symbols, uint64_t text, FILE *out);

#endif
