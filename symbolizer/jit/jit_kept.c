/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/jit/jit_kept.h"

#include <stdlib.h>
#include <string.h>

#include "format/block/jitsyms.h"
#include "format/bytes/array.h"
#include "format/bytes/fair_part.h"

/* All of one process, which are together when all is sorted. */
struct kept_process {
	uint32_t pid;
	bool timed; /* this one, or another one of its pid */
	uint64_t began_ns;
	size_t first, nr; /* of symbols */
	struct jit_table *table;
};

struct kept_symbol {
	struct jitsym s; /* its name is not valid */
	size_t name;	 /* offset in names */
};

struct jit_kept {
	struct kept_symbol *symbols;
	size_t nr, cap;
	struct buf names;
	struct kept_process *processes; /* by pid, then by beginning */
	size_t nr_processes, cap_processes;
	struct fair_accounts taken; /* by pid: all processes that had it are one */
	uint64_t left_out, bad_blocks;
};

void
jit_kept_free(struct jit_kept *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->nr_processes; i++)
		jit_table_free(k->processes[i].table);
	free(k->symbols);
	free(k->processes);
	fair_accounts_done(&k->taken);
	buf_done(&k->names);
	free(k);
}

uint64_t
jit_kept_left_out(const struct jit_kept *k)
{
	return k->left_out;
}

uint64_t
jit_kept_bad_blocks(const struct jit_kept *k)
{
	return k->bad_blocks;
}

/* --- taking in ----------------------------------------------------------------------------- */

static int
add_symbol(struct jit_kept *k, const struct jitsym *s)
{
	struct fair_account *taken = fair_accounts_of(&k->taken, s->pid);

	if (!taken)
		return -FMT_E_NOMEM;
	if (!fair_part_has(JIT_KEPT_ENTRIES_MAX - k->nr, taken->nr, 1) ||
	    !fair_part_has(JIT_KEPT_NAMES_BYTES_MAX - k->names.len, taken->bytes, s->name_len)) {
		k->left_out++;
		return 0;
	}
	if (array_reserve(k->symbols, k->nr, k->cap, 1) != 0)
		return -FMT_E_NOMEM;
	taken->nr++;
	taken->bytes += s->name_len;
	k->symbols[k->nr++] = (struct kept_symbol){ *s, k->names.len };
	buf_append(&k->names, s->name, s->name_len);
	return buf_failed(&k->names) ? -FMT_E_NOMEM : 0;
}

static int
add_block(struct jit_kept *k, struct span payload)
{
	struct jitsym symbol;
	size_t cursor = 0;
	int more, err = 0;

	while (err == 0 && (more = jitsyms_next(payload, &cursor, &symbol)) > 0)
		err = add_symbol(k, &symbol);
	k->bad_blocks += err == 0 && more < 0;
	return err;
}

static int
kept_cmp(const void *a, const void *b)
{
	const struct kept_symbol *x = a, *y = b;

	if (x->s.pid != y->s.pid)
		return x->s.pid < y->s.pid ? -1 : 1;
	if (x->s.began_ns != y->s.began_ns)
		return x->s.began_ns < y->s.began_ns ? -1 : 1;
	if (x->s.time_ns != y->s.time_ns)
		return x->s.time_ns < y->s.time_ns ? -1 : 1;
	if (x->s.order != y->s.order)
		return x->s.order < y->s.order ? -1 : 1;
	/* Names were appended as they came. */
	return (x->name > y->name) - (x->name < y->name);
}

static int
add_process(struct jit_kept *k, size_t first)
{
	const struct jitsym *s = &k->symbols[first].s;
	struct kept_process *p;

	if (array_reserve(k->processes, k->nr_processes, k->cap_processes, 1) != 0)
		return -FMT_E_NOMEM;
	p = &k->processes[k->nr_processes++];
	*p = (struct kept_process){ .pid = s->pid, .began_ns = s->began_ns, .first = first };
	return 0;
}

/* All of a pid are timed if one of them is, or if there are several. */
static void
spread_timed(struct jit_kept *k)
{
	struct kept_process *p = k->processes;

	for (size_t i = 1; i < k->nr_processes; i++)
		if (p[i].pid == p[i - 1].pid)
			p[i].timed = p[i - 1].timed = true;
}

static int
settle(struct jit_kept *k)
{
	int err = 0;

	if (k->nr > 0)
		if (k->nr)
			qsort(k->symbols, k->nr, sizeof(*k->symbols), kept_cmp);
	for (size_t i = 0; i < k->nr && err == 0; i++) {
		const struct jitsym *s = &k->symbols[i].s;
		const struct jitsym *before = i ? &k->symbols[i - 1].s : NULL;

		if (!before || before->pid != s->pid || before->began_ns != s->began_ns)
			err = add_process(k, i);
		if (err)
			break;
		k->processes[k->nr_processes - 1].nr++;
		k->processes[k->nr_processes - 1].timed |= s->time_ns != 0;
	}
	if (err == 0)
		spread_timed(k);
	return err;
}

static bool
want_jit(const struct block_header *h, void *arg)
{
	(void)arg;
	return h->type == BLOCK_JIT;
}

int
jit_kept_read(struct recording_reader *reader, struct jit_kept **ret, struct fmt_where *where)
{
	struct jit_kept *k = calloc(1, sizeof(*k));
	struct block block;
	int r;

	if (!k)
		return fmt_fail(where, FMT_E_NOMEM, 0, "names of JIT code");
	buf_init(&k->names);
	r = recording_reader_seek(reader, want_jit, NULL, where);
	while (r == 0 && (r = recording_reader_next(reader, want_jit, NULL, &block, where)) > 0) {
		r = add_block(k, block.payload);
		if (r < 0)
			fmt_fail(where, FMT_E_NOMEM, block.offset, "names of JIT code");
	}
	if (r == 0 && settle(k) < 0)
		r = fmt_fail(where, FMT_E_NOMEM, 0, "names of JIT code");
	recording_reader_rewind(reader);
	if (r == 0 && (k->nr || k->left_out || k->bad_blocks)) {
		*ret = k;
		return 0;
	}
	jit_kept_free(k);
	if (r == 0)
		*ret = NULL;
	return r;
}

/* --- searching ----------------------------------------------------------------------------- */

/* The first process of the pid that began later, or of a greater pid. */
static size_t
first_after(const struct jit_kept *k, uint32_t pid, uint64_t time_ns)
{
	size_t low = 0, high = k->nr_processes;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct kept_process *p = &k->processes[middle];

		if (p->pid < pid || (p->pid == pid && p->began_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last process of the pid that had begun by then; NULL. */
static struct kept_process *
process_of(const struct jit_kept *k, uint32_t pid, uint64_t time_ns)
{
	const size_t after = first_after(k, pid, time_ns);
	struct kept_process *p = after ? &k->processes[after - 1] : NULL;

	return p && p->pid == pid ? p : NULL;
}

uint64_t
jit_kept_until(const struct jit_kept *k, uint32_t pid, uint64_t time_ns)
{
	const size_t after = first_after(k, pid, time_ns);

	return after < k->nr_processes && k->processes[after].pid == pid
		? k->processes[after].began_ns
		: 0;
}

static int
make_table(const struct jit_kept *k, struct kept_process *p)
{
	int r = 0;

	p->table = jit_table_new();
	if (!p->table)
		return -FMT_E_NOMEM;
	for (size_t i = p->first; i < p->first + p->nr && r >= 0; i++) {
		const struct kept_symbol *at = &k->symbols[i];

		r = jit_table_add(p->table, at->s.start, at->s.size, at->s.time_ns,
				  (const char *)k->names.p + at->name, at->s.name_len, NULL);
	}
	return r < 0 ? r : jit_table_settle(p->table);
}

int
jit_kept_find(struct jit_kept *k, uint32_t pid, uint64_t address, uint64_t time_ns,
	      struct jit_symbol *ret)
{
	struct kept_process *p = process_of(k, pid, time_ns);

	if (!p)
		return 0;
	if (!p->table && make_table(k, p) < 0)
		return -FMT_E_NOMEM;
	return jit_table_find(p->table, address, time_ns, ret);
}

bool
jit_kept_timed(const struct jit_kept *k, uint32_t pid)
{
	const struct kept_process *p = process_of(k, pid, UINT64_MAX);

	return p && p->timed;
}

bool
jit_kept_has(const struct jit_kept *k, uint32_t pid)
{
	return process_of(k, pid, UINT64_MAX) != NULL;
}
