/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/unwind_json.h"

#include "symbolizer/text/json_value.h"

json_t *
unwind_json(const struct unwind_stops *s)
{
	json_t *j = json_object();

	json_object_set_new(j, "stacks", json_value_number(unwind_stops_all(s)));
	json_object_set_new(j, "frames", json_value_number(s->frames));
	/* The largest copy that was too small. */
	if (s->cut_bytes)
		json_object_set_new(j, "cut_bytes", json_value_number(s->cut_bytes));
	for (enum unwind_stop i = 0; i < UNWIND_STOPS_NR; i++)
		json_object_set_new(j, unwind_stop_key(i), json_value_number(s->stacks[i]));
	return j;
}
