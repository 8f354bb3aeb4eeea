/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/stack_memory.h"

void
stack_memory_init(struct stack_memory *m, uint64_t bytes)
{
	uint64_t block = bytes / STACK_MEMORY_BLOCKS;

	if (block < STACK_MEMORY_BLOCK_MIN)
		block = bytes < STACK_MEMORY_BLOCK_MIN ? bytes : STACK_MEMORY_BLOCK_MIN;
	*m = (struct stack_memory){ .block_bytes = (uint32_t)block & ~7u };
	m->nr = block ? (uint32_t)(bytes / block) : 0;
}

static bool
is_free(const struct stack_block *b)
{
	return b->stacks == 0 && b->busy == 0;
}

/* Its stacks are gone: it is filled from its beginning. */
static bool
fill_lowest_free(struct stack_memory *m)
{
	for (uint32_t i = 0; i < m->nr; i++)
		if (is_free(&m->v[i])) {
			m->v[i].used = 0;
			m->filling = i;
			return true;
		}
	return false;
}

bool
stack_memory_take(struct stack_memory *m, uint32_t bytes, uint64_t *ret_at)
{
	struct stack_block *b = &m->v[m->filling];

	if (bytes > m->block_bytes)
		return false;
	if (is_free(b) || bytes > m->block_bytes - b->used) {
		if (!fill_lowest_free(m))
			return false;
		b = &m->v[m->filling];
	}
	*ret_at = m->filling * (uint64_t)m->block_bytes + b->used;
	b->used += bytes;
	b->stacks++;
	return true;
}

void
stack_memory_untake(struct stack_memory *m, uint64_t at)
{
	stack_memory_give_back(m, at, 0);
	m->v[m->filling].used = (uint32_t)(at % m->block_bytes);
}

void
stack_memory_give_back(struct stack_memory *m, uint64_t at, uint64_t busy)
{
	struct stack_block *b = &m->v[at / m->block_bytes];

	b->stacks--;
	if (busy > b->busy)
		b->busy = busy;
	m->any_busy |= busy > 0;
}

void
stack_memory_taken(struct stack_memory *m, uint64_t taken)
{
	bool any = false;

	for (uint32_t i = 0; m->any_busy && i < m->nr; i++) {
		if (m->v[i].busy <= taken)
			m->v[i].busy = 0;
		any |= m->v[i].busy > 0;
	}
	m->any_busy = any;
}
