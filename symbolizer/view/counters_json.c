/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/view/counters_print.h"
#include "symbolizer/view/count_unit_json.h"

static json_t *
ratio_json(const struct count_ratio *ratio)
{
	char unit[COUNT_RATIO_UNIT_BYTES];

	count_ratio_unit(ratio, unit);
	return json_pack("{sfso}", "value", ratio->value, "unit", json_value_text(unit));
}

static json_t *
ratios_json(const struct counters_row *row, size_t which)
{
	struct count_ratio ratios[COUNT_RATIOS_MAX];
	size_t n = count_ratios(row->counted, which, row->counted_ns, ratios);
	json_t *all = json_array();

	for (size_t i = 0; all && i < n; i++) {
		if (json_array_append_new(all, ratio_json(&ratios[i])) == 0)
			continue;
		json_decref(all);
		all = NULL;
	}
	return all;
}

static json_t *
counted_json(const struct counters_row *row, size_t which)
{
	const struct counted *c = &row->counted->v[which];
	json_t *j = json_object();
	int error = !j;

	error |= json_object_set_new(j, "event", json_value_text(c->name));
	error |= json_object_set_new(j, "count", json_value_number(c->total.value));
	error |= json_object_set_new(j, "count_scaled",
				     json_value_number(read_total_scaled(&c->total)));
	error |= count_unit_json(j, &c->unit, read_total_scaled(&c->total));
	error |= json_object_set_new(j, "enabled_ns", json_value_number(c->total.enabled_ns));
	error |= json_object_set_new(j, "running_ns", json_value_number(c->total.running_ns));
	error |= json_object_set_new(j, "ratios", ratios_json(row, which));
	if (!error)
		return j;
	json_decref(j);
	return NULL;
}

int
counters_json(FILE *out, const struct counters_row *row)
{
	json_t *j = json_object(), *counts = json_array();
	int error = !j || !counts;

	for (size_t i = 0; i < row->counted->nr && !error; i++)
		error |= json_array_append_new(counts, counted_json(row, i));
	error |= json_object_set_new(j, "from_ns", json_value_number(row->from_ns));
	error |= json_object_set_new(j, "until_ns", json_value_number(row->until_ns));
	if (row->realtime_ns > 0)
		error |= json_object_set_new(j, "realtime_ns", json_value_number(row->realtime_ns));
	if (row->cpu != COUNTERS_ALL)
		error |= json_object_set_new(j, "cpu", json_value_number(row->cpu));
	error |= json_object_set(j, "counts", counts);
	/* A failed write shows at exit. */
	if (!error &&
	    json_dumpf(j, out, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII) == 0)
		(void)fputc('\n', out);
	json_decref(counts);
	json_decref(j);
	return error ? -FMT_E_NOMEM : 0;
}
