/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/count_unit_json.h"

#include "symbolizer/text/json_value.h"

int
count_unit_json_facts(json_t *j, const struct count_unit *u)
{
	int error = 0;

	if (*u->name)
		error |= json_object_set_new(j, "unit", json_value_text(u->name));
	if (u->scale != 0)
		error |= json_object_set_new(j, "scale", json_real(u->scale));
	if (u->snapshot)
		error |= json_object_set_new(j, "snapshot", json_true());
	if (u->per_pkg)
		error |= json_object_set_new(j, "per_pkg", json_true());
	return error;
}

int
count_unit_json(json_t *j, const struct count_unit *u, uint64_t count)
{
	int error = count_unit_json_facts(j, u);

	if (*u->name || u->scale != 0)
		error |= json_object_set_new(j, "value", json_real(count_unit_value(u, count)));
	return error;
}
