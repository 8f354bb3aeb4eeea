/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/made_cfi.h"

#include <stdlib.h>

#include "format/bytes/fair_part.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/jit_maker.h"

#define MADE_MAX 65536u /* pieces of code; of more nothing is known */

struct made {
	const struct jit_table *table;
	const struct cfi_arch *arch;
	uint32_t order;
	struct cfi *cfi; /* NULL: it is not understood, or was freed */
	size_t bytes;	 /* as of when it was counted last */
	uint64_t used;
};

struct made_cfi {
	const struct replay *replay;
	struct jit_names *jit;
	struct made *v;
	size_t nr, cap, bytes;
	struct slots slots;
	struct fair_accounts rooms; /* by table: what the code of a process took */
	uint64_t uses;		    /* so far */
	size_t last;		    /* that was asked for: it may have rows since then */
	/* Whose code took more than it may in this walk (NULL: nobody's), and what it is to have after that. */
	const struct jit_table *over;
	size_t over_to;
};

struct made_cfi *
made_cfi_new(const struct replay *replay, struct jit_names *jit)
{
	struct made_cfi *m = calloc(1, sizeof(*m));

	if (m)
		*m = (struct made_cfi){ .replay = replay, .jit = jit };
	return m;
}

void
made_cfi_free(struct made_cfi *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		cfi_free(m->v[i].cfi);
	free(m->v);
	slots_done(&m->slots);
	fair_accounts_done(&m->rooms);
	free(m);
}

static bool
made_same(const void *owner, uint32_t index, const void *key)
{
	const struct made *a = &((const struct made_cfi *)owner)->v[index], *b = key;

	return a->table == b->table && a->order == b->order && a->arch == b->arch;
}

/* --- memory ------------------------------------------------------------------------------ */

/* Of all of it, that nothing has taken. */
static size_t
left(const struct made_cfi *m)
{
	return m->bytes < MADE_CFI_BYTES_MAX ? MADE_CFI_BYTES_MAX - m->bytes : 0;
}

/* What it takes now. */
static int
count(struct made_cfi *m, struct made *made)
{
	const size_t now = made->cfi ? cfi_bytes(made->cfi) : 0, grown = now - made->bytes;
	struct fair_account *room;

	if (grown == 0)
		return 0;
	room = fair_accounts_of(&m->rooms, (uintptr_t)made->table);
	if (!room)
		return -FMT_E_NOMEM;
	/* One that frees some is not to do so again at once: each time it looks at all. */
	if (!m->over && !fair_part_has(left(m), room->bytes, grown)) {
		m->over = made->table;
		m->over_to = room->bytes - room->bytes / 8;
	}
	m->bytes += grown;
	room->bytes += grown;
	made->bytes = now;
	return 0;
}

static int
count_last(struct made_cfi *m)
{
	return m->last < m->nr ? count(m, &m->v[m->last]) : 0;
}

static int
compare_uses(const void *a, const void *b)
{
	const struct made *x = *(struct made *const *)a, *y = *(struct made *const *)b;

	return (x->used > y->used) - (x->used < y->used);
}

static void
free_piece(struct made_cfi *m, struct fair_account *room, struct unwinder *u, struct made *made)
{
	unwinder_forget(u, made->cfi);
	cfi_free(made->cfi);
	made->cfi = NULL;
	m->bytes -= made->bytes;
	room->bytes -= made->bytes;
	made->bytes = 0;
}

static int
make_room(struct made_cfi *m, struct fair_account *room, struct unwinder *u)
{
	struct made **v = reallocarray(NULL, m->nr, sizeof(struct made *));
	size_t nr = 0;

	if (!v)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < m->nr; i++)
		if (m->v[i].table == m->over && m->v[i].cfi)
			v[nr++] = &m->v[i];
	qsort(v, nr, sizeof(struct made *), compare_uses);
	for (size_t i = 0; i < nr && room->bytes > m->over_to; i++)
		free_piece(m, room, u, v[i]);
	free(v);
	return 0;
}

int
made_cfi_settle(struct made_cfi *m, struct unwinder *u)
{
	struct fair_account *room;
	int err = count_last(m);

	if (err || !m->over)
		return err;
	room = fair_accounts_of(&m->rooms, (uintptr_t)m->over);
	err = room ? make_room(m, room, u) : -FMT_E_NOMEM;
	m->over = NULL;
	return err;
}

size_t
made_cfi_bytes(const struct made_cfi *m)
{
	return m->bytes;
}

/* --- pieces of code ---------------------------------------------------------------------- */

/* Where .eh_frame lies: jitdump_frames. */
static int
read_piece(struct made_cfi *m, uint32_t hash, const struct made *key, const struct jit_frames *f,
	   uint32_t *ret)
{
	const struct cfi_made made = { f->start, f->size, f->eh_frame,
				       f->start + ((f->size + 7) & ~UINT64_C(7)) };
	struct fair_account *room = fair_accounts_of(&m->rooms, (uintptr_t)f->table);
	int err;

	if (!room)
		return -FMT_E_NOMEM;
	if (!fair_part_has(MADE_MAX - m->nr, room->nr, 1) ||
	    !fair_part_has(left(m), room->bytes, 0))
		return 0;
	room->nr++;
	err = slots_keep(&m->slots, hash, made_same, m, key, m->v, m->nr, m->cap, ret);
	if (err == 0)
		err = cfi_new_made(key->arch, &made, &m->v[*ret].cfi);
	return err == 0 ? count(m, &m->v[*ret]) : err;
}

int
made_cfi_piece(struct made_cfi *m, const struct cfi_arch *arch, const struct jit_frames *f,
	       struct cfi **ret)
{
	const struct made key = { .table = f->table, .arch = arch, .order = f->order };
	const uint32_t hash = (uint32_t)slots_mix((uint64_t)(uintptr_t)f->table, f->order);
	uint32_t at = slots_find(&m->slots, hash, made_same, m, &key);
	int err = count_last(m);

	*ret = NULL;
	/* Rows of this walk may have taken what was left; it is settled when that ends. */
	if (err || (m->over && left(m) == 0))
		return err;
	if (at == SLOTS_NONE)
		err = read_piece(m, hash, &key, f, &at);
	if (err || at == SLOTS_NONE)
		return err == -FMT_E_NOMEM ? err : 0;
	m->v[at].used = ++m->uses;
	m->last = at;
	*ret = m->v[at].cfi;
	return 0;
}

int
made_cfi_code(struct made_cfi *m, const struct cfi_arch *arch, uint32_t pid, uint64_t ip,
	      uint64_t time_ns, struct unwind_code *ret)
{
	struct jit_frames frames;
	struct jit_maker maker;
	int r = 0;

	for (jit_maker_first(&maker, replay_model(m->replay), pid, time_ns);
	     r == 0 && maker.process.pid; jit_maker_next(&maker))
		r = jit_names_frames(m->jit, &maker.process, ip, maker.process.alive_ns, &frames);
	if (r <= 0)
		return r;
	*ret = (struct unwind_code){ .vaddr = ip };
	r = made_cfi_piece(m, arch, &frames, &ret->cfi);
	return r < 0 ? r : ret->cfi != NULL;
}
