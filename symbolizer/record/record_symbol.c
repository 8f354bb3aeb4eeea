/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_symbol.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"

bool
record_symbol_path(const char *typed, size_t n, char path[PATH_MAX])
{
	char *copy = strndup(typed, n);
	bool found = copy && realpath(copy, path);

	free(copy);
	return found;
}

char *
record_symbol_cut(char *name, uint64_t *ret, bool *ret_good)
{
	char *plus = strchr(name, '+'), *end;

	*ret = 0;
	*ret_good = true;
	if (!plus)
		return NULL;
	*plus = '\0';
	errno = 0;
	*ret = strtoull(plus + 1, &end, 0);
	*ret_good = isdigit((unsigned char)plus[1]) && !*end && errno == 0;
	return plus;
}

void
record_symbol_put(struct buf *out, const char *symbol, size_t n, uint64_t value)
{
	char number[24];

	buf_append(out, symbol, n);
	buf_append(out, number, (size_t)snprintf(number, sizeof(number), "=0x%" PRIx64, value));
}
