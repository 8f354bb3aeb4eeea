/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report as one JSON object. Keys are stable: spoor-report(1) lists them. */
#include "symbolizer/view/report_print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/view/call_graph_print.h"
#include "symbolizer/view/detail_text.h"
#include "symbolizer/view/unnamed.h"
#include "symbolizer/view/unwind_json.h"
#include "symbolizer/load/time_buckets.h"

#define PERCENT_DIGITS 10
#define JSON_FORMAT (JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(PERCENT_DIGITS))

/* NULL is what has no name. */
static json_t *
name(const char *s)
{
	return json_value_text(s ? s : "[unknown]");
}

static int
set_srcline(json_t *j, const struct report_value *v)
{
	return json_object_set_new(j, "srcfile", name(v->text)) |
		json_object_set_new(j, "srcline", json_value_number(v->number));
}

/* The ns of the clock of start_ns; and since 1970, where that is known. */
static int
set_time(const struct report_print *p, json_t *j, uint64_t bucket)
{
	const struct input_set *set = &p->load->set;
	uint64_t ns = time_buckets_start(set, &p->load->profile_options, bucket);

	return json_object_set_new(j, "time_ns", json_value_number(ns)) |
		json_object_set_new(j, "realtime_ns",
				    json_value_known(input_set_realtime(set, ns)));
}

static int
set_detail(const struct report_print *p, json_t *j, enum report_column key,
	   const struct report_row *row, uint64_t number)
{
	static const char *const names[] = {
#define X(name, ...) #name,
		REPORT_KEYS(X)
#undef X
	};
	char text[DATA_SOURCE_TEXT];
	json_t *value;

	if (key == REPORT_in_tx || key == REPORT_abort)
		value = json_boolean(number);
	else if (key == REPORT_data_page_size || key == REPORT_code_page_size ||
		 key == REPORT_cycles)
		value = json_value_number(number);
	else if (key == REPORT_weight)
		value = json_value_number(report_weight(p->options, row, number));
	else
		value = detail_text(key, number, text) ? json_string(text)
						       : json_value_number(number);
	return json_object_set_new(j, names[key], value);
}

/* "array+0x10"; without a name where in the file, or in memory, it is. */
static int
set_data(json_t *j, const struct report_value *v)
{
	char address[24];

	snprintf(address, sizeof(address), "0x%" PRIx64, v->number);
	return json_object_set_new(j, "symbol_daddr", name(v->text)) |
		json_object_set_new(j, v->text ? "daddr_offset" : "daddr", json_string(address));
}

static int
set_key(const struct report_print *p, json_t *j, const struct report_row *row,
	enum report_column key)
{
	static const struct {
		const char *name;
		bool number;
	} keys[] = {
#define X(name, title, number, ...) { #name, number },
		REPORT_KEYS(X)
#undef X
	};
	const struct report_value value = report_value(p->report, row, key), *v = &value;
	char address[24];

	if (report_is_detail(key))
		return set_detail(p, j, key, row, v->number);
	if (key == REPORT_symbol_daddr)
		return set_data(j, v);
	if (key == REPORT_event) /* every row has it */
		return 0;
	if (key == REPORT_sym)
		return json_object_set_new(j, "symbol", name(v->text)) |
			json_object_set_new(j, "kernel", json_boolean(v->number));
	if (key == REPORT_srcline)
		return set_srcline(j, v);
	if (key == REPORT_time)
		return set_time(p, j, v->number);
	if (key == REPORT_address) {
		snprintf(address, sizeof(address), "0x%" PRIx64, v->number);
		return json_object_set_new(j, "address", json_string(address));
	}
	return json_object_set_new(j, keys[key].name,
				   keys[key].number ? json_integer((int32_t)v->number)
						    : name(v->text));
}

/* i: its index in the report. */
static int
set_graph(json_t *j, const struct report_print *p, const struct report_section *s, size_t i)
{
	const struct call_graph_print g = report_graph(p, s, report_row_at(p->report, i));
	struct call_tree *t;
	int err;

	if (!call_graph_any(&g))
		return json_object_set_new(j, "call_graph", json_array());
	if (call_graphs_tree(p->graphs, i, &t) < 0)
		return -1;
	err = json_object_set_new(j, "call_graph", call_graph_print_json(&g, t));
	call_tree_free(t);
	return err;
}

static json_t *
make_row(const struct report_print *p, const struct report_section *s, size_t at)
{
	const struct report_row *row = report_row_at(p->report, at);
	json_t *j = json_object();
	int err;

	err = json_object_set_new(j, "overhead",
				  json_real(report_percent(p->report, s, &row->self)));
	if (p->options->children) {
		err |= json_object_set_new(j, "children",
					   json_real(report_percent(p->report, s, &row->total)));
		err |= json_object_set_new(j, "children_samples",
					   json_value_number(row->total.samples));
		err |= json_object_set_new(j, "children_period",
					   json_value_number(row->total.period));
	}
	err |= json_object_set_new(j, "samples", json_value_number(row->self.samples));
	err |= json_object_set_new(j, "period", json_value_number(row->self.period));
	err |= json_object_set_new(j, "event", name(load_event_name(p->load, row->event)));
	for (size_t i = 0; i < p->options->keys.n; i++)
		err |= set_key(p, j, row, p->options->keys.v[i]);
	if (p->graphs)
		err |= set_graph(j, p, s, at);
	if (err) {
		json_decref(j);
		return NULL;
	}
	return j;
}

/* Lines of a row stand four blanks further to the right: it is in an array in an object. */
static int
print_indented(const char *text, size_t len, void *arg)
{
	const char *end = text + len, *line;

	(void)arg;
	for (; (line = memchr(text, '\n', (size_t)(end - text))); text = line + 1) {
		json_value_print(text, (size_t)(line + 1 - text), stdout);
		fputs("    ", stdout);
	}
	json_value_print(text, (size_t)(end - text), stdout);
	return 0;
}

static int
print_row(const struct report_print *p, const struct report_section *s, size_t at, bool first)
{
	json_t *j = make_row(p, s, at);
	int err = j ? 0 : -1;

	fputs(first ? "\n    " : ",\n    ", stdout);
	if (!err)
		err = json_dump_callback(j, print_indented, NULL, JSON_FORMAT);
	json_decref(j);
	return err;
}

/* One at a time: as values, a million of them are 1.5 GiB. */
static int
print_rows(const struct report_print *p)
{
	const struct report_row *row;
	bool first = true;
	int err = 0;

	fputs(",\n  \"rows\": [", stdout);
	for (size_t i = 0; i < report_sections(p->report) && !err; i++) {
		const struct report_section *s = report_section_at(p->report, i);

		struct report_rows rows = { .at = 0 };

		while (!err && report_rows_next(p, s, &rows, &row)) {
			err = print_row(p, s, s->first + rows.at - 1, first);
			first = false;
		}
	}
	fputs(first ? "]\n}\n" : "\n  ]\n}\n", stdout);
	return err;
}

/* All but the rows, without what ends it. */
static int
print_head(const json_t *j)
{
	char *text = json_dumps(j, JSON_FORMAT);
	size_t len = text ? strlen(text) : 0;

	if (len > 2)
		json_value_print(text, len - 2, stdout);
	free(text);
	return len > 2 ? 0 : -1;
}

static json_t *
make_events(const struct report_print *p)
{
	json_t *events = json_array();

	for (size_t i = 0; i < report_sections(p->report); i++) {
		const struct report_section *s = report_section_at(p->report, i);
		struct report_rows rows = { .at = 0 };
		const struct report_row *row;
		json_t *j = json_object();

		while (report_rows_next(p, s, &rows, &row))
			;
		json_object_set_new(j, "event", name(load_event_name(p->load, s->event)));
		json_object_set_new(j, "samples", json_value_number(s->weight.samples));
		json_object_set_new(j, "period", json_value_number(s->weight.period));
		json_object_set_new(j, "whole_samples", json_value_number(s->whole.samples));
		json_object_set_new(j, "whole_period", json_value_number(s->whole.period));
		json_object_set_new(j, "rows_left_out", json_value_number(rows.left_out));
		json_array_append_new(events, j);
	}
	return events;
}

static json_t *
make_loss(const struct loss *loss)
{
	json_t *j = json_object();

	for (int c = 0; c < LOSS_CAUSES; c++)
		json_object_set_new(j, loss_key((enum loss_cause)c),
				    json_value_number(loss ? loss_total(loss, (enum loss_cause)c)
							   : 0));
	return j;
}

static json_t *
make_unresolved(const struct profile_totals *t)
{
	json_t *j = json_object();

	for (int i = RESOLVE_OK + 1; i < RESOLVE_MISSES; i++)
		json_object_set_new(j, resolve_miss_key((enum resolve_miss)i),
				    json_value_number(t->unresolved[i]));
	return j;
}

static json_t *
make_doubts(const struct doubts *doubts)
{
	static const char *const keys[RESOLVE_DOUBTS] = {
		[RESOLVE_UNVERIFIED] = "unverified",
		[RESOLVE_FORCED] = "forced",
	};
	json_t *list = json_array();

	for (size_t i = 0; i < doubts_count(doubts); i++) {
		const struct doubt *d = doubts_at(doubts, i);
		json_t *j = json_object();

		json_object_set_new(j, "dso_path", name(d->dso_path));
		json_object_set_new(j, "doubt", json_string(keys[d->doubt]));
		json_array_append_new(list, j);
	}
	return list;
}

int
report_print_json(const struct report_print *p)
{
	const struct profile_totals *t = profile_totals(p->load->profile);
	const struct input_set *set = &p->load->set;
	const struct loss *loss = set->loss;
	json_t *j = json_object();
	int err;

	err = json_object_set_new(j, "file", name(set->path));
	err |= json_object_set_new(j, "hostname", name(set->hostname ? set->hostname : ""));
	err |= json_object_set_new(j, "first_realtime_ns",
				   json_value_known(input_set_realtime(set, set->first_ns)));
	err |= json_object_set_new(j, "last_realtime_ns",
				   json_value_known(input_set_realtime(set, set->last_ns)));
	err |= json_object_set_new(j, "samples", json_value_number(t->samples));
	err |= json_object_set_new(j, "lost", json_value_number(loss ? loss_samples(loss) : 0));
	err |= json_object_set_new(j, "period", json_value_number(t->period));
	err |= json_object_set_new(j, "filtered", json_value_number(t->filtered));
	err |= json_object_set_new(j, "start_ns", json_value_number(t->start_ns));
	err |= json_object_set_new(j, "end_ns", json_value_number(t->end_ns));
	err |= json_object_set_new(j, "throttled",
				   json_value_number(loss ? loss_total(loss, LOSS_THROTTLED) : 0));
	err |= json_object_set_new(j, "loss", make_loss(loss));
	err |= json_object_set_new(j, "unresolved", make_unresolved(t));
	err |= json_object_set_new(j, "without_names", unnamed_json(p->load->profile));
	err |= json_object_set_new(j, "unwound", unwind_json(&t->unwound));
	err |= json_object_set_new(j, "doubts", make_doubts(p->load->doubts));
	err |= json_object_set_new(j, "percentage",
				   json_string(p->options->absolute ? "absolute" : "relative"));
	err |= json_object_set_new(j, "events", make_events(p));
	/* A failed write shows at exit. */
	err = err || print_head(j) || print_rows(p);
	json_decref(j);
	return err ? -FMT_E_NOMEM : 0;
}
