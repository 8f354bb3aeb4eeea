/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as what a worker says: all of it is true to the job, or nothing of it is given. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf/dwarf_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESSES 1000

static size_t given;

static int
take(void *arg, size_t job, size_t i, const struct dwarf_frame *frames, size_t nr, bool partial)
{
	(void)arg;
	if (job != 3 || i >= ADDRESSES || (nr == 0 && !partial) || nr > DWARF_FRAMES_MAX)
		abort();
	for (size_t k = 0; k < nr; k++)
		given += (frames[k].function ? strlen(frames[k].function) : 0) +
			(frames[k].file ? strlen(frames[k].file) : 0) + 1;
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_job job = { .n = ADDRESSES };

	given = 0;
	if (dwarf_answer_read(span_of(data, size), &job, 3, take, NULL) != 0)
		abort();
	if (given > 0 && job.outcome != DWARF_DONE)
		abort();
	return 0;
}
