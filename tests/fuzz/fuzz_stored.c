/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a file that is reduced, within a bound: no byte more is given, none behind the end, and
 * what comes out can be reduced again. Any bytes as a copy's mark.
 */
#include <stdlib.h>
#include <string.h>

#include "format/stored/stored_object.h"
#include "format/stored/stored_reduce.h"

#define BYTES_MAX (256u << 10)
#define HEADER_BYTES 64 /* which comes twice */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct target {
	uint8_t *p; /* NULL: what is behind BYTES_MAX is not kept */
	uint64_t bytes, end;
};

static int
put(void *arg, uint64_t offset, const void *p, size_t n)
{
	struct target *t = arg;

	if (n > STORED_CHUNK)
		abort();
	t->bytes += n;
	if (offset + n > t->end)
		t->end = offset + n;
	if (offset < BYTES_MAX && n <= BYTES_MAX - offset)
		memcpy(t->p + offset, p, n);
	return 0;
}

static int
reduce(const uint8_t *data, size_t size, struct target *t, uint64_t *ret_size)
{
	struct io_source *file = io_source_memory(data, size);
	int error;

	if (!file)
		return -1;
	t->p = calloc(1, BYTES_MAX);
	error = t->p ? stored_reduce(file, BYTES_MAX / 2, put, t, ret_size) : -1;
	file->close(file);
	if (t->bytes > BYTES_MAX / 2 + HEADER_BYTES)
		abort();
	return error;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct io_source *file = io_source_memory(data, size);
	struct target once = { 0 }, twice = { 0 };
	uint64_t all = 0, again = 0;
	struct stored_mark mark;

	if (file) {
		if (stored_mark_read(file, &mark) == 0 && mark.id.size > BUILDID_MAX)
			abort();
		file->close(file);
	}
	if (reduce(data, size, &once, &all) == 0) {
		if (once.end > all)
			abort();
		if (all <= BYTES_MAX && reduce(once.p, (size_t)all, &twice, &again) != 0)
			abort();
	}
	free(once.p);
	free(twice.p);
	return 0;
}
