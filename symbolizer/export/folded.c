/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/intern.h"

/* Frames in order of their names, so that stacks are compared without touching strings. */
struct folded {
	const struct profile *profile;
	struct buf names;     /* NUL-terminated, one after another */
	size_t *name;	      /* by frame id: where in names */
	uint32_t *rank;	      /* by frame id: equal for equal names */
	uint32_t *order;      /* frame ids by name */
	struct intern *comms; /* escaped */
	struct profile_stack *stacks;
	size_t nr_stacks;
};

static const char *
name_at(const struct folded *f, uint32_t id)
{
	return (const char *)f->names.p + f->name[id];
}

static int
compare_frames(const void *va, const void *vb, void *arg)
{
	const uint32_t *a = va, *b = vb;
	const struct folded *f = arg;

	return strcmp(name_at(f, *a), name_at(f, *b));
}

static int
rank_frames(struct folded *f, const struct stack_export *x)
{
	const size_t n = profile_frames(f->profile);

	f->name = calloc(n + 1, sizeof(*f->name));
	f->rank = calloc(n + 1, sizeof(*f->rank));
	f->order = calloc(n + 1, sizeof(*f->order));
	if (!f->name || !f->rank || !f->order)
		return -FMT_E_NOMEM;
	for (uint32_t id = 0; id < n; id++) {
		f->order[id] = id;
		f->name[id] = f->names.len;
		stack_export_frame_name(x, profile_frame(f->profile, id), escape_folded, &f->names);
		buf_u8(&f->names, 0);
	}
	if (buf_failed(&f->names))
		return -FMT_E_NOMEM;
	qsort_r(f->order, n, sizeof(*f->order), compare_frames, f);
	for (size_t i = 1; i < n; i++) {
		bool same = strcmp(name_at(f, f->order[i - 1]), name_at(f, f->order[i])) == 0;

		f->rank[f->order[i]] = same ? f->rank[f->order[i - 1]] : (uint32_t)i;
	}
	return 0;
}

/* Commands are told apart, and ordered, as they are written: whoever merges lines goes by these. */
static int
escape_comms(struct folded *f)
{
	const char *raw = NULL, *escaped = NULL;
	struct buf scratch;
	bool nomem = false;

	buf_init(&scratch);
	for (size_t i = 0; i < f->nr_stacks && !nomem; i++) {
		struct profile_stack *s = &f->stacks[i];

		if (s->comm != raw) {
			buf_clear(&scratch);
			escape_folded(&scratch, s->comm);
			raw = s->comm;
			escaped = intern_add(f->comms, (const char *)scratch.p, scratch.len);
		}
		nomem = buf_failed(&scratch) || !escaped;
		s->comm = escaped;
	}
	buf_done(&scratch);
	return nomem ? -FMT_E_NOMEM : 0;
}

static int
pick_stacks(struct folded *f, const struct stack_export *x)
{
	const size_t n = profile_stacks(f->profile);

	f->comms = intern_new(SIZE_MAX);
	f->stacks = calloc(n + 1, sizeof(*f->stacks));
	if (!f->stacks || !f->comms)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		f->nr_stacks += stack_export_stack(x, i, &f->stacks[f->nr_stacks]);
	return escape_comms(f);
}

static int
compare_stacks(const void *va, const void *vb, void *arg)
{
	const struct profile_stack *a = va, *b = vb;
	const struct folded *f = arg;
	int c = strcmp(a->comm, b->comm);

	for (uint32_t i = 1; c == 0 && i <= a->nr_frames && i <= b->nr_frames; i++) {
		uint32_t ra = f->rank[a->frames[a->nr_frames - i]];
		uint32_t rb = f->rank[b->frames[b->nr_frames - i]];

		c = (ra > rb) - (ra < rb);
	}
	if (c == 0)
		c = (a->nr_frames > b->nr_frames) - (a->nr_frames < b->nr_frames);
	return c;
}

static void
write_line(const struct folded *f, const struct profile_stack *s, uint64_t n, struct buf *scratch,
	   FILE *out)
{
	buf_clear(scratch);
	buf_append(scratch, s->comm, strlen(s->comm));
	for (uint32_t i = s->nr_frames; i-- > 0;) {
		const char *name = name_at(f, s->frames[i]);

		buf_u8(scratch, ';');
		buf_append(scratch, name, strlen(name));
	}
	if (!buf_failed(scratch)) {
		fwrite(scratch->p, 1, scratch->len, out);
		fprintf(out, " %" PRIu64 "\n", n);
	}
}

static int
write_stacks(const struct folded *f, const struct stack_export *x, FILE *out)
{
	struct buf scratch;
	uint64_t n = 0;
	int err = 0;

	buf_init(&scratch);
	for (size_t i = 0; i < f->nr_stacks && err == 0; i++) {
		const struct profile_stack *s = &f->stacks[i];

		n += x->by_period ? s->weight.period : s->weight.samples;
		if (i + 1 < f->nr_stacks && compare_stacks(s, s + 1, (void *)(uintptr_t)f) == 0)
			continue;
		write_line(f, s, n, &scratch, out);
		err = buf_failed(&scratch) ? -FMT_E_NOMEM : 0;
		n = 0;
	}
	buf_done(&scratch);
	return err;
}

int
folded_write(const struct stack_export *x, FILE *out)
{
	struct folded f = { .profile = x->profile };
	int err;

	buf_init(&f.names);
	err = rank_frames(&f, x);
	if (err == 0)
		err = pick_stacks(&f, x);
	if (err == 0) {
		qsort_r(f.stacks, f.nr_stacks, sizeof(*f.stacks), compare_stacks, &f);
		err = write_stacks(&f, x, out);
		if (x->left_out > 0)
			fprintf(out, STACK_EXPORT_LEFT_OUT " %" PRIu64 "\n", x->left_out);
	}
	buf_done(&f.names);
	free(f.name);
	free(f.rank);
	free(f.order);
	free(f.stacks);
	intern_free(f.comms);
	return err;
}
