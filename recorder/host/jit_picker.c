/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/jit_picker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/crc32c.h"
#include "format/bytes/io.h"
#include "format/jit/jit_table.h"
#include "format/jit/jitdump.h"
#include "format/jit/perf_map.h"
#include "format/record/perf_record.h"

#define PIECE_BYTES (256u << 10)
#define TAIL_BYTES 4096	     /* of what was read, by which it is known again */
#define EPOCHS_MAX 64	     /* times at which a map was found longer */
#define STEPS_MAX (1u << 26) /* of a read: a hostile map has an address in each line */
#define RANGES_MAX 4096	     /* of a dump, that hold one address */
#define DUMP_RECORDS_MAX (1u << 20)
#define DUMP_ENTRIES_MAX (1u << 17) /* a helper is small: 20 MiB with these names */
#define DUMP_NAMES_BYTES_MAX (8u << 20)
#define DUMPS_MAX 4

/* A sampled address. */
struct picked {
	uint64_t address;
	uint64_t at, start, size; /* the line that names it: where its name is, +1; 0: none */
	uint32_t name_len;
	bool fresh;   /* it was never told of */
	bool named;   /* it was, by the map */
	bool changed; /* by this read */
};

/* Lines from this offset on hold from that time on. */
struct epoch {
	uint64_t from, time_ns;
};

struct jit_picker {
	struct picked *v; /* sorted, distinct */
	size_t nr, cap;
	struct epoch epochs[EPOCHS_MAX];
	size_t nr_epochs;
	ino_t ino;
	uint64_t done;		    /* bytes of the map that were read */
	uint64_t read_ns;	    /* complete_ns of the last read */
	uint32_t tail_crc;	    /* of the last TAIL_BYTES before done */
	uint32_t dumped[DUMPS_MAX]; /* entries that the dumps had */
};

struct job {
	struct jit_picker *p;
	int fd;
	uint8_t *text;
	uint64_t steps;
	jit_picker_tell_fn *tell;
	void *arg;
};

struct jit_picker *
jit_picker_new(void)
{
	return calloc(1, sizeof(struct jit_picker));
}

void
jit_picker_free(struct jit_picker *p)
{
	if (p)
		free(p->v);
	free(p);
}

void
jit_picker_forget(struct jit_picker *p)
{
	p->nr = 0;
}

/* --- addresses ----------------------------------------------------------------------------- */

static int
picked_cmp(const void *a, const void *b)
{
	const struct picked *x = a, *y = b;

	/* Of two the one that is known comes first. */
	if (x->address == y->address)
		return (x->fresh > y->fresh) - (x->fresh < y->fresh);
	return x->address < y->address ? -1 : 1;
}

int
jit_picker_want(struct jit_picker *p, const uint64_t *addresses, size_t nr)
{
	size_t kept = 0;

	if (!nr)
		return 0;
	if (p->nr + nr > JIT_PICKER_ADDRESSES_MAX)
		p->nr = 0;
	if (array_reserve(p->v, p->nr, p->cap, nr) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		p->v[p->nr++] = (struct picked){ .address = addresses[i], .fresh = true };
	qsort(p->v, p->nr, sizeof(*p->v), picked_cmp);
	for (size_t i = 0; i < p->nr; i++)
		if (kept == 0 || p->v[kept - 1].address != p->v[i].address)
			p->v[kept++] = p->v[i];
	p->nr = kept;
	return 0;
}

/* The first that is not below. */
static size_t
first_from(const struct jit_picker *p, uint64_t address)
{
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->v[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- the perf map -------------------------------------------------------------------------- */

static bool
has_fresh(const struct jit_picker *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].fresh)
			return true;
	return false;
}

/* Of the bytes before done. */
static int
tail_crc(struct job *j, uint32_t *ret)
{
	const uint64_t from = j->p->done > TAIL_BYTES ? j->p->done - TAIL_BYTES : 0;
	const size_t want = (size_t)(j->p->done - from);
	ssize_t n = pread(j->fd, j->text, want, (off_t)from);

	if (n < 0)
		return -EIO;
	*ret = (size_t)n == want ? crc32c(0, j->text, want) : ~j->p->tail_crc;
	return 0;
}

/* A map that was written anew, as a JVM does when it is asked again, holds from the last read on. */
static int
know_again(struct job *j)
{
	struct jit_picker *p = j->p;
	struct stat st;
	uint32_t crc;

	if (fstat(j->fd, &st) < 0 || tail_crc(j, &crc) < 0)
		return -EIO;
	if (p->done && (st.st_ino != p->ino || crc != p->tail_crc)) {
		p->done = p->nr_epochs = 0;
		p->epochs[p->nr_epochs++] = (struct epoch){ 0, p->read_ns };
		for (size_t i = 0; i < p->nr; i++)
			p->v[i].at = 0;
	}
	p->ino = st.st_ino;
	return 0;
}

/* What the map has behind done was not there when it was last read. */
static void
begin_epoch(struct jit_picker *p)
{
	struct epoch *last = p->nr_epochs ? &p->epochs[p->nr_epochs - 1] : NULL;

	if (last && last->from == p->done)
		last->time_ns = p->read_ns;
	if (!p->done || (last && last->from == p->done))
		return;
	if (p->nr_epochs == EPOCHS_MAX) {
		memmove(p->epochs, p->epochs + 1, (EPOCHS_MAX - 1) * sizeof(*p->epochs));
		p->nr_epochs--;
	}
	p->epochs[p->nr_epochs++] = (struct epoch){ p->done, p->read_ns };
}

static uint64_t
time_of(const struct jit_picker *p, uint64_t at)
{
	size_t i = p->nr_epochs;

	while (i > 0 && p->epochs[i - 1].from > at)
		i--;
	return i ? p->epochs[i - 1].time_ns : 0;
}

/* at: where its name is in the file. False: that were too many steps. */
static bool
note_line(struct job *j, const struct perf_map_line *line, uint64_t at)
{
	struct jit_picker *p = j->p;
	const uint64_t end = line->start + line->size;

	for (size_t i = first_from(p, line->start); i < p->nr && p->v[i].address < end; i++) {
		struct picked *v = &p->v[i];

		if (j->steps == 0)
			return false;
		j->steps--;
		if (!v->fresh && at < p->done)
			continue;
		v->at = at + 1;
		v->start = line->start;
		v->size = line->size;
		v->name_len = (uint32_t)line->name_len;
		v->changed = true;
	}
	return true;
}

/* Takes the lines of one piece; how many bytes it was done with, 0: it has no end of a line. */
static size_t
note_lines(struct job *j, struct span text, uint64_t at)
{
	const uint8_t *from = text.p;
	struct perf_map_line line;

	while (perf_map_next(&text, &line))
		if (!note_line(j, &line, at + (uint64_t)((const uint8_t *)line.name - from)))
			break;
	return (size_t)(text.p - from);
}

/* Reads all lines from there on; where the last whole one ends, or -EIO. */
static int64_t
scan_lines(struct job *j, uint64_t at)
{
	bool inside = false; /* of a line that is longer than a piece */
	size_t have = 0, used;
	ssize_t n = 1;

	while (n > 0 && at < JIT_PICKER_MAP_BYTES_MAX && j->steps > 0) {
		n = pread(j->fd, j->text + have, PIECE_BYTES - have, (off_t)(at + have));
		if (n < 0)
			return -EIO;
		have += (size_t)n;
		if (inside) {
			const uint8_t *end = memchr(j->text, '\n', have);

			used = end ? (size_t)(end - j->text) + 1 : have;
			inside = !end;
		} else {
			used = note_lines(j, span_of(j->text, have), at);
			inside = used == 0 && have == PIECE_BYTES;
			used = inside ? have : used;
		}
		at += used;
		have -= used;
		memmove(j->text, j->text + used, have);
	}
	return (int64_t)at;
}

/* The line that names this address. */
static int
tell_line(struct job *j, const struct picked *v, uint64_t time_ns)
{
	struct jitsym symbol = {
		.time_ns = time_ns, .order = v->at, .start = v->start, .size = v->size
	};
	ssize_t n = pread(j->fd, j->text, v->name_len, (off_t)(v->at - 1));

	if (n < 0)
		return -EIO;
	symbol.name = (const char *)j->text;
	symbol.name_len = (size_t)n < PERF_RECORD_STRING_MAX ? (size_t)n
							     : PERF_RECORD_STRING_MAX - 1;
	return n ? j->tell(j->arg, &symbol) : 0;
}

/*
 * A line that names addresses next to each other is told once, and not when it was before.
 * A name for what had none when it was asked for was only late: it holds from the beginning, where
 * no other name is put over by that.
 */
static int
tell_lines(struct job *j)
{
	struct jit_picker *p = j->p;
	int rc = 0;

	for (size_t i = 0, next; i < p->nr && rc == 0; i = next) {
		const uint64_t time_ns = time_of(p, p->v[i].at ? p->v[i].at - 1 : 0);
		bool was_named = false, was_late = false, changed = false, told = false;

		for (next = i; next < p->nr && p->v[next].at == p->v[i].at; next++) {
			struct picked *v = &p->v[next];

			changed |= v->changed;
			told |= !v->changed;
			was_named |= v->named;
			was_late |= v->changed && !v->fresh && !v->named;
			v->named |= v->changed;
			v->changed = false;
		}
		if (!changed || told)
			continue;
		rc = tell_line(j, &p->v[i], time_ns);
		if (rc == 0 && was_late && !was_named && time_ns)
			rc = tell_line(j, &p->v[i], 0);
	}
	return rc;
}

static int
pick_map(struct job *j)
{
	struct jit_picker *p = j->p;
	int64_t end;
	int rc = know_again(j), error;

	if (rc < 0)
		return rc;
	begin_epoch(p);
	end = scan_lines(j, has_fresh(p) ? 0 : p->done);
	if (end < 0)
		return (int)end;
	rc = tell_lines(j);
	if ((uint64_t)end > p->done)
		p->done = (uint64_t)end;
	error = tail_crc(j, &p->tail_crc);
	return rc ? rc : error;
}

/* --- jitdumps ------------------------------------------------------------------------------ */

struct dump_job {
	struct job *job;
	uint8_t *told; /* a bit for each entry of the table */
	uint32_t from; /* this order on */
	uint32_t ranges;
};

static int
tell_range(void *arg, const struct jit_range *range)
{
	struct dump_job *d = arg;
	const size_t len = strlen(range->name);
	const struct jitsym symbol = {
		.time_ns = range->time_ns,
		.order = range->order,
		.start = range->start,
		.size = range->size,
		.name = range->name,
		.name_len = len < PERF_RECORD_STRING_MAX ? len : PERF_RECORD_STRING_MAX - 1,
	};
	uint8_t *bits = &d->told[range->number / 8];
	const uint8_t bit = (uint8_t)(1u << range->number % 8);

	if (d->ranges++ == RANGES_MAX)
		return 1;
	if (range->order < d->from || (*bits & bit))
		return 0;
	*bits |= bit;
	return d->job->tell(d->job->arg, &symbol);
}

static int
tell_table(struct job *j, const struct jit_table *table, uint32_t known)
{
	struct dump_job d = { .job = j, .told = calloc(jit_table_count(table) / 8 + 1, 1) };
	int rc = d.told ? 0 : -ENOMEM;

	for (size_t i = 0; i < j->p->nr && rc >= 0; i++) {
		d.from = j->p->v[i].fresh ? 0 : known;
		d.ranges = 0;
		rc = jit_table_each(table, j->p->v[i].address, tell_range, &d);
	}
	free(d.told);
	return rc < 0 ? rc : 0;
}

/* All of it anew each time: what is in a dump tells nothing of what comes later. */
static int
pick_dump(struct job *j, int fd, uint32_t *known)
{
	struct jit_table *table = jit_table_new();
	uint64_t budget = DUMP_RECORDS_MAX;
	struct io_source *file = io_source_dup(fd);
	int rc = table ? 0 : -ENOMEM;

	if (table)
		jit_table_limit(table, DUMP_ENTRIES_MAX, DUMP_NAMES_BYTES_MAX);
	if (rc == 0 && file) {
		/* One that is damaged has what was before that. */
		if (jitdump_read(file, &budget, table, NULL) == -FMT_E_NOMEM ||
		    jit_table_settle(table) < 0)
			rc = -ENOMEM;
		else
			rc = tell_table(j, table, *known);
		*known = (uint32_t)jit_table_count(table);
	}
	if (file)
		file->close(file);
	jit_table_free(table);
	return rc;
}

/* --- all ----------------------------------------------------------------------------------- */

int
jit_picker_read(struct jit_picker *p, int map, const int *dumps, size_t nr_dumps,
		uint64_t complete_ns, jit_picker_tell_fn *tell, void *arg)
{
	struct job j = { .p = p,
			 .fd = map,
			 .text = malloc(PIECE_BYTES),
			 .steps = STEPS_MAX,
			 .tell = tell,
			 .arg = arg };
	int rc = j.text ? 0 : -ENOMEM, error = 0;

	if (rc == 0 && map >= 0 && p->nr)
		error = pick_map(&j);
	rc = rc < 0 || error == -EIO ? rc : error;
	for (size_t i = 0; i < nr_dumps && i < DUMPS_MAX && rc == 0 && p->nr; i++)
		if (dumps[i] >= 0)
			rc = pick_dump(&j, dumps[i], &p->dumped[i]);
	for (size_t i = 0; i < p->nr; i++)
		p->v[i].fresh = false;
	p->read_ns = complete_ns;
	free(j.text);
	return rc ? rc : error;
}
