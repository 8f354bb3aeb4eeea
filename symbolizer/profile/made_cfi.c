/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/made_cfi.h"

#include <stdlib.h>

#include "format/bytes/fair_part.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/jit_maker.h"

#define MADE_MAX 65536u /* pieces of code; of more nothing is known */
/* Of all of them, of which those of a process have a fair_part: code that moves has its frames again at each place. */
#define MADE_BYTES_MAX (256u << 20)

struct made {
	const struct jit_table *table;
	const struct cfi_arch *arch;
	uint32_t order;
	struct cfi *cfi; /* NULL: it is not understood */
};

struct made_cfi {
	const struct replay *replay;
	struct jit_names *jit;
	struct made *v;
	size_t nr, cap, bytes;
	struct slots slots;
	struct fair_accounts rooms; /* by table: what the code of a process took */
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

/* Where .eh_frame lies: jitdump_frames. */
static int
made_of(struct made_cfi *m, const struct cfi_arch *arch, const struct jit_frames *f,
	struct cfi **ret)
{
	const struct made key = { .table = f->table, .arch = arch, .order = f->order };
	const uint32_t hash = (uint32_t)slots_mix((uint64_t)(uintptr_t)f->table, f->order);
	const struct cfi_made made = { f->start, f->size, f->eh_frame,
				       f->start + ((f->size + 7) & ~UINT64_C(7)) };
	struct fair_account *room;
	uint32_t at = slots_find(&m->slots, hash, made_same, m, &key);
	int err = 0;

	*ret = NULL;
	if (at == SLOTS_NONE) {
		room = fair_accounts_of(&m->rooms, (uintptr_t)f->table);
		if (!room)
			return -FMT_E_NOMEM;
		if (m->bytes >= MADE_BYTES_MAX || !fair_part_has(MADE_MAX - m->nr, room->nr, 1) ||
		    !fair_part_has(MADE_BYTES_MAX - m->bytes, room->bytes, 0))
			return 0;
		room->nr++;
		err = slots_keep(&m->slots, hash, made_same, m, &key, m->v, m->nr, m->cap, &at);
		if (err == 0)
			err = cfi_new_made(arch, &made, &m->v[at].cfi);
		if (err == 0) {
			m->bytes += cfi_bytes(m->v[at].cfi);
			room->bytes += cfi_bytes(m->v[at].cfi);
		}
	}
	if (err == 0)
		*ret = m->v[at].cfi;
	return err == -FMT_E_NOMEM ? err : 0;
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
	r = made_of(m, arch, &frames, &ret->cfi);
	return r < 0 ? r : ret->cfi != NULL;
}
