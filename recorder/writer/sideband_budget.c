/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/writer/sideband_budget.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "format/bytes/siphash.h"
#include "format/model/task_model.h"

#define ASK_BELOW 0.5	 /* of the bucket in all */
#define ASK_UNTIL 0.9	 /* and all of every user's */
#define SHARE 0.5	 /* of the bucket and of the rate, for a user */
#define SCARCE 0.25	 /* of the bucket in all: below, users get less, and need more */
#define MUST_LEAVE 0.125 /* of it, by tasks of root and by what is never left out */
#define SHUT_NS UINT64_C(10000000000)
#define EARLY_NS UINT64_C(2000000000) /* longer than rings of one pass are apart */

/*
 * Of a record but for its text, as measured: by columns and packed. A path is new to a block in
 * full; what zstd finds in it is not counted on.
 */
#define MAP_BYTES 20
#define TASK_BYTES 12
#define SMALL_BYTES 12

static double
burst_of(const struct sideband_budget *b)
{
	return (double)b->rate * SIDEBAND_BURST_S;
}

void
sideband_budget_init(struct sideband_budget *b, uint64_t bytes_per_s)
{
	*b = (struct sideband_budget){ .rate = bytes_per_s };
	arc4random_buf(&b->key, sizeof(b->key));
	b->level = burst_of(b);
	/* So large that it comes from mmap(): resident is what is touched. */
	b->told = calloc(SIDEBAND_TIDS / 8, 1);
}

void
sideband_budget_done(struct sideband_budget *b)
{
	free(b->told);
	b->told = NULL;
}

void
sideband_budget_rate(struct sideband_budget *b, uint64_t bytes_per_s)
{
	double before = burst_of(b);
	double ratio = before > 0 ? (double)bytes_per_s / (double)b->rate : 0;

	b->rate = bytes_per_s;
	b->level = before > 0 ? b->level * ratio : burst_of(b);
	for (size_t i = 0; i < SIDEBAND_USERS; i++)
		b->users[i].level *= ratio;
}

void
sideband_budget_block(struct sideband_budget *b)
{
	memset(b->seen, 0, sizeof(b->seen));
}

/* --- tasks that something was written of --------------------------------------------------- */

/* What cannot be remembered has to be written. */
static bool
is_told(const struct sideband_budget *b, uint32_t tid)
{
	return !b->told || tid >= SIDEBAND_TIDS || b->told[tid / 8] >> tid % 8 & 1;
}

void
sideband_budget_told(struct sideband_budget *b, uint32_t tid, bool told)
{
	uint8_t bit = (uint8_t)(1u << tid % 8);

	if (!b->told || tid >= SIDEBAND_TIDS)
		return;
	b->told[tid / 8] &= (uint8_t)~bit;
	b->told[tid / 8] |= told ? bit : 0;
}

/* --- what a record costs ----------------------------------------------------------------- */

static void
add_text(const struct sideband_budget *b, struct sideband_cost *cost, const char *text)
{
	size_t n = strlen(text);

	cost->hash = siphash(&b->key, text, n) | 1;
	if (b->seen[cost->hash % SIDEBAND_SEEN] != cost->hash)
		cost->bytes += (uint32_t)n;
}

struct sideband_cost
sideband_budget_cost(const struct sideband_budget *b, const struct perf_record *r)
{
	struct sideband_cost cost = { .bytes = SMALL_BYTES };

	switch (r->type) {
	case REC_MMAP:
	case REC_MMAP2:
		cost.bytes = MAP_BYTES;
		cost.tid = r->mmap.tid;
		add_text(b, &cost, r->mmap.filename);
		break;
	case REC_CGROUP:
		add_text(b, &cost, r->cgroup.path);
		break;
	case REC_KSYMBOL:
		add_text(b, &cost, r->ksymbol.name);
		break;
	case REC_COMM:
		add_text(b, &cost, r->comm.comm);
		cost.tid = r->comm.tid;
		cost.must = r->misc & TASK_MISC_COMM_EXEC;
		break;
	case REC_FORK:
		cost.bytes = TASK_BYTES;
		cost.tid = r->task.tid;
		cost.kind = r->task.pid == r->task.ppid ? SIDEBAND_THREAD : SIDEBAND_PROCESS;
		/* A record of another CPU's ring came first, or the EXIT of the one before is lost. */
		cost.must = is_told(b, cost.tid);
		break;
	case REC_EXIT:
		cost.bytes = TASK_BYTES;
		cost.tid = r->task.tid;
		cost.kind = SIDEBAND_END;
		cost.must = is_told(b, cost.tid);
		break;
	case REC_NAMESPACES:
		cost.tid = r->namespaces.tid;
		cost.kind = is_told(b, cost.tid) ? SIDEBAND_OTHER : SIDEBAND_NAMESPACES;
		break;
	default:
		/* The recorder's own, or as rare. */
		cost.bytes = 0;
		break;
	}
	return cost;
}

/* --- the buckets ------------------------------------------------------------------------- */

static void
sideband_budget_fill(double *level, uint64_t *at_ns, uint64_t now_ns, double rate, double most)
{
	/* Records of several CPUs are not in order. */
	if (now_ns <= *at_ns)
		return;
	if (*at_ns)
		*level += rate * (double)(now_ns - *at_ns) / 1e9;
	if (*level > most)
		*level = most;
	*at_ns = now_ns;
}

/* How much there is of what must not become scarce: 1, or less. */
static double
plenty(const struct sideband_budget *b)
{
	double scarce = burst_of(b) * SCARCE;

	return b->level >= scarce ? 1 : b->level / scarce;
}

/* With many who take their half, these fill so slowly that something is left in the one of all. */
static void
fill_user(const struct sideband_budget *b, struct sideband_user *u)
{
	double part = SHARE * (u->uid == 0 ? 1 : plenty(b));

	sideband_budget_fill(&u->level, &u->at_ns, b->at_ns, (double)b->rate * part,
			     burst_of(b) * SHARE);
}

static bool
all_full(struct sideband_budget *b)
{
	for (size_t i = 0; i < SIDEBAND_USERS; i++) {
		struct sideband_user *u = &b->users[i];

		if (!u->used)
			continue;
		fill_user(b, u);
		if (u->level < burst_of(b) * SHARE)
			return false;
	}
	return true;
}

/* Its bucket; of more users than there are, that of the one who needs it least. */
static struct sideband_user *
user_get(struct sideband_budget *b, uint32_t uid)
{
	struct sideband_user *u, *best = NULL;

	for (size_t i = 0; i < SIDEBAND_USERS; i++) {
		u = &b->users[i];
		if (u->used && u->uid == uid) {
			fill_user(b, u);
			return u;
		}
		if (!best || (best->used && (!u->used || u->level > best->level)))
			best = u;
	}
	*best = (struct sideband_user){
		.uid = uid, .used = true, .level = burst_of(b) * SHARE, .at_ns = b->at_ns
	};
	return best;
}

bool
sideband_budget_asks(struct sideband_budget *b, uint64_t time_ns)
{
	if (!b->rate)
		return false;
	sideband_budget_fill(&b->level, &b->at_ns, time_ns, (double)b->rate, burst_of(b));
	if (!b->asking)
		b->asking = b->level < burst_of(b) * ASK_BELOW;
	else if (b->level >= burst_of(b) * ASK_UNTIL)
		b->asking = !all_full(b);
	return b->asking;
}

/* What a user has to have left to be served. */
static double
needed(const struct sideband_budget *b)
{
	return burst_of(b) * SHARE * (1 - plenty(b));
}

static void
pay(double *level, double bytes, double leave)
{
	double least = *level < leave ? *level : leave;

	*level = *level - bytes < least ? least : *level - bytes;
}

/* Ends are written again before beginnings are: no task begins whose end was left out before. */
static bool
is_shut(const struct sideband_budget *b, const struct sideband_user *u, enum sideband_kind kind)
{
	uint64_t early_ns = kind == SIDEBAND_END ? EARLY_NS : 0;

	return kind != SIDEBAND_OTHER && b->at_ns + early_ns < u->shut_ns;
}

/* Is there room for what may be left out? */
static bool
has_room(const struct sideband_budget *b, const struct sideband_user *u,
	 const struct sideband_cost *cost)
{
	double bytes = cost->bytes;

	if (is_shut(b, u, cost->kind))
		return false;
	if (u->uid == 0)
		return (cost->kind == SIDEBAND_OTHER ? b->level : u->level) >= bytes;
	return b->level >= bytes && u->level >= bytes && u->level >= needed(b);
}

bool
sideband_budget_take(struct sideband_budget *b, const struct sideband_cost *cost, uint32_t uid)
{
	struct sideband_user *u = b->rate && b->asking ? user_get(b, uid) : NULL;
	bool root_task = uid == 0 && cost->kind != SIDEBAND_OTHER;

	if (u && !cost->must && !has_room(b, u, cost)) {
		if (cost->kind != SIDEBAND_OTHER && b->at_ns >= u->shut_ns)
			u->shut_ns = b->at_ns + SHUT_NS;
		return false;
	}
	sideband_budget_told(b, cost->tid, cost->kind != SIDEBAND_END);
	pay(&b->level, cost->bytes, cost->must || root_task ? burst_of(b) * MUST_LEAVE : 0);
	if (u && (uid != 0 || root_task))
		pay(&u->level, cost->bytes, 0);
	if (cost->hash)
		b->seen[cost->hash % SIDEBAND_SEEN] = cost->hash;
	return true;
}
