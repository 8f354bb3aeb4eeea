/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/process_table.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/fmt_error.h"

void
process_table_done(struct process_table *t)
{
	free(t->v);
	slots_done(&t->slots);
	*t = (struct process_table){ .v = NULL };
}

static bool
process_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct process_table *)owner)->v[index].pid ==
		((const struct sampled_process *)key)->pid;
}

static uint32_t
process_hash(uint32_t pid)
{
	return (uint32_t)slots_mix(pid, 0);
}

struct sampled_process *
process_table_find(const struct process_table *t, uint32_t pid)
{
	const struct sampled_process key = { .pid = pid };
	const uint32_t i = slots_find(&t->slots, process_hash(pid), process_same, t, &key);

	return i == SLOTS_NONE ? NULL : &t->v[i];
}

int
process_table_keep(struct process_table *t, uint32_t pid, struct sampled_process **ret)
{
	const struct sampled_process key = { .pid = pid };
	uint32_t i;
	int err;

	*ret = t->nr < PROCESS_TABLE_MAX ? NULL : process_table_find(t, pid);
	if (t->nr >= PROCESS_TABLE_MAX)
		return 0;
	err = slots_keep(&t->slots, process_hash(pid), process_same, t, &key, t->v, t->nr, t->cap,
			 &i);
	if (err == 0)
		*ret = &t->v[i];
	return err;
}

int
process_table_see(struct process_table *t, const struct task_model *model, uint32_t pid)
{
	struct sampled_process *p;
	char spare[TASK_COMM_BYTES];
	int err = process_table_keep(t, pid, &p);

	if (err || !p)
		return err;
	p->known |= task_model_task(model, pid, pid) != NULL;
	strlcpy(p->comm, task_comm(model, pid, pid, spare), sizeof(p->comm));
	return 0;
}

/*
 * A program maps its runtime before that makes code; but the process may have executed another one since it was looked
 * at. It is looked at again when it was asked for twice as often.
 */
static bool
is_time_to_look(uint32_t looked)
{
	return (looked & (looked - 1)) == 0;
}

int
process_table_made_code(struct process_table *t, const struct task_model *model, uint32_t pid)
{
	const struct task_map *map = NULL;
	struct runtime found = { RUNTIME_none, 0 };
	struct sampled_process *p;
	int err = process_table_keep(t, pid, &p);

	if (err || !p)
		return err;
	if (p->looked < UINT32_MAX && !is_time_to_look(p->looked++))
		return 0;
	while (t->looks < PROCESS_TABLE_LOOKS_MAX &&
	       (map = task_model_next_map(model, pid, map)) != NULL) {
		t->looks++;
		found = runtime_prefer(found, runtime_of_path(map->object->path));
	}
	if (found.kind != RUNTIME_none)
		p->runtime = found;
	return 0;
}

bool
process_table_interprets(struct process_table *t, uint32_t pid, const char *path)
{
	struct sampled_process *p = process_table_find(t, pid);

	if (!p || p->named)
		return false;
	if (p->looked < UINT32_MAX && !is_time_to_look(p->looked++))
		return false;
	p->runtime = runtime_prefer(p->runtime, runtime_of_path(path));
	return true;
}

void
process_table_named(struct process_table *t, uint32_t pid)
{
	struct sampled_process *p = process_table_find(t, pid);

	if (p)
		p->named = true;
}

void
process_table_end(struct process_table *t, const struct task_model *model)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct sampled_process *p = &t->v[i];
		const struct task *task = task_model_task(model, p->pid, p->pid);

		p->ended = p->known && (!task || task->exited);
	}
}

int
process_table_count(struct process_table *t, uint32_t pid, enum resolve_miss miss, bool interpreted,
		    uint64_t samples)
{
	struct sampled_process *p;
	int err = process_table_keep(t, pid, &p);

	if (err)
		return err;
	if (!p) {
		t->left_out_samples += samples;
		return 0;
	}
	p->samples += samples;
	if (miss != RESOLVE_OK)
		p->missing[miss] += samples;
	else if (interpreted)
		p->interpreted += samples;
	return 0;
}

void
process_table_learn(struct process_table *t, const struct process_table *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct sampled_process *known = &from->v[i];
		struct sampled_process *p = process_table_find(t, known->pid);

		if (!p)
			continue;
		p->known |= known->known;
		p->named |= known->named;
		p->ended = known->ended;
		if (*known->comm)
			strlcpy(p->comm, known->comm, sizeof(p->comm));
		if (known->runtime.kind != RUNTIME_none)
			p->runtime = known->runtime;
	}
}

uint64_t
sampled_process_missing(const struct sampled_process *p)
{
	uint64_t n = 0;

	for (int miss = RESOLVE_OK + 1; miss < RESOLVE_MISSES; miss++)
		n += p->missing[miss];
	return n;
}

uint64_t
sampled_process_interpreted(const struct sampled_process *p)
{
	return p->named ? 0 : p->interpreted;
}

uint64_t
sampled_process_runtime(const struct sampled_process *p)
{
	return p->missing[RESOLVE_NOT_FILE] + sampled_process_interpreted(p);
}

uint64_t
sampled_process_all(const struct sampled_process *p)
{
	return sampled_process_missing(p) + sampled_process_interpreted(p);
}

static int
compare_numbers(const void *va, const void *vb, void *arg)
{
	const struct sampled_process *a = *(const struct sampled_process *const *)va;
	const struct sampled_process *b = *(const struct sampled_process *const *)vb;
	sampled_process_fn *const *number = arg;
	const uint64_t na = (*number)(a), nb = (*number)(b);

	return na != nb ? (na < nb) - (na > nb) : (a->pid > b->pid) - (a->pid < b->pid);
}

int
process_table_sorted(const struct process_table *t, sampled_process_fn *number,
		     const struct sampled_process ***ret, size_t *ret_nr)
{
	const struct sampled_process **list = calloc(t->nr + 1, sizeof(*list));
	size_t nr = 0;

	if (!list)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < t->nr; i++)
		if (number(&t->v[i]) > 0)
			list[nr++] = &t->v[i];
	qsort_r(list, nr, sizeof(*list), compare_numbers, &number);
	*ret = list;
	*ret_nr = nr;
	return 0;
}
