/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/jit_processes.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/model/task_model.h"

void
jit_processes_done(struct jit_processes *s)
{
	for (size_t i = 0; i < JIT_PROCESSES_MAX; i++)
		if (s->v[i])
			jit_processes_remove(s, s->v[i]);
	free(s->forks);
	s->forks = NULL;
	s->nr_forks = s->cap_forks = 0;
}

/* When the process ended that had the number then; 0: it is not known. */
static uint64_t
end_after(const struct jit_processes *s, uint32_t pid, uint64_t seen_ns)
{
	const struct jit_process_end *end = &s->ends[pid % JIT_PROCESSES_CHAINS];

	return end->pid == pid && end->time_ns >= seen_ns ? end->time_ns : 0;
}

static struct jit_process *
put(struct jit_processes *s, uint32_t pid, uint64_t seen_ns, bool told)
{
	uint16_t *chain = &s->chains[pid % JIT_PROCESSES_CHAINS], slot = 0;
	struct jit_process *p;

	while (slot < JIT_PROCESSES_MAX && s->v[slot])
		slot++;
	p = slot < JIT_PROCESSES_MAX ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return NULL;
	*p = (struct jit_process){ .slot = slot,
				   .pid = pid,
				   .serial = ++s->serial,
				   .began_ns = told ? 0 : seen_ns,
				   .seen_ns = seen_ns,
				   .next = *chain };
	*chain = (uint16_t)(slot + 1);
	s->v[slot] = p;
	s->nr++;
	return p;
}

struct jit_process *
jit_processes_add(struct jit_processes *s, uint32_t pid, uint64_t seen_ns, bool told)
{
	return end_after(s, pid, seen_ns) ? NULL : put(s, pid, seen_ns, told);
}

/* The newest fork of that pid that waits; NULL. */
static struct jit_fork *
fork_of(struct jit_processes *s, uint32_t pid)
{
	const uint16_t at = s->fork_of[pid % JIT_FORKS_MAX];

	return at && s->forks[at - 1].pid == pid ? &s->forks[at - 1] : NULL;
}

void
jit_processes_end(struct jit_processes *s, uint32_t pid, uint64_t time_ns)
{
	struct jit_process *p = jit_processes_find(s, pid);
	struct jit_fork *f = fork_of(s, pid);

	s->ends[pid % JIT_PROCESSES_CHAINS] = (struct jit_process_end){ pid, time_ns };
	/* Another process's end may take that place before the fork is applied. */
	if (f && f->time_ns <= time_ns && (!f->ended_ns || time_ns < f->ended_ns))
		f->ended_ns = time_ns;
	if (p && !p->ended_ns && p->seen_ns <= time_ns)
		p->ended_ns = time_ns;
}

void
jit_processes_remove(struct jit_processes *s, struct jit_process *p)
{
	uint16_t *at = &s->chains[p->pid % JIT_PROCESSES_CHAINS];
	struct jit_process *from = jit_processes_from(s, p);

	if (from)
		from->copies--;
	while (*at != p->slot + 1)
		at = &s->v[*at - 1]->next;
	*at = p->next;
	s->v[p->slot] = NULL;
	s->nr--;
	free(p->dump);
	free(p);
}

/* --- forks --------------------------------------------------------------------------------- */

/* Children may never run such code: half of the room is for processes that made memory for it themselves. */
static bool
has_room_for_child(const struct jit_processes *s)
{
	return s->nr <= JIT_PROCESSES_MAX / 2;
}

static void
drop_forks(struct jit_processes *s, size_t nr)
{
	s->nr_forks -= nr;
	memmove(s->forks, s->forks + nr, s->nr_forks * sizeof(*s->forks));
	memset(s->fork_of, 0, sizeof(s->fork_of));
	for (size_t i = 0; i < s->nr_forks; i++)
		s->fork_of[s->forks[i].pid % JIT_FORKS_MAX] = (uint16_t)(i + 1);
}

/* The child has a copy of the memory that its parent has. */
static void
copy_memory(struct jit_processes *s, struct jit_process *p, struct jit_process *from)
{
	for (size_t i = 0; i < from->nr_ranges; i++)
		jit_process_map(p, from->ranges[i].start, from->ranges[i].end);
	/* The code is most likely the first one's. */
	if (from->from_depth >= TASK_MODEL_ORIGINS_MAX && jit_processes_from(s, from))
		from = jit_processes_from(s, from);
	p->from_slot = from->slot;
	p->from_serial = from->serial;
	p->from_depth = from->from_depth + 1;
	from->copies++;
}

/* It has made memory of its own since, and its map came before its fork. */
static void
adopt(struct jit_processes *s, const struct jit_fork *f, struct jit_process *p,
      struct jit_process *from)
{
	/* It executed a program before, or is another process with the number. */
	if (p->from_serial || (f->ended_ns && f->ended_ns <= p->seen_ns))
		return;
	if (p->began_ns)
		p->began_ns = f->time_ns;
	copy_memory(s, p, from);
}

/* False: there is no room. */
static bool
apply_fork(struct jit_processes *s, const struct jit_fork *f)
{
	struct jit_process *from = jit_processes_find_at(s, f->parent, f->time_ns);
	struct jit_process *p = jit_processes_find(s, f->pid);

	/* The parent has executed another program, or the number is another process's by then. */
	if (!from || from == p || (from->ended_ns && from->ended_ns < f->time_ns))
		return true;
	if (p && p->seen_ns >= f->time_ns) {
		adopt(s, f, p, from);
		return true;
	}
	if (!has_room_for_child(s))
		return false;
	p = put(s, f->pid, f->time_ns, false);
	if (!p)
		return true;
	/* It may be gone already, and have children that are not. */
	p->ended_ns = f->ended_ns;
	p->uid = from->uid;
	p->lazy = true;
	copy_memory(s, p, from);
	return true;
}

static int
fork_cmp(const void *a, const void *b)
{
	const struct jit_fork *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

uint64_t
jit_processes_settle(struct jit_processes *s, uint64_t until_ns)
{
	uint64_t done_ns = until_ns;
	size_t nr = 0;

	if (!s->nr_forks)
		return until_ns;
	qsort(s->forks, s->nr_forks, sizeof(*s->forks), fork_cmp);
	while (nr < s->nr_forks && s->forks[nr].time_ns < until_ns && apply_fork(s, &s->forks[nr]))
		nr++;
	if (nr < s->nr_forks && s->forks[nr].time_ns < until_ns)
		done_ns = s->forks[nr].time_ns;
	drop_forks(s, nr);
	return done_ns;
}

void
jit_processes_make_room(struct jit_processes *s, uint64_t time_ns, uint64_t until_ns)
{
	struct jit_process *next;
	size_t nr = 0;

	/* Those that are gone, no sample hit, and nothing is a copy of. */
	for (struct jit_process *p = jit_processes_next(s, NULL); p; p = next) {
		next = jit_processes_next(s, p);
		if (p->lazy && !p->hit && !p->copies && p->ended_ns && p->ended_ns < time_ns)
			jit_processes_remove(s, p);
	}
	if (has_room_for_child(s))
		return;
	while (nr < s->nr_forks && s->forks[nr].time_ns < until_ns)
		nr++;
	drop_forks(s, nr);
}

void
jit_processes_fork(struct jit_processes *s, uint32_t parent, uint32_t pid, uint64_t time_ns)
{
	if (s->nr_forks == JIT_FORKS_MAX) {
		const uint64_t done_ns = jit_processes_settle(s, UINT64_MAX);

		if (done_ns != UINT64_MAX)
			jit_processes_make_room(s, done_ns, UINT64_MAX);
	}
	if (s->nr_forks == JIT_FORKS_MAX ||
	    array_reserve(s->forks, s->nr_forks, s->cap_forks, 1) != 0)
		return;
	s->forks[s->nr_forks++] =
		(struct jit_fork){ parent, pid, time_ns, end_after(s, pid, time_ns) };
	s->fork_of[pid % JIT_FORKS_MAX] = (uint16_t)s->nr_forks;
}

/* --- all of them --------------------------------------------------------------------------- */

struct jit_process *
jit_processes_at(const struct jit_processes *s, uint16_t slot, uint64_t serial)
{
	struct jit_process *p = slot < JIT_PROCESSES_MAX ? s->v[slot] : NULL;

	return p && serial && p->serial == serial ? p : NULL;
}

struct jit_process *
jit_processes_next(const struct jit_processes *s, const struct jit_process *p)
{
	size_t i = p ? p->slot + 1u : 0;

	while (i < JIT_PROCESSES_MAX && !s->v[i])
		i++;
	return i < JIT_PROCESSES_MAX ? s->v[i] : NULL;
}

/* --- memory -------------------------------------------------------------------------------- */

/* Makes one of the two that are nearest to each other; they are sorted, and touch nowhere. */
static void
join_nearest(struct jit_process *p)
{
	struct jit_memory *v = p->ranges;
	size_t best = 0;

	for (size_t i = 1; i + 1 < p->nr_ranges; i++)
		if (v[i + 1].start - v[i].end < v[best + 1].start - v[best].end)
			best = i;
	v[best].end = v[best + 1].end;
	p->nr_ranges--;
	memmove(&v[best + 1], &v[best + 2], (p->nr_ranges - best - 1) * sizeof(*v));
}

void
jit_process_map(struct jit_process *p, uint64_t start, uint64_t end)
{
	struct jit_memory *v = p->ranges;
	size_t first = 0, last;

	if (start >= end)
		return;
	while (first < p->nr_ranges && v[first].end < start)
		first++;
	for (last = first; last < p->nr_ranges && v[last].start <= end; last++) {
		start = v[last].start < start ? v[last].start : start;
		end = v[last].end > end ? v[last].end : end;
	}
	if (first == last && p->nr_ranges == JIT_PROCESS_RANGES_MAX) {
		join_nearest(p);
		jit_process_map(p, start, end);
		return;
	}
	memmove(&v[first + 1], &v[last], (p->nr_ranges - last) * sizeof(*v));
	v[first] = (struct jit_memory){ start, end };
	p->nr_ranges = p->nr_ranges - (last - first) + 1;
}

bool
jit_process_holds(const struct jit_process *p, uint64_t address)
{
	for (size_t i = 0; i < p->nr_ranges; i++)
		if (address >= p->ranges[i].start && address < p->ranges[i].end)
			return true;
	return false;
}

/* --- jitdumps ------------------------------------------------------------------------------ */

void
jit_process_dump(struct jit_process *p, const char *path, uint64_t ino)
{
	if (p->dump)
		return;
	p->dump = strdup(path);
	p->dump_ino = ino;
}
