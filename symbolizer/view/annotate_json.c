/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Annotated functions as one JSON object. Keys are stable: spoor-annotate(1) lists them. */
#include "symbolizer/view/annotate_print.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/profile/report.h"
#include "symbolizer/text/json_value.h"

#define PERCENT_DIGITS 10
#define JSON_FORMAT (JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(PERCENT_DIGITS))

/* NULL is null: it is not known, or there is none. */
static json_t *
text(const char *s)
{
	return s ? json_value_text(s) : json_null();
}

static json_t *
address(uint64_t at)
{
	char hex[24];

	snprintf(hex, sizeof(hex), "0x%" PRIx64, at);
	return json_string(hex);
}

static int
set_weight(json_t *j, const struct annotation_function *f, const struct profile_weight *w)
{
	return json_object_set_new(j, "overhead", json_real(annotate_percent(f, w))) |
		json_object_set_new(j, "samples", json_value_number(w->samples)) |
		json_object_set_new(j, "period", json_value_number(w->period));
}

/* The calls that were inlined, the innermost first; the last is the function itself. */
static int
set_origin(json_t *j, const struct listing *l, const struct listing_origin *o)
{
	json_t *list = json_array();
	int err = 0;

	for (uint32_t i = 0; i < o->nr; i++) {
		const struct listing_frame *f = &l->frames[o->first + i];
		json_t *frame = json_object();

		err |= json_object_set_new(frame, "function", text(f->function));
		err |= json_object_set_new(frame, "srcfile", text(f->file));
		err |= json_object_set_new(frame, "srcline", json_value_number(f->line));
		err |= json_array_append_new(list, frame);
	}
	return err | json_object_set_new(j, "frames", list);
}

static int
add_line(const struct annotate_print *p, const struct annotation_function *f,
	 const struct listing *l, const struct listing_line *line, json_t *list)
{
	const struct listing_frame *at = &l->frames[line->origin.first];
	const bool known = line->origin.nr > 0 && at->file;
	json_t *j = json_object(), *source = json_null();
	const char *bytes;
	size_t len;
	int err = known ? source_text_line(p->source, at->file, l->named_by, at->line, &bytes, &len)
			: 0;

	if (err > 0) {
		char copy[SOURCE_TEXT_LINE_MAX + 1];

		snprintf(copy, sizeof(copy), "%.*s", (int)len, bytes);
		source = text(copy);
		err = 0;
	}
	err |= set_weight(j, f, &line->weight);
	err |= json_object_set_new(j, "srcfile", text(known ? at->file : NULL));
	err |= json_object_set_new(j, "srcline", json_value_number(known ? at->line : 0));
	err |= json_object_set_new(j, "source", source);
	err |= set_origin(j, l, &line->origin);
	return err | json_array_append_new(list, j);
}

static int
add_instruction(const struct annotation_function *f, const struct listing *l,
		const struct listing_instruction *i, json_t *list)
{
	json_t *j = json_object();
	char hex[2 * UINT8_MAX + 1];
	int err;

	for (size_t k = 0; k < i->size; k++)
		snprintf(hex + 2 * k, 3, "%02x", i->bytes[k]);
	err = set_weight(j, f, &i->weight);
	err |= json_object_set_new(j, "address", address(i->address));
	err |= json_object_set_new(j, "bytes", json_string(hex));
	err |= json_object_set_new(j, "text", text(i->text));
	if (i->symbol) {
		err |= json_object_set_new(j, "target_symbol", text(i->symbol));
		err |= json_object_set_new(j, "target_offset", json_value_number(i->symbol_offset));
	}
	if (i->patches > 0) {
		err |= json_object_set_new(j, "patches", json_value_number(i->patches));
		err |= json_object_set_new(j, "text_before", text(i->first));
	}
	err |= set_origin(j, l, &i->origin);
	return err | json_array_append_new(list, j);
}

static int
set_lists(const struct annotate_print *p, const struct annotation_function *f,
	  const struct listing *l, json_t *j)
{
	json_t *lines = json_array(), *instructions = json_array();
	int err = 0;

	for (size_t i = 0; i < l->nr_lines && !p->no_lines && !annotate_no_lines(l); i++)
		if (annotate_percent(f, &l->lines[i].weight) >= p->min_percent)
			err |= add_line(p, f, l, &l->lines[i], lines);
	for (size_t i = 0; i < l->nr_instructions; i++)
		if (annotate_percent(f, &l->instructions[i].weight) >= p->min_percent)
			err |= add_instruction(f, l, &l->instructions[i], instructions);
	return err | json_object_set_new(j, "lines", lines) |
		json_object_set_new(j, "instructions", instructions);
}

static json_t *
make_function(const struct annotate_print *p, const struct annotation_function *f,
	      const struct listing *l)
{
	const struct profile_weight whole = profile_event_whole(p->load->profile, f->event);
	json_t *j = json_object();
	int err;

	err = json_object_set_new(j, "symbol", text(f->frame.symbol));
	err |= json_object_set_new(j, "dso", text(f->frame.dso));
	err |= json_object_set_new(j, "dso_path", text(f->frame.dso_path));
	err |= json_object_set_new(j, "build_id", text(f->frame.build_id));
	err |= json_object_set_new(j, "kernel", json_boolean(f->frame.kernel));
	err |= json_object_set_new(j, "event", text(load_event_name(p->load, f->event)));
	err |= json_object_set_new(j, "overhead", json_real(report_share(&f->weight, &whole)));
	err |= json_object_set_new(j, "samples", json_value_number(f->weight.samples));
	err |= json_object_set_new(j, "period", json_value_number(f->weight.period));
	err |= json_object_set_new(j, "start", address(f->start));
	err |= json_object_set_new(j, "end", l->code.end ? address(l->code.end) : json_null());
	err |= json_object_set_new(j, "no_lines", text(annotate_no_lines(l)));
	err |= json_object_set_new(j, "no_instructions", text(l->why));
	err |= json_object_set_new(j, "outside_samples", json_value_number(l->outside.samples));
	err |= json_object_set_new(j, "patches",
				   l->code.patches_known || !f->frame.kernel
					   ? json_value_number(l->code.patches)
					   : json_null());
	err |= set_lists(p, f, l, j);
	if (err) {
		json_decref(j);
		return NULL;
	}
	return j;
}

/* One at a time: all of them may be much. */
static int
print_function(const struct annotate_print *p, const struct annotation_function *f, bool first)
{
	struct listing l;
	int error =
		listing_make(p->load->resolver, p->load->inlines, p->kernel, f, &p->listing, &l);
	json_t *j = error ? NULL : make_function(p, f, &l);

	fputs(first ? "\n" : ",\n", stdout);
	if (!j || json_value_dump(j, stdout, JSON_FORMAT) != 0)
		error = -FMT_E_NOMEM;
	json_decref(j);
	listing_done(&l);
	return error;
}

static json_t *
make_events(const struct annotate_print *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->events->nr; i++) {
		const struct skid_event *e = &p->events->v[i];
		json_t *j = json_object();

		json_object_set_new(j, "event", text(e->name));
		json_object_set_new(j, "type", json_value_number(e->type));
		json_object_set_new(j, "config", json_value_number(e->config));
		json_object_set_new(j, "precise_ip", json_value_number(e->precise_ip));
		json_object_set_new(j, "skid", text(skid_text(e)));
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *
make_unknowns(const struct annotate_print *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < annotation_unknowns(p->annotation); i++) {
		const struct annotation_unknown *u = annotation_unknown_at(p->annotation, i);
		json_t *j = json_object();

		json_object_set_new(j, "dso_path", text(u->frame.dso_path));
		json_object_set_new(j, "event", text(load_event_name(p->load, u->event)));
		json_object_set_new(j, "samples", json_value_number(u->weight.samples));
		json_object_set_new(j, "period", json_value_number(u->weight.period));
		json_object_set_new(j, "why", text(resolve_miss_text(u->frame.miss)));
		json_array_append_new(list, j);
	}
	return list;
}

/* At the end: which files were looked for is known then. */
static json_t *
make_sources(const struct annotate_print *p)
{
	json_t *list = json_array();
	struct source_file f;

	for (size_t i = 0; source_text_file(p->source, i, &f); i++) {
		json_t *j = json_object();

		json_object_set_new(j, "srcfile", text(f.name));
		json_object_set_new(j, "why", text(f.why));
		json_object_set_new(j, "newer", json_boolean(f.newer));
		json_object_set_new(j, "short", json_boolean(f.asked_lines));
		json_array_append_new(list, j);
	}
	return list;
}

static int
print_member(const char *name, json_t *value, const char *after)
{
	int err;

	printf("\"%s\": ", name);
	err = value ? json_value_dump(value, stdout, JSON_FORMAT | JSON_ENCODE_ANY) : -1;
	fputs(after, stdout);
	json_decref(value);
	return err;
}

int
annotate_print_json(const struct annotate_print *p)
{
	const struct input_set *set = &p->load->set;
	const struct profile_totals *t = profile_totals(p->load->profile);
	int error = 0, err;

	puts("{");
	err = print_member("file", text(set->path), ",\n");
	err |= print_member("hostname", text(set->hostname ? set->hostname : ""), ",\n");
	err |= print_member("samples", json_value_number(t->samples), ",\n");
	err |= print_member("lost", json_value_number(set->loss ? loss_samples(set->loss) : 0),
			    ",\n");
	err |= print_member("events", make_events(p), ",\n");
	err |= print_member("unknown", make_unknowns(p), ",\n\"functions\": [");
	for (size_t i = 0; i < p->nr_functions && !error; i++)
		error = print_function(p, p->functions[i], i == 0);
	fputs("\n],\n", stdout);
	err |= print_member("sources", make_sources(p), "\n}\n");
	return error ? error : err ? -FMT_E_NOMEM : 0;
}
