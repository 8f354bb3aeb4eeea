/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "format/model/task_model.h"
#include "symbolizer/export/gzip_stream.h"
#include "symbolizer/export/protobuf.h"
#include "symbolizer/text/escape.h"

#define WRITE_BYTES (256u << 10)
#define STRING_TABLE 6 /* of the Profile */

/* Numbers of fields, by message. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION };
enum { TIME_NANOS = 9, DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM, LABEL_UNIT };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID
};
enum { HAS_FUNCTIONS = 7, HAS_FILENAMES, HAS_LINES, HAS_INLINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };

struct mapping {
	const char *path, *build_id;
	bool functions, files, lines, inlines;
	uint64_t weight; /* samples of which it is the program */
};

/* Frames of one address, the innermost first: where in words, and how many. */
struct location {
	const uint32_t *frames;
	uint32_t nr;
};

struct function {
	const char *name, *file;
};

struct pprof {
	const struct stack_export *x;
	struct gzip_stream *gzip;
	struct buf out, message, part, packed;
	/* What has been met so far; ids are indexes + 1, those of strings just indexes. */
	struct mapping *mappings;
	size_t nr_mappings, cap_mappings;
	struct slots mapping_slots;
	struct location *locations; /* of frames that the profile keeps */
	size_t nr_locations, cap_locations;
	struct slots location_slots;
	uint32_t *alone; /* by id of a frame: its location where it is the only one there, + 1 */
	struct function *functions;
	size_t nr_functions, cap_functions;
	struct slots function_slots;
	const char **strings; /* equal ones are one pointer, or are twice in the table */
	size_t nr_strings, cap_strings;
	struct slots string_slots;
	int *values; /* by event: which pair of values; -1: no sample has it */
	int nr_events, nr_pairs;
	char **names; /* by pair */
	int error;
};

/* --- what is told by number --------------------------------------------------------------- */

static bool
string_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct pprof *)owner)->strings[index] == *(const char *const *)key;
}

static bool
mapping_same(const void *owner, uint32_t index, const void *key)
{
	const struct mapping *a = &((const struct pprof *)owner)->mappings[index], *b = key;

	return a->path == b->path && a->build_id == b->build_id;
}

static bool
function_same(const void *owner, uint32_t index, const void *key)
{
	const struct function *a = &((const struct pprof *)owner)->functions[index], *b = key;

	return a->name == b->name && a->file == b->file;
}

static bool
location_same(const void *owner, uint32_t index, const void *key)
{
	const struct location *a = &((const struct pprof *)owner)->locations[index], *b = key;

	return a->nr == b->nr && memcmp(a->frames, b->frames, a->nr * sizeof(*a->frames)) == 0;
}

static uint32_t
pair_hash(const void *a, const void *b)
{
	return (uint32_t)slots_mix(slots_mix(0, (uintptr_t)a), (uintptr_t)b);
}

/* The string table's number of s; 0 is "", which NULL is as well. */
static uint32_t
string_of(struct pprof *p, const char *s)
{
	uint32_t i = 0;

	if (!s || !*s)
		return 0;
	p->error = p->error ? p->error
			    : slots_keep(&p->string_slots, pair_hash(s, NULL), string_same, p, &s,
					 p->strings, p->nr_strings, p->cap_strings, &i);
	return i;
}

static uint32_t
mapping_of(struct pprof *p, const struct frame *f)
{
	const struct mapping m = { .path = f->dso_path, .build_id = f->build_id };
	uint32_t i = 0;

	p->error = p->error
		? p->error
		: slots_keep(&p->mapping_slots, pair_hash(m.path, m.build_id), mapping_same, p, &m,
			     p->mappings, p->nr_mappings, p->cap_mappings, &i);
	return i;
}

static uint32_t
function_of(struct pprof *p, const struct frame *f)
{
	const struct function key = { frame_label(f), f->file };
	uint32_t i = 0;

	p->error = p->error
		? p->error
		: slots_keep(&p->function_slots, pair_hash(key.name, key.file), function_same, p,
			     &key, p->functions, p->nr_functions, p->cap_functions, &i);
	return i;
}

/* --- messages ----------------------------------------------------------------------------- */

/* Empties b; that it had no room is not forgotten. */
static struct buf *
begin(struct pprof *p, struct buf *b)
{
	if (buf_failed(b) && !p->error)
		p->error = -FMT_E_NOMEM;
	buf_clear(b);
	return b;
}

static void
flush(struct pprof *p)
{
	gzip_stream_write(p->gzip, p->out.p, p->out.len);
	begin(p, &p->out);
}

static void
put(struct pprof *p, unsigned int field, const struct buf *message)
{
	protobuf_bytes(&p->out, field, message->p, message->len);
	if (p->out.len > WRITE_BYTES)
		flush(p);
}

static void
put_mapping(struct pprof *p, uint32_t i)
{
	const struct mapping *m = &p->mappings[i];
	struct buf *b = begin(p, &p->message);

	protobuf_uint(b, MAPPING_ID, i + 1);
	protobuf_uint(b, MAPPING_LIMIT, UINT64_MAX);
	protobuf_uint(b, MAPPING_FILE, string_of(p, m->path));
	protobuf_uint(b, MAPPING_BUILD_ID, string_of(p, m->build_id));
	/* Without a build-id whatever has that path here would give names that may be wrong. */
	protobuf_uint(b, HAS_FUNCTIONS, m->functions || !m->build_id);
	protobuf_uint(b, HAS_FILENAMES, m->files);
	protobuf_uint(b, HAS_LINES, m->lines);
	protobuf_uint(b, HAS_INLINES, m->inlines);
	put(p, MAPPING, b);
}

static void
put_line(struct pprof *p, struct mapping *m, const struct frame *f)
{
	if (!frame_label(f))
		return;
	begin(p, &p->part);
	protobuf_uint(&p->part, LINE_FUNCTION, function_of(p, f) + 1);
	protobuf_uint(&p->part, LINE_LINE, f->line);
	protobuf_bytes(&p->message, LOCATION_LINE, p->part.p, p->part.len);
	m->functions |= f->miss != RESOLVE_NO_NAME;
	m->files |= f->file != NULL;
	m->lines |= f->line != 0;
	m->inlines |= f->inlined;
}

static void
put_location(struct pprof *p, uint32_t i)
{
	const struct location *l = &p->locations[i];
	const struct frame *own = profile_frame(p->x->profile, l->frames[l->nr - 1]);
	const uint32_t mapping = mapping_of(p, own);

	if (p->error)
		return;
	begin(p, &p->message);
	protobuf_uint(&p->message, LOCATION_ID, i + 1);
	protobuf_uint(&p->message, LOCATION_MAPPING, mapping + 1);
	protobuf_uint(&p->message, LOCATION_ADDRESS, own->vaddr);
	for (uint32_t k = 0; k < l->nr; k++)
		put_line(p, &p->mappings[mapping], profile_frame(p->x->profile, l->frames[k]));
	put(p, LOCATION, &p->message);
}

static void
put_function(struct pprof *p, uint32_t i)
{
	const struct function *f = &p->functions[i];

	begin(p, &p->message);
	protobuf_uint(&p->message, FUNCTION_ID, i + 1);
	/* No system_name: of one that is the name pprof takes templates away. */
	protobuf_uint(&p->message, FUNCTION_NAME, string_of(p, f->name));
	protobuf_uint(&p->message, FUNCTION_FILE, string_of(p, f->file));
	put(p, FUNCTION, &p->message);
}

static void
put_string(struct pprof *p, const char *s)
{
	begin(p, &p->message);
	escape(&p->message, s);
	put(p, STRING_TABLE, &p->message);
}

static void
put_type(struct pprof *p, unsigned int field, const char *type, const char *unit)
{
	begin(p, &p->message);
	protobuf_uint(&p->message, TYPE_TYPE, string_of(p, type));
	protobuf_uint(&p->message, TYPE_UNIT, string_of(p, unit));
	put(p, field, &p->message);
}

/* --- samples ------------------------------------------------------------------------------ */

/* How many frames from there on, of those left, are of one address. */
static uint32_t
frames_of_address(const struct pprof *p, const uint32_t *frames, uint32_t left)
{
	uint32_t n = 1;

	while (n < left && profile_frame(p->x->profile, frames[n - 1])->inlined)
		n++;
	return n;
}

static uint32_t
location_of(struct pprof *p, const uint32_t *frames, uint32_t nr)
{
	const struct location l = { frames, nr };
	const size_t known = p->nr_locations;
	uint32_t i = 0;
	uint64_t hash = 0;

	if (nr == 1 && p->alone[*frames])
		return p->alone[*frames] - 1;
	for (uint32_t k = 0; k < nr; k++)
		hash = slots_mix(hash, frames[k]);
	p->error = p->error ? p->error
			    : slots_keep(&p->location_slots, (uint32_t)hash, location_same, p, &l,
					 p->locations, p->nr_locations, p->cap_locations, &i);
	if (!p->error && i == known)
		put_location(p, i);
	if (!p->error && nr == 1)
		p->alone[*frames] = i + 1;
	return i;
}

static void
label_text(struct pprof *p, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	begin(p, &p->part);
	protobuf_uint(&p->part, LABEL_KEY, string_of(p, key));
	protobuf_uint(&p->part, LABEL_STR, string_of(p, text));
	protobuf_bytes(&p->message, SAMPLE_LABEL, p->part.p, p->part.len);
}

static void
label_number(struct pprof *p, const char *key, uint64_t number)
{
	begin(p, &p->part);
	protobuf_uint(&p->part, LABEL_KEY, string_of(p, key));
	protobuf_uint(&p->part, LABEL_NUM, number);
	/* A number 0 without a unit is no label for pprof, which takes the key for the unit of a number without one. */
	protobuf_uint(&p->part, LABEL_UNIT, string_of(p, key));
	protobuf_bytes(&p->message, SAMPLE_LABEL, p->part.p, p->part.len);
}

static void
put_labels(struct pprof *p, const struct profile_stack *s)
{
	const struct profile_options *o = p->x->options;

	label_text(p, "comm", s->comm);
	if (o->by_pid)
		label_number(p, "pid", s->pid);
	if (o->by_tid)
		label_number(p, "tid", s->tid);
	if (o->by_cpu)
		label_number(p, "cpu", s->cpu);
	if (o->by_cgroup)
		label_text(p, "cgroup", s->cgroup);
}

static void
put_sample(struct pprof *p, const struct profile_stack *s)
{
	struct buf *b = begin(p, &p->packed);

	/* Locations first: they are messages of their own. */
	for (uint32_t i = 0, n; i < s->nr_frames; i += n) {
		n = frames_of_address(p, &s->frames[i], s->nr_frames - i);
		protobuf_varint(b, location_of(p, &s->frames[i], n) + UINT64_C(1));
	}
	begin(p, &p->message);
	protobuf_bytes(&p->message, SAMPLE_LOCATION, b->p, b->len);
	begin(p, b);
	for (int i = 0; i < p->nr_pairs; i++) {
		const bool own = i == p->values[s->event + 1];

		protobuf_varint(b, own ? s->weight.samples : 0);
		protobuf_varint(b, own ? s->weight.period : 0);
	}
	protobuf_bytes(&p->message, SAMPLE_VALUE, b->p, b->len);
	put_labels(p, s);
	put(p, SAMPLE, &p->message);
}

/* --- the program -------------------------------------------------------------------------- */

/* Is it an ELF file that is run, as far as its name tells? Libraries have ".so" in theirs: of pprof's rule. */
static bool
is_program(const struct frame *f)
{
	const char *name = f->dso_path;

	if (f->kernel || !name || map_object_anonymous(name) || !strrchr(name, '/'))
		return false;
	name = strrchr(name, '/');
	while ((name = strstr(name, ".so")) != NULL) {
		name += strlen(".so");
		if (*name == '\0' || strchr("._ ", *name)) /* " (deleted)" */
			return false;
	}
	return true;
}

/* A sample is of the outermost program of its stack. */
static void
weigh_program(struct pprof *p, const struct profile_stack *s)
{
	for (uint32_t k = s->nr_frames; k-- > 0;) {
		const struct frame *f = profile_frame(p->x->profile, s->frames[k]);

		if (is_program(f)) {
			const uint32_t i = mapping_of(p, f);

			if (!p->error)
				p->mappings[i].weight += s->weight.samples;
			return;
		}
	}
}

/* The program of most samples comes first: pprof takes the first mapping for the one that was run. */
static void
put_mappings(struct pprof *p)
{
	uint32_t program = 0;

	for (uint32_t i = 1; i < p->nr_mappings; i++)
		if (p->mappings[i].weight > p->mappings[program].weight)
			program = i;
	if (p->nr_mappings > 0)
		put_mapping(p, program);
	for (uint32_t i = 0; i < p->nr_mappings && !p->error; i++)
		if (i != program)
			put_mapping(p, i);
}

/* --- the whole ---------------------------------------------------------------------------- */

/* Which events have samples: of each, a pair of values, in their order. */
static int
count_events(struct pprof *p)
{
	const size_t n = profile_stacks(p->x->profile);
	struct profile_stack s;

	for (size_t i = 0; i < n; i++)
		if (stack_export_stack(p->x, i, &s) && s.event + 2 > p->nr_events)
			p->nr_events = s.event + 2;
	p->values = calloc((size_t)p->nr_events + 1, sizeof(*p->values));
	if (!p->values)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (stack_export_stack(p->x, i, &s))
			p->values[s.event + 1] = 1;
	for (int e = 0; e < p->nr_events; e++)
		p->values[e] = p->values[e] ? p->nr_pairs++ : -1;
	p->names = calloc((size_t)p->nr_pairs + 1, sizeof(*p->names));
	p->alone = calloc(profile_frames(p->x->profile) + 1, sizeof(*p->alone));
	return p->names && p->alone ? 0 : -FMT_E_NOMEM;
}

/* The pair of values of an event: "samples" and, of a clock, "cpu", or with its name where there are more. */
static void
put_pair(struct pprof *p, int pair, const char *event)
{
	const bool clock = stack_export_is_clock(event), one = p->nr_pairs == 1;
	const char *unit = stack_export_is_time(event) ? "nanoseconds" : "count";
	const char *type = clock && one ? "cpu" : event;
	char **samples = &p->names[pair];

	/* Strings of the table live until it is written. */
	if (asprintf(samples, "%s%s", one ? "" : event, one ? "samples" : "_samples") < 0) {
		*samples = NULL;
		p->error = -FMT_E_NOMEM;
	}
	put_type(p, SAMPLE_TYPE, *samples, "count");
	put_type(p, SAMPLE_TYPE, type, unit);
	if (one)
		put_type(p, PERIOD_TYPE, type, unit);
}

static void
put_types(struct pprof *p)
{
	const struct profile_totals *t = profile_totals(p->x->profile);

	for (int e = 0; e < p->nr_events; e++)
		if (p->values[e] >= 0)
			put_pair(p, p->values[e], profile_event_name(p->x->profile, e - 1));
	if (p->nr_pairs == 1 && t->samples > 0)
		protobuf_uint(&p->out, PERIOD, t->period / t->samples);
}

static void
write_all(struct pprof *p)
{
	const size_t n = profile_stacks(p->x->profile);
	struct profile_stack s;

	put_types(p);
	protobuf_uint(&p->out, TIME_NANOS, p->x->realtime_ns);
	protobuf_uint(&p->out, DURATION_NANOS, p->x->duration_ns);
	for (size_t i = 0; p->x->comments && p->x->comments[i]; i++)
		protobuf_uint(&p->out, COMMENT, string_of(p, p->x->comments[i]));
	for (size_t i = 0; i < n && !p->error; i++)
		if (stack_export_stack(p->x, i, &s)) {
			weigh_program(p, &s);
			put_sample(p, &s);
		}
	put_mappings(p);
	for (uint32_t i = 0; i < p->nr_functions && !p->error; i++)
		put_function(p, i);
	for (size_t i = 0; i < p->nr_strings && !p->error; i++)
		put_string(p, p->strings[i]);
	flush(p);
}

static void
done(struct pprof *p)
{
	gzip_stream_end(p->gzip);
	buf_done(&p->out);
	buf_done(&p->message);
	buf_done(&p->part);
	buf_done(&p->packed);
	free(p->mappings);
	free(p->locations);
	free(p->functions);
	free(p->strings);
	for (int i = 0; p->names && i < p->nr_pairs; i++)
		free(p->names[i]);
	free(p->names);
	free(p->values);
	free(p->alone);
	slots_done(&p->mapping_slots);
	slots_done(&p->location_slots);
	slots_done(&p->function_slots);
	slots_done(&p->string_slots);
}

int
pprof_write(const struct stack_export *x, FILE *out)
{
	static const char *const none = "";
	struct pprof p = { .x = x };
	uint32_t i;
	int err;

	buf_init(&p.out);
	buf_init(&p.message);
	buf_init(&p.part);
	buf_init(&p.packed);
	p.gzip = gzip_stream_new(out);
	err = p.gzip ? count_events(&p) : -FMT_E_NOMEM;
	if (err == 0)
		err = slots_keep(&p.string_slots, pair_hash(none, NULL), string_same, &p, &none,
				 p.strings, p.nr_strings, p.cap_strings, &i);
	if (err == 0) {
		write_all(&p);
		err = p.error;
	}
	if (err == 0 &&
	    (buf_failed(&p.out) || buf_failed(&p.message) || buf_failed(&p.part) ||
	     buf_failed(&p.packed)))
		err = -FMT_E_NOMEM;
	done(&p);
	return err;
}
