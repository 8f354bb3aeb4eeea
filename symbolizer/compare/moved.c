/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/compare/moved.h"

#include <stdlib.h>

#include "format/bytes/fmt_error.h"

struct one_sided {
	const struct comparison_row *row;
	enum comparison_side side;
};

/* By all keys but the object. */
static int
compare_but_object(const struct comparison_row *a, const struct comparison_row *b,
		   const struct report_list *keys)
{
	int r = 0;

	for (size_t i = 0; i < keys->n && r == 0; i++)
		if (keys->v[i] != REPORT_dso)
			r = report_value_compare(&a->values[keys->v[i]], &b->values[keys->v[i]]);
	return r;
}

static int
compare_one_sided(const void *va, const void *vb, void *keys)
{
	const struct one_sided *a = va, *b = vb;
	int r = compare_but_object(a->row, b->row, keys);

	if (r == 0)
		r = (a->side > b->side) - (a->side < b->side);
	if (r == 0)
		r = report_value_compare(&a->row->values[REPORT_dso], &b->row->values[REPORT_dso]);
	return r;
}

/* Rows of one name, of which the first is of one side and the last of the other. *most: the most samples so far. */
static void
take_function(struct moved *m, const struct one_sided *rows, size_t n, uint64_t *most)
{
	uint64_t samples[COMPARISON_SIDES] = { 0 };

	for (size_t i = 0; i < n; i++)
		samples[rows[i].side] += rows[i].row->total_samples[rows[i].side];
	m->functions++;
	for (int side = 0; side < COMPARISON_SIDES; side++)
		m->samples[side] += samples[side];
	if (samples[0] + samples[1] > *most) {
		*most = samples[0] + samples[1];
		m->objects[COMPARISON_BASELINE] = rows[0].row->values[REPORT_dso].text;
		m->objects[COMPARISON_NEW] = rows[n - 1].row->values[REPORT_dso].text;
	}
}

static bool
is_one_sided(const struct comparison_row *row)
{
	return row->values[REPORT_sym].text && row->values[REPORT_dso].text &&
		(row->total_samples[0] == 0) != (row->total_samples[1] == 0);
}

int
moved_find(const struct comparison *c, const struct comparison_event *e,
	   const struct report_list *keys, struct moved *ret)
{
	struct report_list by = *keys;
	struct moved m = { 0 };
	struct one_sided *rows;
	uint64_t most = 0;
	size_t n = 0;

	*ret = m;
	if (!report_has(keys, REPORT_dso) || !report_has(keys, REPORT_sym))
		return 0;
	rows = calloc(e->nr + 1, sizeof(*rows));
	if (!rows)
		return -FMT_E_NOMEM;
	for (size_t i = e->first; i < e->first + e->nr; i++) {
		const struct comparison_row *row = comparison_row_at(c, i);

		if (is_one_sided(row))
			rows[n++] = (struct one_sided){ row,
							row->total_samples[0] ? COMPARISON_BASELINE
									      : COMPARISON_NEW };
	}
	qsort_r(rows, n, sizeof(*rows), compare_one_sided, &by);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1;
		     end < n && compare_but_object(rows[i].row, rows[end].row, keys) == 0; end++)
			;
		if (rows[i].side != rows[end - 1].side)
			take_function(&m, &rows[i], (size_t)(end - i), &most);
	}
	free(rows);
	*ret = m;
	return 0;
}
