/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as one JSON object. Keys are stable: spoor-diff(1) lists them. */
#include "symbolizer/view/diff_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/compare/moved.h"
#include "symbolizer/text/json_value.h"

#define DIGITS 10
#define JSON_FORMAT (JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(DIGITS))

/* null is what is not known, or has no bound. */
static json_t *
real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
name(const char *s)
{
	return json_value_text(s ? s : "[unknown]");
}

static json_t *
make_side(const struct sides *s, int side)
{
	const struct load *l = &s->load[side];
	const struct profile_totals *t = profile_totals(l->profile);
	json_t *j = json_object();
	uint64_t unknown = 0;
	int err;

	for (int miss = RESOLVE_OK + 1; miss < RESOLVE_MISSES; miss++)
		unknown += t->unresolved[miss];
	err = json_object_set_new(j, "file", name(l->set.path)) |
		json_object_set_new(j, "samples", json_value_number(t->samples)) |
		json_object_set_new(
			j, "lost", json_value_number(l->set.loss ? loss_samples(l->set.loss) : 0)) |
		json_object_set_new(j, "filtered", json_value_number(t->filtered)) |
		json_object_set_new(j, "unknown", json_value_number(unknown)) |
		json_object_set_new(j, "covered_s", real(s->covered_ns[side] / 1e9)) |
		json_object_set_new(j, "tasks", json_boolean(s->tasks[side])) |
		json_object_set_new(j, "gaps",
				    json_value_number(l->set.gaps.nr + l->set.gaps.more));
	if (err)
		json_decref(j);
	return err ? NULL : j;
}

static int
set_change(json_t *j, const struct rate_change *c)
{
	return json_object_set_new(j, "baseline", real(c->before)) |
		json_object_set_new(j, "new", real(c->after)) |
		json_object_set_new(j, "change", real(c->change)) |
		json_object_set_new(j, "low", real(c->change - c->margin)) |
		json_object_set_new(j, "high", real(c->change + c->margin)) |
		json_object_set_new(j, "relative",
				    real(c->before > 0 ? c->change / c->before : INFINITY)) |
		json_object_set_new(j, "p", real(c->p)) |
		json_object_set_new(j, "significant", json_boolean(c->significant));
}

static int
set_key(json_t *j, const struct comparison_row *row, enum report_column key)
{
	static const struct {
		const char *name;
		bool number;
	} keys[] = {
#define X(name, title, number, ...) { #name, number },
		REPORT_KEYS(X)
#undef X
	};
	const struct report_value *v = &row->values[key];

	if (key == REPORT_event || key == REPORT_time)
		return 0;
	if (key == REPORT_sym)
		return json_object_set_new(j, "symbol", name(v->text)) |
			json_object_set_new(j, "kernel", json_boolean(v->number));
	if (key == REPORT_srcline)
		return json_object_set_new(j, "srcfile", name(v->text)) |
			json_object_set_new(j, "srcline", json_value_number(v->number));
	return json_object_set_new(j, keys[key].name,
				   keys[key].number ? json_value_number(v->number) : name(v->text));
}

static json_t *
make_row(const struct diff_print *p, const struct comparison_row *row)
{
	const struct report_list *keys = &p->options->report->keys;
	json_t *j = json_object(), *total;
	int err = 0;

	for (size_t i = 0; i < keys->n; i++)
		err |= set_key(j, row, keys->v[i]);
	err |= json_object_set_new(j, "baseline_samples",
				   json_value_number(row->samples[COMPARISON_BASELINE]));
	err |= json_object_set_new(j, "new_samples",
				   json_value_number(row->samples[COMPARISON_NEW]));
	err |= set_change(j, &row->self);
	if (p->options->report->children) {
		total = json_object();
		err |= set_change(total, &row->total) | json_object_set_new(j, "children", total);
	}
	if (err)
		json_decref(j);
	return err ? NULL : j;
}

static int
print_value(const char *before, json_t *j)
{
	int err = j ? 0 : -1;

	fputs(before, stdout);
	if (!err)
		err = json_value_dump(j, stdout, JSON_FORMAT);
	json_decref(j);
	/* A failed write shows at exit. */
	return ferror(stdout) ? 0 : err;
}

static json_t *
make_event(const struct diff_print *p, const struct comparison_event *e)
{
	json_t *j = json_object();
	struct moved moved = { 0 };
	int err = moved_find(p->comparison, e, &p->options->report->keys, &moved);

	err |= json_object_set_new(j, "event", name(e->names[0] ? e->names[0] : e->names[1])) |
		json_object_set_new(j, "clock", json_boolean(e->clock)) |
		json_object_set_new(j, "tried", json_value_number(e->tried)) |
		json_object_set_new(j, "significant", json_value_number(e->significant)) |
		json_object_set_new(j, "compared",
				    json_boolean(e->names[0] != NULL && e->names[1] != NULL)) |
		json_object_set_new(j, "by_counts",
				    json_boolean(comparison_by_counts(p->comparison))) |
		json_object_set_new(j, "moved", json_value_number(moved.functions));
	if (err)
		json_decref(j);
	return err ? NULL : j;
}

/* One row at a time: as values a million of them take more memory than all else. */
static int
print_event(const struct diff_print *p, const struct comparison_event *e)
{
	bool first = true;
	int err = print_value("{\"about\":", make_event(p, e));

	fputs(",\"rows\":[", stdout);
	for (size_t i = e->first; i < e->first + e->nr && !err; i++) {
		const struct comparison_row *row = comparison_row_at(p->comparison, i);

		if (diff_below_limit(p, row))
			continue;
		err = print_value(first ? "\n" : ",\n", make_row(p, row));
		first = false;
	}
	fputs("]}", stdout);
	return err;
}

int
diff_print_json(const struct diff_print *p)
{
	static const char *const per[] = { "cpu", "total", "none", "work" };
	int err = print_value("{\"baseline\":", make_side(p->sides, COMPARISON_BASELINE));

	if (!err)
		err = print_value(",\n\"new\":", make_side(p->sides, COMPARISON_NEW));
	printf(",\n\"normalize\":\"%s\",\"confidence\":%g,\"events\":[\n", per[p->options->per],
	       p->options->confidence);
	for (size_t i = 0; i < comparison_events(p->comparison) && !err; i++) {
		fputs(i > 0 ? ",\n" : "", stdout);
		err = print_event(p, comparison_event_at(p->comparison, i));
	}
	puts("]}");
	return err ? -FMT_E_NOMEM : 0;
}
