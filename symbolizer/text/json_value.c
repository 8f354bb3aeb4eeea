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

json_t *
json_value_number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}
