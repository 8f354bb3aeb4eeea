/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/attr_json.h"

#include <stdio.h>

#include "symbolizer/dump/attr_text.h"
#include "symbolizer/text/json_value.h"

/* sample_period of "{ sample_period, sample_freq }". */
static bool
add_field(void *arg, const char *name, uint64_t value, const char *text)
{
	char key[64];

	if (*name != '{' || sscanf(name, "{ %63[a-z_0-9]", key) != 1)
		(void)snprintf(key, sizeof(key), "%s", name);
	return json_object_set_new(arg, key, text ? json_string(text) : json_value_number(value)) ==
		0;
}

json_t *
attr_json(const struct perf_event_attr *attr)
{
	json_t *fields = json_object();

	if (fields && attr_text_each(attr, add_field, fields))
		return fields;
	json_decref(fields);
	return NULL;
}
