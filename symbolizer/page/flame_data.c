/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/page/flame_data.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/intern.h"

#define NO_TEXT 0u /* a text of its own: null */
#define NO_FRAME UINT32_MAX
#define CUT_STACKS 65536

struct flame_frame {
	uint32_t name, object, file; /* texts */
	enum flame_kind kind;
};

struct flame_node {
	uint32_t parent, frame;
};

struct flame_who {
	uint32_t side, event, comm, cgroup, unit, pid, tid, cpu;
};

struct flame_row {
	uint32_t node, who;
	uint64_t time; /* bucket */
	struct profile_weight weight;
};

struct flame_data {
	struct profile_options keys; /* by what samples are kept apart, on one side at least */
	struct intern *intern;
	const char **texts; /* interned */
	size_t nr_texts, cap_texts;
	struct slots text_slots;
	uint32_t *events; /* texts */
	size_t nr_events, cap_events;
	struct slots event_slots;
	struct flame_frame *frames;
	size_t nr_frames, cap_frames;
	struct slots frame_slots;
	struct flame_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct slots node_slots;
	struct flame_who *whos;
	size_t nr_whos, cap_whos;
	struct slots who_slots;
	struct flame_row *rows;
	size_t nr_rows, cap_rows;
	struct buf name;
};

/* A profile on its way in. */
struct flame_add {
	struct flame_data *d;
	uint32_t side;
	const struct profile *profile;
	uint32_t *frames; /* by the profile's; NO_FRAME: not yet known */
	uint32_t *events; /* likewise, from -1 on; of those that have stacks */
	/* The stack before, from the outermost frame on, and its nodes: neighbours begin alike. */
	uint32_t *path, *path_nodes;
	size_t nr_path, cap_path, cap_path_nodes;
};

struct flame_data *
flame_data_new(void)
{
	static const struct flame_node root = { 0, NO_FRAME };
	struct flame_data *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	buf_init(&d->name);
	d->intern = intern_new(INTERN_BYTES_MAX);
	if (!d->intern || array_reserve(d->nodes, d->nr_nodes, d->cap_nodes, 1) < 0 ||
	    array_reserve(d->texts, d->nr_texts, d->cap_texts, 1) < 0) {
		flame_data_free(d);
		return NULL;
	}
	d->nodes[d->nr_nodes++] = root;
	d->texts[d->nr_texts++] = NULL;
	return d;
}

void
flame_data_free(struct flame_data *d)
{
	if (!d)
		return;
	intern_free(d->intern);
	free(d->texts);
	slots_done(&d->text_slots);
	free(d->events);
	slots_done(&d->event_slots);
	free(d->frames);
	slots_done(&d->frame_slots);
	free(d->nodes);
	slots_done(&d->node_slots);
	free(d->whos);
	slots_done(&d->who_slots);
	free(d->rows);
	buf_done(&d->name);
	free(d);
}

/* --- numbers of what is equal --------------------------------------------------------------- */

static bool
text_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct flame_data *)owner)->texts[index] == *(const char *const *)key;
}

static bool
event_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct flame_data *)owner)->events[index] == *(const uint32_t *)key;
}

static bool
frame_same(const void *owner, uint32_t index, const void *key)
{
	const struct flame_frame *a = &((const struct flame_data *)owner)->frames[index], *b = key;

	return a->name == b->name && a->object == b->object && a->kind == b->kind;
}

static bool
node_same(const void *owner, uint32_t index, const void *key)
{
	const struct flame_node *a = &((const struct flame_data *)owner)->nodes[index], *b = key;

	/* The root is nobody's child, though it says so. */
	return a->parent == b->parent && a->frame == b->frame;
}

static bool
who_same(const void *owner, uint32_t index, const void *key)
{
	return memcmp(&((const struct flame_data *)owner)->whos[index], key,
		      sizeof(struct flame_who)) == 0;
}

static int
text_number(struct flame_data *d, const char *s, uint32_t *ret)
{
	const char *text = s ? intern_string(d->intern, s) : NULL;

	*ret = NO_TEXT;
	if (!s)
		return 0;
	if (!text)
		return -FMT_E_NOMEM;
	return slots_keep(&d->text_slots, (uint32_t)slots_mix(0, (uintptr_t)text), text_same, d,
			  &text, d->texts, d->nr_texts, d->cap_texts, ret);
}

enum flame_kind
flame_kind_of(const struct frame *f)
{
	if (f->kernel)
		return FLAME_kernel;
	if (!f->symbol)
		return FLAME_unknown;
	if (f->inlined)
		return FLAME_inlined;
	return f->dso && strncmp(f->dso, "[JIT]", 5) == 0 ? FLAME_jit : FLAME_user;
}

static int
frame_number(struct flame_data *d, const struct frame *f, uint32_t *ret)
{
	static const struct stack_export plain = { .profile = NULL };
	struct flame_frame key = { .kind = flame_kind_of(f) };
	uint64_t hash;
	int err;

	buf_clear(&d->name);
	stack_export_frame_name(&plain, f, buf_text, &d->name);
	buf_u8(&d->name, 0);
	if (buf_failed(&d->name))
		return -FMT_E_NOMEM;
	err = text_number(d, (const char *)d->name.p, &key.name);
	if (err == 0)
		err = text_number(d, f->dso_path ? f->dso_path : f->dso, &key.object);
	if (err == 0)
		err = text_number(d, f->file, &key.file);
	if (err < 0)
		return err;
	hash = slots_mix((uint64_t)key.name << 32 | key.object, key.kind);
	err = slots_keep(&d->frame_slots, (uint32_t)hash, frame_same, d, &key, d->frames,
			 d->nr_frames, d->cap_frames, ret);
	/* Where one of them has a file, that is told of all. */
	if (err == 0 && d->frames[*ret].file == NO_TEXT)
		d->frames[*ret].file = key.file;
	return err;
}

static int
event_number(struct flame_data *d, const char *name, uint32_t *ret)
{
	uint32_t key;
	int err = text_number(d, name ? name : "[unknown]", &key);

	return err ? err
		   : slots_keep(&d->event_slots, (uint32_t)slots_mix(0, key), event_same, d, &key,
				d->events, d->nr_events, d->cap_events, ret);
}

/* --- stacks --------------------------------------------------------------------------------- */

static int
add_who(struct flame_add *a, const struct profile_stack *s, uint32_t *ret)
{
	struct flame_data *d = a->d;
	struct flame_who key = { .side = a->side, .pid = s->pid, .tid = s->tid, .cpu = s->cpu };
	int err = text_number(d, s->comm, &key.comm);

	key.event = a->events[s->event + 1];
	if (err == 0)
		err = text_number(d, s->cgroup, &key.cgroup);
	if (err == 0)
		err = text_number(d, s->unit, &key.unit);
	if (err < 0)
		return err;
	return slots_keep(&d->who_slots, (uint32_t)slots_mix_bytes(0, &key, sizeof(key)), who_same,
			  d, &key, d->whos, d->nr_whos, d->cap_whos, ret);
}

/* The node of the first n + 1 frames, whose first n have the node at. */
static int
step(struct flame_add *a, uint32_t frame, size_t n, uint32_t *at)
{
	struct flame_data *d = a->d;
	struct flame_node key = { .parent = *at };
	int err = 0;

	if (a->frames[frame] == NO_FRAME)
		err = frame_number(d, profile_frame(a->profile, frame), &a->frames[frame]);
	if (err < 0)
		return err;
	key.frame = a->frames[frame];
	err = slots_keep(&d->node_slots,
			 (uint32_t)slots_mix((uint64_t)key.parent << 32 | key.frame, 0), node_same,
			 d, &key, d->nodes, d->nr_nodes, d->cap_nodes, at);
	a->path[n] = frame;
	a->path_nodes[n] = *at;
	return err;
}

static int
add_stack(struct flame_add *a, const struct profile_stack *s)
{
	struct flame_data *d = a->d;
	struct flame_row row = { .time = s->time, .weight = s->weight };
	size_t n = 0;
	int err = array_reserve(a->path, 0, a->cap_path, s->nr_frames);

	if (err == 0)
		err = array_reserve(a->path_nodes, 0, a->cap_path_nodes, s->nr_frames);
	if (err == 0)
		err = array_reserve(d->rows, d->nr_rows, d->cap_rows, 1);
	if (err == 0)
		err = add_who(a, s, &row.who);
	if (err < 0)
		return err;
	while (n < a->nr_path && n < s->nr_frames && a->path[n] == s->frames[s->nr_frames - 1 - n])
		row.node = a->path_nodes[n++];
	for (; n < s->nr_frames && err == 0; n++)
		err = step(a, s->frames[s->nr_frames - 1 - n], n, &row.node);
	a->nr_path = n;
	if (err == 0)
		d->rows[d->nr_rows++] = row;
	return err;
}

/* In the order of the profile's, whatever that of the stacks. */
static int
add_events(struct flame_add *a)
{
	int err = 0;

	for (int event = -1; event < profile_events(a->profile) && err == 0; event++)
		if (profile_first_stack(a->profile, event) != PROFILE_NO_STACK)
			err = event_number(a->d,
					   event < 0 ? NULL : profile_event_name(a->profile, event),
					   &a->events[event + 1]);
	return err;
}

int
flame_data_add(struct flame_data *d, unsigned int side, struct profile *profile,
	       const struct profile_options *options)
{
	const size_t nr_frames = profile_frames(profile),
		     nr_events = (size_t)profile_events(profile) + 1;
	struct flame_add a = { .d = d, .side = side, .profile = profile };
	struct profile_stack s;
	int err;

#define X(type, name) d->keys.by_##name |= options->by_##name;
	PROFILE_KEYS(X)
#undef X
	a.frames = calloc(nr_frames + 1, sizeof(*a.frames));
	a.events = calloc(nr_events, sizeof(*a.events));
	err = a.frames && a.events ? 0 : -FMT_E_NOMEM;
	if (err == 0) {
		memset(a.frames, 0xff, nr_frames * sizeof(*a.frames));
		err = add_events(&a);
	}
	profile_settle(profile);
	for (size_t i = profile_stacks(profile); err == 0 && i > 0;) {
		profile_stack_at(profile, --i, &s);
		err = add_stack(&a, &s);
		if (i % CUT_STACKS == 0)
			profile_cut_stacks(profile, i);
	}
	free(a.frames);
	free(a.events);
	free(a.path);
	free(a.path_nodes);
	return err;
}

/* --- the way out ---------------------------------------------------------------------------- */

/* Of an array of structs, a member of each. */
#define put_column(j, key, v, n, member)                                                           \
	do {                                                                                       \
		page_json_open(j, key, '[');                                                       \
		for (size_t i_ = 0; i_ < (n); i_++)                                                \
			page_json_number(j, NULL, (v)[i_].member);                                 \
		page_json_close(j, ']');                                                           \
	} while (0)

static void
put_texts(const struct flame_data *d, struct page_json *j)
{
	page_json_open(j, "texts", '[');
	for (size_t i = 0; i < d->nr_texts; i++)
		page_json_text(j, NULL, d->texts[i]);
	page_json_close(j, ']');
	page_json_open(j, "events", '[');
	for (size_t i = 0; i < d->nr_events; i++) {
		page_json_open(j, NULL, '{');
		page_json_text(j, "name", d->texts[d->events[i]]);
		page_json_number(j, "clock", stack_export_is_clock(d->texts[d->events[i]]));
		page_json_number(j, "wait", stack_export_is_wait(d->texts[d->events[i]]));
		page_json_close(j, '}');
	}
	page_json_close(j, ']');
}

static void
put_nodes(const struct flame_data *d, struct page_json *j)
{
	static const char *const kinds[] = {
#define X(name) #name,
		FLAME_KINDS(X)
#undef X
	};

	page_json_open(j, "kinds", '[');
	for (int i = 0; i < FLAME_KINDS_MAX; i++)
		page_json_text(j, NULL, kinds[i]);
	page_json_close(j, ']');
	page_json_open(j, "frames", '{');
	put_column(j, "name", d->frames, d->nr_frames, name);
	put_column(j, "object", d->frames, d->nr_frames, object);
	put_column(j, "file", d->frames, d->nr_frames, file);
	put_column(j, "kind", d->frames, d->nr_frames, kind);
	page_json_close(j, '}');
	page_json_open(j, "nodes", '{');
	page_json_open(j, "parent", '[');
	for (size_t i = 1; i < d->nr_nodes; i++)
		page_json_number(j, NULL, i - d->nodes[i].parent);
	page_json_close(j, ']');
	page_json_open(j, "frame", '[');
	for (size_t i = 1; i < d->nr_nodes; i++)
		page_json_number(j, NULL, d->nodes[i].frame);
	page_json_close(j, ']');
	page_json_close(j, '}');
}

static void
put_whos(const struct flame_data *d, struct page_json *j)
{
	page_json_open(j, "keys", '[');
	page_json_text(j, NULL, "comm");
#define X(type, name)                                                                              \
	if (d->keys.by_##name)                                                                     \
		page_json_text(j, NULL, #name);
	PROFILE_KEYS(X)
#undef X
	page_json_close(j, ']');
	page_json_open(j, "whos", '{');
	put_column(j, "side", d->whos, d->nr_whos, side);
	put_column(j, "event", d->whos, d->nr_whos, event);
	put_column(j, "comm", d->whos, d->nr_whos, comm);
	put_column(j, "cgroup", d->whos, d->nr_whos, cgroup);
	put_column(j, "unit", d->whos, d->nr_whos, unit);
	put_column(j, "pid", d->whos, d->nr_whos, pid);
	put_column(j, "tid", d->whos, d->nr_whos, tid);
	put_column(j, "cpu", d->whos, d->nr_whos, cpu);
	page_json_close(j, '}');
}

/* Numbers of rows by node, and of one in their order; NULL: out of memory. */
static uint32_t *
sort_rows(const struct flame_data *d)
{
	uint32_t *order = calloc(d->nr_rows + 1, sizeof(*order));
	uint32_t *next = calloc(d->nr_nodes + 1, sizeof(*next));

	for (size_t i = 0; order && next && i < d->nr_rows; i++)
		next[d->rows[i].node + 1]++;
	for (size_t i = 1; order && next && i <= d->nr_nodes; i++)
		next[i] += next[i - 1];
	for (size_t i = 0; order && next && i < d->nr_rows; i++)
		order[next[d->rows[i].node]++] = (uint32_t)i;
	if (!next) {
		free(order);
		order = NULL;
	}
	free(next);
	return order;
}

size_t
flame_data_rows(const struct flame_data *d)
{
	return d->nr_rows;
}

struct merging {
	const struct flame_data *d;
	const struct flame_times *times;
};

static uint64_t
column_of(const struct flame_data *d, const struct flame_times *times, const struct flame_row *row)
{
	/* The clock of side 1 is another, and its times say nothing. */
	return d->whos[row->who].side == 0 ? (row->time - times->from) / times->per : 0;
}

/* Of one node, by who and column. */
static int
order_of(const struct merging *m, const struct flame_row *a, const struct flame_row *b)
{
	uint64_t ca, cb;

	if (a->who != b->who)
		return a->who < b->who ? -1 : 1;
	ca = column_of(m->d, m->times, a);
	cb = column_of(m->d, m->times, b);
	return (ca > cb) - (ca < cb);
}

static int
compare_rows(const void *va, const void *vb, void *arg)
{
	const struct merging *m = arg;

	return order_of(m, &m->d->rows[*(const uint32_t *)va], &m->d->rows[*(const uint32_t *)vb]);
}

/* Puts the i-th row of an order where it belongs, cycle by cycle: there is no room for all of them twice. */
static void
move_rows(struct flame_row *rows, uint32_t *order, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct flame_row first = rows[i];
		size_t at = i, from;

		while ((from = order[at]) != i) {
			rows[at] = rows[from];
			order[at] = (uint32_t)at;
			at = from;
		}
		rows[at] = first;
		order[at] = (uint32_t)at;
	}
}

int
flame_data_merge(struct flame_data *d, const struct flame_times *times)
{
	struct merging m = { d, times };
	uint32_t *order = sort_rows(d);
	struct flame_row *rows = d->rows;
	size_t nr = 0;

	if (!order)
		return -FMT_E_NOMEM;
	for (size_t i = 0, n; i < d->nr_rows; i += n) {
		for (n = 1; i + n < d->nr_rows && rows[order[i + n]].node == rows[order[i]].node;)
			n++;
		qsort_r(order + i, n, sizeof(*order), compare_rows, &m);
	}
	move_rows(rows, order, d->nr_rows);
	free(order);
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (nr > 0 && rows[nr - 1].node == rows[i].node &&
		    order_of(&m, &rows[nr - 1], &rows[i]) == 0)
			profile_weigh(&rows[nr - 1].weight, &rows[i].weight);
		else
			rows[nr++] = rows[i];
	}
	d->nr_rows = nr;
	return 0;
}

/* Most have one period a sample: what divides all makes their numbers short. */
static uint64_t
period_unit(const struct flame_data *d)
{
	uint64_t unit = 0;

	for (size_t i = 0; i < d->nr_rows && unit != 1; i++) {
		uint64_t a = d->rows[i].weight.period;

		while (a != 0) {
			const uint64_t rest = unit % a;

			unit = a;
			a = rest;
		}
	}
	return unit ? unit : 1;
}

static int
put_rows(const struct flame_data *d, const struct flame_times *times, struct page_json *j)
{
	uint32_t *order = sort_rows(d), before = 0;
	const uint64_t unit = period_unit(d);

	if (!order)
		return -FMT_E_NOMEM;
	page_json_number(j, "period_unit", unit);
	page_json_open(j, "rows", '{');
	page_json_open(j, "node", '[');
	for (size_t i = 0; i < d->nr_rows; i++) {
		page_json_number(j, NULL, d->rows[order[i]].node - before);
		before = d->rows[order[i]].node;
	}
	page_json_close(j, ']');
#define COLUMN(key, value)                                                                         \
	page_json_open(j, key, '[');                                                               \
	for (size_t i = 0; i < d->nr_rows; i++)                                                    \
		page_json_number(j, NULL, d->rows[order[i]].value);                                \
	page_json_close(j, ']');
	COLUMN("who", who)
	COLUMN("samples", weight.samples)
	COLUMN("period", weight.period / unit)
#undef COLUMN
	if (times) {
		page_json_open(j, "bucket", '[');
		for (size_t i = 0; i < d->nr_rows; i++)
			page_json_number(j, NULL, column_of(d, times, &d->rows[order[i]]));
		page_json_close(j, ']');
	}
	page_json_close(j, '}');
	free(order);
	return 0;
}

int
flame_data_write(const struct flame_data *d, const struct flame_times *times, struct page_json *j)
{
	put_texts(d, j);
	put_nodes(d, j);
	put_whos(d, j);
	return put_rows(d, times, j);
}
