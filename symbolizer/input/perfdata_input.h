/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_input: a perf.data where a recording is read: imported into a temporary file that
 * has no name, so that one reader reads everything; and the words about what was wrong with
 * it, on stderr.
 */
#ifndef SYMBOLIZER_INPUT_PERFDATA_INPUT_H
#define SYMBOLIZER_INPUT_PERFDATA_INPUT_H

#include "symbolizer/perfdata/perfdata_import.h"

/* Do the source's first bytes say perf.data? */
bool perfdata_input_probe(struct io_source *source);

/*
 * Imports, and says what was wrong. others: the other files of a directory, as in perfdata_import.h; NULL: it is one
 * file. input and output are how messages call the two. 0, or an exit status (1). Source and sink are owned from here
 * on.
 */
int perfdata_input_import(struct io_source *source, struct perfdata_others *others,
			  const char *input, struct io_sink *sink, const char *output,
			  struct perfdata_import_result *ret);

/*
 * The perf.data as a recording, in $TMPDIR or /var/tmp as long as it is open; NULL after a
 * message. source is owned from here on. *ret_whole: nothing of it was damaged or missing.
 */
struct io_source *perfdata_input_convert(struct io_source *source, struct perfdata_others *others,
					 const char *input, bool *ret_whole);

#endif
