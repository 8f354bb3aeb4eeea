/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_directory: what perf record --threads and --kcore write in place of one perf.data: a directory
 * with the file "data", and with --threads one of records alone for each thread, "data.0" and so on.
 * Source: Linux, tools/perf/util/data.c.
 */
#ifndef SYMBOLIZER_INPUT_PERFDATA_DIRECTORY_H
#define SYMBOLIZER_INPUT_PERFDATA_DIRECTORY_H

#include <stdbool.h>

#include "symbolizer/input/input_access.h"
#include "symbolizer/perfdata/perfdata_import.h"

/* Is path such a directory? */
bool perfdata_directory_is(const char *path);

/*
 * The descriptor of its file "data", or -1 after a message. *ret is the other files, in the order of their
 * numbers, with sources also where there are none; perfdata_directory_close() frees it, also on failure.
 * *ret_access: who may read all of the files.
 */
int perfdata_directory_open(const char *path, struct perfdata_others *ret,
			    struct input_access *ret_access);
void perfdata_directory_close(struct perfdata_others *others);

#endif
