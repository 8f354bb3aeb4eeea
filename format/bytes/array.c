/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

#define FIRST 64

int
array_reserve_bytes(void *v, size_t n, size_t *cap, size_t more, size_t size)
{
	size_t want = *cap ? *cap : FIRST;
	void *old, *grown;

	if (more > SIZE_MAX / 4 - n)
		return -FMT_E_NOMEM;
	if (n + more <= *cap)
		return 0;
	while (want < n + more)
		want *= 2;
	/* The pointer at v is of another type than void *. */
	memcpy(&old, v, sizeof(old));
	grown = want <= PTRDIFF_MAX / size ? realloc(old, want * size) : NULL;
	if (!grown)
		return -FMT_E_NOMEM;
	memcpy(v, &grown, sizeof(grown));
	*cap = want;
	return 0;
}
