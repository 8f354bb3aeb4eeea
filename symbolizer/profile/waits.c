/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/waits.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define SPARES_MAX 256

/* A thread whose sample has come, and that is not back. */
struct waiting {
	union {
		RB_ENTRY(waiting) entry;
		SLIST_ENTRY(waiting) spare;
	};
	uint32_t tid;
	bool out; /* it has gone, at out_ns */
	bool preempted;
	uint64_t out_ns, switches;
	uint64_t woken_ns; /* 0: not yet */
	struct waker waker;
	uint8_t *bytes; /* its sample */
	size_t len, cap;
};

RB_HEAD(waiting_tree, waiting);

struct waits {
	struct waiting_tree waiting; /* by tid */
	SLIST_HEAD(, waiting) spares;
	size_t nr_spares, nr, bytes;
	struct waits_counts counts;
};

static int
waiting_compare(const struct waiting *a, const struct waiting *b)
{
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* libbsd's RB_GENERATE_STATIC() needs a __unused that glibc's headers do not stand. */
RB_GENERATE_INTERNAL(waiting_tree, waiting, entry, waiting_compare, __attribute__((unused)) static)

struct waits *
waits_new(void)
{
	return calloc(1, sizeof(struct waits));
}

static void
waiting_free(struct waits *w, struct waiting *t)
{
	w->bytes -= sizeof(*t) + t->cap;
	free(t->bytes);
	free(t);
}

void
waits_free(struct waits *w)
{
	struct waiting *t, *next;

	if (!w)
		return;
	RB_FOREACH_SAFE(t, waiting_tree, &w->waiting, next) {
		RB_REMOVE(waiting_tree, &w->waiting, t);
		waiting_free(w, t);
	}
	while ((t = SLIST_FIRST(&w->spares))) {
		SLIST_REMOVE_HEAD(&w->spares, spare);
		waiting_free(w, t);
	}
	free(w);
}

static struct waiting *
waits_find(struct waits *w, uint32_t tid)
{
	const struct waiting key = { .tid = tid };

	return RB_FIND(waiting_tree, &w->waiting, (struct waiting *)(uintptr_t)&key);
}

/* Its bytes stay until another thread takes them. */
static void
waits_remove(struct waits *w, struct waiting *t)
{
	RB_REMOVE(waiting_tree, &w->waiting, t);
	w->nr--;
	SLIST_INSERT_HEAD(&w->spares, t, spare);
	w->nr_spares++;
}

/* One of the spares, or a new one. */
static struct waiting *
waits_enter(struct waits *w, uint32_t tid)
{
	struct waiting *t = SLIST_FIRST(&w->spares);

	if (t) {
		SLIST_REMOVE_HEAD(&w->spares, spare);
		w->nr_spares--;
	} else {
		t = calloc(1, sizeof(*t));
		if (!t)
			return NULL;
		w->bytes += sizeof(*t);
	}
	t->tid = tid;
	RB_INSERT(waiting_tree, &w->waiting, t);
	w->nr++;
	return t;
}

static int
copy_sample(struct waits *w, struct waiting *t, struct span sample)
{
	const size_t before = t->cap;

	if (array_reserve(t->bytes, 0, t->cap, sample.len) != 0)
		return -FMT_E_NOMEM;
	w->bytes += t->cap - before;
	memcpy(t->bytes, sample.p, sample.len);
	t->len = sample.len;
	return 0;
}

/* Spares are for who waits next: a crowd that was there once leaves none. */
static void
drop_spares(struct waits *w)
{
	while (w->nr_spares > SPARES_MAX) {
		struct waiting *t = SLIST_FIRST(&w->spares);

		SLIST_REMOVE_HEAD(&w->spares, spare);
		w->nr_spares--;
		waiting_free(w, t);
	}
}

/* Of so many bytes, in what holds this one; NULL: in a new one. */
static bool
has_room(const struct waits *w, const struct waiting *t, size_t bytes)
{
	const size_t have = t ? t->cap : 0;

	/* Room doubles as it grows. */
	return bytes <= have || w->bytes + sizeof(*t) + 2 * bytes <= WAITS_BYTES_MAX;
}

int
waits_sample(struct waits *w, uint32_t tid, struct span sample, uint64_t switches)
{
	struct waiting *t = waits_find(w, tid);

	drop_spares(w);
	/* Of the one before nobody told that it was over; where it has not even gone, it is the same. */
	if (t)
		w->counts.cut += t->out;
	if (!has_room(w, t ? t : SLIST_FIRST(&w->spares), sample.len)) {
		w->counts.left_out++;
		if (t)
			waits_remove(w, t);
		return 0;
	}
	if (!t)
		t = waits_enter(w, tid);
	if (!t || copy_sample(w, t, sample) != 0)
		return -FMT_E_NOMEM;
	t->out = false;
	t->woken_ns = 0;
	t->waker = (struct waker){ 0 };
	t->switches = switches;
	return 0;
}

void
waits_out(struct waits *w, uint32_t tid, uint64_t time_ns, bool preempted)
{
	struct waiting *t = waits_find(w, tid);

	if (!t)
		return;
	/* It was back, and goes again, without a sample. */
	if (t->out) {
		w->counts.cut++;
		waits_remove(w, t);
		return;
	}
	t->out = true;
	t->out_ns = time_ns;
	t->preempted = preempted;
}

void
waits_woken(struct waits *w, uint32_t tid, uint64_t time_ns, const struct waker *waker)
{
	struct waiting *t = waits_find(w, tid);

	if (!t || t->woken_ns)
		return;
	t->woken_ns = time_ns;
	t->waker = *waker;
}

/* It may be woken while it is on its way out. What others say of a time behind its return is of its next wait. */
static uint64_t
woken_at(const struct waiting *t, uint64_t until_ns)
{
	if (!t->woken_ns || t->woken_ns > until_ns)
		return until_ns;
	return t->woken_ns > t->out_ns ? t->woken_ns : t->out_ns;
}

bool
waits_in(struct waits *w, uint32_t tid, uint64_t time_ns, struct wait *ret)
{
	struct waiting *t = waits_find(w, tid);

	if (!t)
		return false;
	waits_remove(w, t);
	if (!t->out || time_ns < t->out_ns) {
		w->counts.cut++;
		return false;
	}
	*ret = (struct wait){ .sample = span_of(t->bytes, t->len),
			      .from_ns = t->out_ns,
			      .until_ns = time_ns,
			      .woken_ns = woken_at(t, time_ns),
			      .waker = t->waker,
			      .switches = t->switches,
			      .preempted = t->preempted };
	return true;
}

void
waits_fork(struct waits *w, uint32_t tid)
{
	struct waiting *t = waits_find(w, tid);

	if (t)
		waits_remove(w, t);
}

void
waits_lost(struct waits *w)
{
	struct waiting *t, *next;

	RB_FOREACH_SAFE(t, waiting_tree, &w->waiting, next) {
		w->counts.cut++;
		waits_remove(w, t);
	}
	drop_spares(w);
}

void
waits_cut(struct waits *w)
{
	w->counts.cut++;
}

struct waits_counts
waits_count(const struct waits *w)
{
	struct waits_counts counts = w->counts;

	counts.open = w->nr;
	return counts;
}

void
waits_counts_add(struct waits_counts *to, const struct waits_counts *more)
{
	to->open += more->open;
	to->cut += more->cut;
	to->left_out += more->left_out;
}
