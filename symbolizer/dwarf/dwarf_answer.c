/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

#define FLUSH_BYTES (64u << 10)

enum { TAG_STRING = 'S', TAG_ADDRESS = 'A', TAG_PARTIAL = 'P', TAG_LACKING = 'L', TAG_END = 'E' };

/* --- writing ----------------------------------------------------------------------------- */

struct dwarf_answer {
	int fd;
	struct buf out;
	const char **strings; /* that were written, by number - 1 */
	size_t nr, cap;
	struct slots slots;
};

struct dwarf_answer *
dwarf_answer_new(int fd)
{
	struct dwarf_answer *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->fd = fd;
	buf_init(&a->out);
	return a;
}

static int
flush(struct dwarf_answer *a)
{
	size_t at = 0;

	if (buf_failed(&a->out))
		return -FMT_E_NOMEM;
	while (at < a->out.len) {
		ssize_t n = write(a->fd, a->out.p + at, a->out.len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -FMT_E_IO;
		at += (size_t)n;
	}
	buf_clear(&a->out);
	return 0;
}

static bool
same_string(const void *owner, uint32_t index, const void *key)
{
	return ((const struct dwarf_answer *)owner)->strings[index] == *(const char *const *)key;
}

/* Writes a string the first time that it comes. */
static int
number_of(struct dwarf_answer *a, const char *s, uint32_t *ret)
{
	const size_t known = a->nr;
	int error;

	*ret = 0;
	if (!s)
		return 0;
	error = slots_keep(&a->slots, (uint32_t)slots_mix((uintptr_t)s, 0), same_string, a, &s,
			   a->strings, a->nr, a->cap, ret);
	if (error)
		return error;
	if ((*ret)++ == known) {
		buf_u32(&a->out, TAG_STRING);
		buf_string(&a->out, s);
	}
	return 0;
}

int
dwarf_answer_add(struct dwarf_answer *a, size_t i, const struct dwarf_frame *frames, size_t nr,
		 bool partial)
{
	uint32_t numbers[DWARF_FRAMES_MAX][2];
	int error = 0;

	if (nr > DWARF_FRAMES_MAX)
		nr = DWARF_FRAMES_MAX;
	for (size_t k = 0; !error && k < nr; k++) {
		error = number_of(a, frames[k].function, &numbers[k][0]);
		if (!error)
			error = number_of(a, frames[k].file, &numbers[k][1]);
	}
	if (error)
		return error;
	buf_u32(&a->out, partial ? TAG_PARTIAL : TAG_ADDRESS);
	buf_u32(&a->out, (uint32_t)i);
	buf_u32(&a->out, (uint32_t)nr);
	for (size_t k = 0; k < nr; k++) {
		buf_u32(&a->out, numbers[k][0]);
		buf_u32(&a->out, numbers[k][1]);
		buf_u32(&a->out, frames[k].line);
	}
	return a->out.len >= FLUSH_BYTES ? flush(a) : 0;
}

void
dwarf_answer_end(struct dwarf_answer *a, int error, uint32_t lacking)
{
	if (lacking > 0) {
		buf_u32(&a->out, TAG_LACKING);
		buf_u32(&a->out, lacking);
	}
	buf_u32(&a->out, TAG_END);
	buf_u32(&a->out, (uint32_t)-error);
	(void)flush(a);
	buf_done(&a->out);
	free(a->strings);
	slots_done(&a->slots);
	free(a);
}

/* --- reading ----------------------------------------------------------------------------- */

struct reading {
	struct span rest;
	struct dwarf_job *job;
	size_t number;
	const char **strings;
	size_t nr, cap;
	dwarf_job_fn *found; /* NULL: it is looked at first */
	void *arg;
	bool ended;
	uint32_t error, lacking; /* that the worker told */
};

static int
take_string(struct reading *r)
{
	uint32_t length;
	struct span s;
	char *text;

	if (!span_u32(&r->rest, &length) || !span_take(&r->rest, length, &s) ||
	    (length > 0 && memchr(s.p, 0, length)))
		return -FMT_E_CORRUPT;
	if (!r->found) {
		r->nr++;
		return 0;
	}
	text = strndup((const char *)s.p, length);
	if (!text || array_reserve(r->strings, r->nr, r->cap, 1) < 0) {
		free(text);
		return -FMT_E_NOMEM;
	}
	r->strings[r->nr++] = text;
	return 0;
}

static int
take_address(struct reading *r, bool partial)
{
	struct dwarf_frame frames[DWARF_FRAMES_MAX] = { 0 };
	uint32_t i, nr, function, file, line;

	if (!span_u32(&r->rest, &i) || !span_u32(&r->rest, &nr) || i >= r->job->n ||
	    (nr == 0 && !partial) || nr > DWARF_FRAMES_MAX)
		return -FMT_E_CORRUPT;
	for (uint32_t k = 0; k < nr; k++) {
		if (!span_u32(&r->rest, &function) || !span_u32(&r->rest, &file) ||
		    !span_u32(&r->rest, &line) || function > r->nr || file > r->nr)
			return -FMT_E_CORRUPT;
		frames[k].line = line;
		if (!r->found)
			continue;
		frames[k].function = function ? r->strings[function - 1] : NULL;
		frames[k].file = file ? r->strings[file - 1] : NULL;
	}
	return r->found ? r->found(r->arg, r->number, i, frames, nr, partial) : 0;
}

static int
take_message(struct reading *r)
{
	uint32_t tag;

	if (!span_u32(&r->rest, &tag))
		return -FMT_E_CORRUPT;
	switch (tag) {
	case TAG_STRING:
		return take_string(r);
	case TAG_ADDRESS:
		return take_address(r, false);
	case TAG_PARTIAL:
		return take_address(r, true);
	case TAG_LACKING:
		return span_u32(&r->rest, &r->lacking) ? 0 : -FMT_E_CORRUPT;
	case TAG_END:
		r->ended = true;
		return span_u32(&r->rest, &r->error) && r->rest.len == 0 ? 0 : -FMT_E_CORRUPT;
	}
	return -FMT_E_CORRUPT;
}

static int
read_all(struct reading *r)
{
	int error = 0;

	while (!error && !r->ended)
		error = take_message(r);
	if (r->found)
		for (size_t i = 0; i < r->nr; i++)
			free((char *)(uintptr_t)r->strings[i]);
	free(r->strings);
	return error;
}

static enum dwarf_outcome
outcome_of(uint32_t error)
{
	switch (error) {
	case 0:
		return DWARF_DONE;
	case FMT_E_EMPTY:
		return DWARF_NONE;
	case FMT_E_NOMEM:
		return DWARF_FAILED;
	}
	return DWARF_DAMAGED;
}

int
dwarf_answer_read(struct span answer, struct dwarf_job *job, size_t number, dwarf_job_fn *found,
		  void *arg)
{
	struct reading look = { .rest = answer, .job = job }, give = look;
	int error = read_all(&look);

	if (error) {
		job->outcome = DWARF_CRASHED;
		return 0;
	}
	job->outcome = outcome_of(look.error);
	job->lacking = look.lacking;
	if (job->outcome != DWARF_DONE)
		return 0;
	give.number = number;
	give.found = found;
	give.arg = arg;
	return read_all(&give);
}
