/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/unwind_json.h"

#include "symbolizer/text/json_value.h"

/* In whose code those ended that are not whole: the objects with most of them. */
static json_t *
places(const struct unwind_stops *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++)
		if (s->places[i].stacks)
			json_array_append_new(all,
					      json_pack("{ssssso}", "end",
							unwind_stop_key(s->places[i].stop),
							"object", s->places[i].object, "stacks",
							json_value_number(s->places[i].stacks)));
	return all;
}

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
	json_object_set_new(j, "places", places(s));
	return j;
}
