/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/otlp.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "format/bytes/word_lists.h"
#include "symbolizer/export/protobuf.h"
#include "symbolizer/text/escape.h"

/* Numbers of fields, by message. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RP_RESOURCE = 1, RP_SCOPE_PROFILES };
enum { SP_SCOPE = 1, SP_PROFILES };
enum { PROFILE_TYPE = 1, PROFILE_SAMPLES, PROFILE_TIME, PROFILE_DURATION, PROFILE_PERIOD_TYPE };
enum { PROFILE_PERIOD = 6, PROFILE_ATTRIBUTES = 11 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { OTLP_SAMPLE_STACK = 1, OTLP_SAMPLE_ATTRIBUTES, OTLP_SAMPLE_VALUES = 4 };
enum { OTLP_MAPPING_LIMIT = 2, OTLP_MAPPING_FILE = 4, OTLP_MAPPING_ATTRIBUTES };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES, LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_FILE = 3 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { VALUE_STRING = 1, VALUE_INT = 3 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };

/* Tables of the dictionary, by their field. */
enum table { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS, TABLES };

/* Two words tell one row from another: pointers to interned strings, or a number. */
struct row {
	uint64_t a, b;
};

struct rows {
	struct row *v;
	size_t nr, cap;
	struct slots slots;
};

struct otlp {
	const struct stack_export *x;
	struct rows rows[TABLES];    /* by table, where rows tell */
	struct word_lists locations; /* their frames */
	uint32_t *stacks;	     /* by the profile's list; 0: not yet written */
	uint32_t nr_stacks;
	struct buf tables[TABLES]; /* as they are written, by table */
	struct buf message, part, profile;
	uint32_t *alone;   /* by id of a frame: its location where it is the only one there */
	uint32_t *numbers; /* of the stack that is written */
	size_t cap_numbers;
	int error;
};

/* --- rows --------------------------------------------------------------------------------- */

static bool
row_same(const void *owner, uint32_t index, const void *key)
{
	const struct row *a = &((const struct rows *)owner)->v[index], *b = key;

	return a->a == b->a && a->b == b->b;
}

/* The row's number in its table, whose row 0 is nobody's; *fresh: it has to be written. */
static uint32_t
row_of(struct otlp *o, enum table table, uint64_t a, uint64_t b, bool *fresh)
{
	struct rows *rows = &o->rows[table];
	const struct row key = { a, b };
	const size_t known = rows->nr;
	uint32_t i = 0;

	*fresh = false;
	if (o->error)
		return 0;
	o->error = slots_keep(&rows->slots, (uint32_t)slots_mix(slots_mix(0, a), b), row_same, rows,
			      &key, rows->v, rows->nr, rows->cap, &i);
	*fresh = !o->error && i == known;
	return i + 1;
}

static void
put_row(struct otlp *o, enum table table, const struct buf *row)
{
	protobuf_bytes(&o->tables[table], table, row->p, row->len);
}

static uint32_t
string_of(struct otlp *o, const char *s)
{
	struct buf text;
	uint32_t i;
	bool fresh;

	if (!s || !*s)
		return 0;
	i = row_of(o, STRINGS, (uintptr_t)s, 0, &fresh);
	if (!fresh)
		return i;
	buf_init(&text);
	escape(&text, s);
	put_row(o, STRINGS, &text);
	o->error = buf_failed(&text) ? -FMT_E_NOMEM : o->error;
	buf_done(&text);
	return i;
}

/* AnyValue: text, or if that is NULL the number. */
static void
put_value(struct buf *b, const char *text, uint64_t number)
{
	struct buf escaped;

	if (!text) {
		/* Of a choice zero is written, too. */
		protobuf_varint(b, VALUE_INT << 3);
		protobuf_varint(b, number);
		return;
	}
	buf_init(&escaped);
	escape(&escaped, text);
	protobuf_bytes(b, VALUE_STRING, escaped.p, escaped.len);
	b->failed |= buf_failed(&escaped);
	buf_done(&escaped);
}

/* key is a literal; so is text, or it is interned. */
static uint32_t
attribute_of(struct otlp *o, const char *key, const char *text, uint64_t number)
{
	bool fresh;
	const uint64_t value = text ? (uintptr_t)text : number;
	const uint32_t i = row_of(o, ATTRIBUTES, (uintptr_t)key, value, &fresh);
	struct buf row, any;

	if (!fresh)
		return i;
	buf_init(&row);
	buf_init(&any);
	put_value(&any, text, number);
	protobuf_uint(&row, ATTRIBUTE_KEY, string_of(o, key));
	protobuf_bytes(&row, ATTRIBUTE_VALUE, any.p, any.len);
	put_row(o, ATTRIBUTES, &row);
	o->error = buf_failed(&row) || buf_failed(&any) ? -FMT_E_NOMEM : o->error;
	buf_done(&row);
	buf_done(&any);
	return i;
}

static void
put_attribute(struct buf *b, unsigned int field, uint32_t attribute)
{
	/* A packed field may come in pieces. */
	struct buf one;

	buf_init(&one);
	protobuf_varint(&one, attribute);
	protobuf_bytes(b, field, one.p, one.len);
	b->failed |= buf_failed(&one);
	buf_done(&one);
}

static uint32_t
mapping_of(struct otlp *o, const struct frame *f)
{
	bool fresh;
	const uint32_t i =
		row_of(o, MAPPINGS, (uintptr_t)f->dso_path, (uintptr_t)f->build_id, &fresh);
	struct buf row;

	if (!fresh)
		return i;
	buf_init(&row);
	protobuf_uint(&row, OTLP_MAPPING_LIMIT, UINT64_MAX);
	protobuf_uint(&row, OTLP_MAPPING_FILE, string_of(o, f->dso_path));
	if (f->build_id)
		put_attribute(&row, OTLP_MAPPING_ATTRIBUTES,
			      attribute_of(o, "process.executable.build_id.gnu", f->build_id, 0));
	put_row(o, MAPPINGS, &row);
	o->error = buf_failed(&row) ? -FMT_E_NOMEM : o->error;
	buf_done(&row);
	return i;
}

static uint32_t
function_of(struct otlp *o, const struct frame *f)
{
	const char *name = frame_label(f);
	bool fresh;
	const uint32_t i = row_of(o, FUNCTIONS, (uintptr_t)name, (uintptr_t)f->file, &fresh);
	struct buf row;

	if (!fresh)
		return i;
	buf_init(&row);
	protobuf_uint(&row, FUNCTION_NAME, string_of(o, name));
	protobuf_uint(&row, FUNCTION_FILE, string_of(o, f->file));
	put_row(o, FUNCTIONS, &row);
	o->error = buf_failed(&row) ? -FMT_E_NOMEM : o->error;
	buf_done(&row);
	return i;
}

/* --- locations and stacks ------------------------------------------------------------------- */

static void
put_location(struct otlp *o, const uint32_t *frames, uint32_t nr)
{
	const struct frame *own = profile_frame(o->x->profile, frames[nr - 1]);
	struct buf *b = &o->message, *line = &o->part;

	buf_clear(b);
	protobuf_uint(b, LOCATION_MAPPING, own->dso_path ? mapping_of(o, own) : 0);
	protobuf_uint(b, LOCATION_ADDRESS, own->vaddr);
	for (uint32_t k = 0; k < nr; k++) {
		const struct frame *f = profile_frame(o->x->profile, frames[k]);

		if (!frame_label(f))
			continue;
		buf_clear(line);
		protobuf_uint(line, LINE_FUNCTION, function_of(o, f));
		protobuf_uint(line, LINE_LINE, f->line);
		protobuf_bytes(b, LOCATION_LINES, line->p, line->len);
	}
	put_attribute(b, LOCATION_ATTRIBUTES,
		      attribute_of(o, "profile.frame.type", own->kernel ? "kernel" : "native", 0));
	put_row(o, LOCATIONS, b);
	o->error = buf_failed(b) || buf_failed(line) ? -FMT_E_NOMEM : o->error;
}

/* Frames of one address, the innermost first, are one location. */
static uint32_t
location_of(struct otlp *o, const uint32_t *frames, uint32_t left, uint32_t *ret_nr)
{
	const size_t known = o->locations.nr;
	uint32_t nr = 1, i = 0;

	while (nr < left && profile_frame(o->x->profile, frames[nr - 1])->inlined)
		nr++;
	*ret_nr = nr;
	if (nr == 1 && o->alone[*frames])
		return o->alone[*frames];
	if (!o->error)
		o->error = word_lists_number(&o->locations, frames, nr, &i);
	if (!o->error && i == known)
		put_location(o, frames, nr);
	if (!o->error && nr == 1)
		o->alone[*frames] = i + 1;
	return i + 1;
}

static void
put_packed(struct buf *b, unsigned int field, const uint32_t *numbers, size_t nr,
	   struct buf *scratch)
{
	buf_clear(scratch);
	for (size_t i = 0; i < nr; i++)
		protobuf_varint(scratch, numbers[i]);
	protobuf_bytes(b, field, scratch->p, scratch->len);
	b->failed |= buf_failed(scratch);
}

static void
put_stack(struct otlp *o, const struct profile_stack *s)
{
	size_t nr = 0;

	if (array_reserve(o->numbers, 0, o->cap_numbers, s->nr_frames + (size_t)1) != 0) {
		o->error = -FMT_E_NOMEM;
		return;
	}
	for (uint32_t k = 0, n; k < s->nr_frames; k += n)
		o->numbers[nr++] = location_of(o, &s->frames[k], s->nr_frames - k, &n);
	buf_clear(&o->message);
	put_packed(&o->message, 1, o->numbers, nr, &o->part);
	put_row(o, STACKS, &o->message);
	if (buf_failed(&o->message))
		o->error = -FMT_E_NOMEM;
}

/* Whose it is does not matter here. */
static uint32_t
stack_of(struct otlp *o, const struct profile_stack *s)
{
	uint32_t *number = &o->stacks[s->list];

	if (*number == 0) {
		*number = ++o->nr_stacks;
		put_stack(o, s);
	}
	return *number;
}

/* --- samples ------------------------------------------------------------------------------ */

#define ATTRIBUTES_MAX 5

static size_t
attributes_of(struct otlp *o, const struct profile_stack *s, uint32_t ret[ATTRIBUTES_MAX])
{
	const struct profile_options *po = o->x->options;
	size_t n = 0;

	if (s->comm)
		ret[n++] = attribute_of(o, "thread.name", s->comm, 0);
	if (po->by_pid)
		ret[n++] = attribute_of(o, "process.pid", NULL, s->pid);
	if (po->by_tid)
		ret[n++] = attribute_of(o, "thread.id", NULL, s->tid);
	if (po->by_cpu)
		ret[n++] = attribute_of(o, "cpu.logical_number", NULL, s->cpu);
	if (po->by_cgroup && s->cgroup)
		ret[n++] = attribute_of(o, "process.linux.cgroup", s->cgroup, 0);
	return n;
}

static bool
weighs_period(const struct stack_export *x, int event)
{
	return x->by_period ||
		(x->waits_by_period && stack_export_is_wait(profile_event_name(x->profile, event)));
}

static void
put_sample(struct otlp *o, const struct profile_stack *s)
{
	const uint32_t stack = stack_of(o, s);
	uint32_t attributes[ATTRIBUTES_MAX];
	const size_t n = attributes_of(o, s, attributes);
	struct buf *b = &o->message;

	buf_clear(b);
	protobuf_uint(b, OTLP_SAMPLE_STACK, stack);
	put_packed(b, OTLP_SAMPLE_ATTRIBUTES, attributes, n, &o->part);
	buf_clear(&o->part);
	protobuf_varint(&o->part,
			weighs_period(o->x, s->event) ? s->weight.period : s->weight.samples);
	protobuf_bytes(b, OTLP_SAMPLE_VALUES, o->part.p, o->part.len);
	protobuf_bytes(&o->profile, PROFILE_SAMPLES, b->p, b->len);
	o->error = !o->error && (buf_failed(b) || buf_failed(&o->part)) ? -FMT_E_NOMEM : o->error;
}

static void
put_type(struct otlp *o, unsigned int field, const char *type, const char *unit)
{
	struct buf *b = &o->message;

	buf_clear(b);
	protobuf_uint(b, TYPE_TYPE, string_of(o, type));
	protobuf_uint(b, TYPE_UNIT, string_of(o, unit));
	protobuf_bytes(&o->profile, field, b->p, b->len);
}

/* One value a sample: how many there were, or how much; of a clock that is time. */
static void
put_types(struct otlp *o, int event, const struct profile_weight *all)
{
	const char *name = profile_event_name(o->x->profile, event);
	const bool clock = stack_export_is_clock(name);
	const char *type = clock ? "cpu" : name;
	const char *unit = stack_export_is_time(name) ? "nanoseconds" : "count";

	put_type(o, PROFILE_TYPE, weighs_period(o->x, event) ? type : "samples",
		 weighs_period(o->x, event) ? unit : "count");
	put_type(o, PROFILE_PERIOD_TYPE, type, unit);
	protobuf_uint(&o->profile, PROFILE_PERIOD, all->period / all->samples);
	if (o->x->realtime_ns)
		protobuf_fixed64(&o->profile, PROFILE_TIME, o->x->realtime_ns);
	protobuf_uint(&o->profile, PROFILE_DURATION, o->x->duration_ns);
}

/* Of whom it is and what is lost: a line each. */
static void
put_comments(struct otlp *o, const char *joined)
{
	put_attribute(&o->profile, PROFILE_ATTRIBUTES,
		      attribute_of(o, "spoor.comments", joined, 0));
}

static void
put_profile(struct otlp *o, int event, const char *comments, struct buf *out)
{
	const struct profile *p = o->x->profile;
	struct profile_weight all = { 0, 0 };
	struct profile_stack s;

	for (uint32_t i = profile_first_stack(p, event); i != PROFILE_NO_STACK;
	     i = profile_next_stack(p, i))
		if (stack_export_stack(o->x, i, &s))
			profile_weigh(&all, &s.weight);
	if (all.samples == 0)
		return;
	buf_clear(&o->profile);
	put_types(o, event, &all);
	put_comments(o, comments);
	for (uint32_t i = profile_first_stack(p, event); i != PROFILE_NO_STACK && !o->error;
	     i = profile_next_stack(p, i))
		if (stack_export_stack(o->x, i, &s))
			put_sample(o, &s);
	protobuf_bytes(out, SP_PROFILES, o->profile.p, o->profile.len);
	o->error = buf_failed(&o->profile) && !o->error ? -FMT_E_NOMEM : o->error;
}

/* --- the whole ---------------------------------------------------------------------------- */

static void
put_resource(const struct otlp *o, struct buf *out)
{
	struct buf value, pair, resource;

	if (!o->x->hostname || !*o->x->hostname)
		return;
	buf_init(&value);
	buf_init(&pair);
	buf_init(&resource);
	put_value(&value, o->x->hostname, 0);
	protobuf_bytes(&pair, KEY_VALUE_KEY, "host.name", 9);
	protobuf_bytes(&pair, KEY_VALUE_VALUE, value.p, value.len);
	protobuf_bytes(&resource, 1, pair.p, pair.len);
	protobuf_bytes(out, RP_RESOURCE, resource.p, resource.len);
	out->failed |= buf_failed(&value) || buf_failed(&pair) || buf_failed(&resource);
	buf_done(&value);
	buf_done(&pair);
	buf_done(&resource);
}

static void
put_profiles(struct otlp *o, const char *comments, struct buf *out)
{
	static const char scope[] = "\012\005spoor"; /* InstrumentationScope: its name */
	struct buf profiles;

	buf_init(&profiles);
	protobuf_bytes(&profiles, SP_SCOPE, scope, sizeof(scope) - 1);
	for (int event = profile_event_from(o->x->profile, -1);
	     event < profile_events(o->x->profile);
	     event = profile_event_from(o->x->profile, event + 1))
		put_profile(o, event, comments, &profiles);
	put_resource(o, out);
	protobuf_bytes(out, RP_SCOPE_PROFILES, profiles.p, profiles.len);
	out->failed |= buf_failed(&profiles);
	buf_done(&profiles);
}

/* A field of the outermost message, whose bytes are in several pieces. */
static void
write_field(unsigned int field, const struct buf *pieces, size_t nr, FILE *out)
{
	uint64_t n = 0;
	struct buf head;

	for (size_t i = 0; i < nr; i++)
		n += pieces[i].len;
	buf_init(&head);
	protobuf_length(&head, field, n);
	fwrite(head.p, 1, head.len, out);
	for (size_t i = 0; i < nr; i++)
		fwrite(pieces[i].p, 1, pieces[i].len, out);
	buf_done(&head);
}

static char *
join_comments(const struct stack_export *x)
{
	struct buf all;
	char *joined = NULL;

	buf_init(&all);
	for (size_t i = 0; x->comments && x->comments[i]; i++) {
		if (i > 0)
			buf_text(&all, "; ");
		buf_text(&all, x->comments[i]);
	}
	buf_u8(&all, 0);
	if (!buf_failed(&all))
		joined = strdup((const char *)all.p);
	buf_done(&all);
	return joined;
}

static void
write_all(struct otlp *o, const char *comments, FILE *out)
{
	const struct buf nothing = { .p = NULL };
	struct buf profiles;

	buf_init(&profiles);
	for (enum table t = MAPPINGS; t < TABLES; t++)
		put_row(o, t, &nothing); /* row 0 is the zero value */
	put_profiles(o, comments, &profiles);
	for (enum table t = MAPPINGS; t < TABLES; t++)
		o->error = buf_failed(&o->tables[t]) && !o->error ? -FMT_E_NOMEM : o->error;
	if (buf_failed(&profiles) && !o->error)
		o->error = -FMT_E_NOMEM;
	if (!o->error) {
		write_field(DATA_RESOURCE_PROFILES, &profiles, 1, out);
		write_field(DATA_DICTIONARY, &o->tables[MAPPINGS], TABLES - MAPPINGS, out);
	}
	buf_done(&profiles);
}

int
otlp_write(const struct stack_export *x, FILE *out)
{
	struct otlp o = { .x = x };
	char *comments = join_comments(x);

	buf_init(&o.message);
	buf_init(&o.part);
	buf_init(&o.profile);
	for (size_t t = 0; t < TABLES; t++)
		buf_init(&o.tables[t]);
	o.alone = calloc(profile_frames(x->profile) + 1, sizeof(*o.alone));
	o.stacks = calloc(profile_lists(x->profile) + 1, sizeof(*o.stacks));
	o.error = comments && o.alone && o.stacks ? 0 : -FMT_E_NOMEM;
	if (!o.error)
		write_all(&o, comments, out);
	for (size_t t = 0; t < TABLES; t++) {
		buf_done(&o.tables[t]);
		free(o.rows[t].v);
		slots_done(&o.rows[t].slots);
	}
	word_lists_done(&o.locations);
	free(o.stacks);
	buf_done(&o.message);
	buf_done(&o.part);
	buf_done(&o.profile);
	free(o.numbers);
	free(o.alone);
	free(comments);
	return o.error;
}
