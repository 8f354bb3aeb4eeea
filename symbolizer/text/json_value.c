/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/json_value.h"

#include "symbolizer/text/escape.h"

json_t *
json_value_text(const char *s)
{
	struct buf b;
	json_t *j = NULL;

	buf_init(&b);
	escape_utf8(&b, s);
	if (!buf_failed(&b))
		j = json_stringn_nocheck(b.len ? (const char *)b.p : "", b.len);
	buf_done(&b);
	return j;
}

bool
json_value_write(const char *s, FILE *out)
{
	json_t *j = json_value_text(s);
	const bool there = j != NULL;

	if (there)
		(void)json_dumpf(j, out, JSON_ENCODE_ANY);
	json_decref(j);
	return there;
}

json_t *
json_value_number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}
