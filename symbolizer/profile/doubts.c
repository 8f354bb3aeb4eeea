/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/doubts.h"

#include <assert.h>
#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

struct doubts {
	struct doubt *v;
	size_t nr, cap;
	struct slots slots;
};

static bool
doubt_same(const void *owner, uint32_t index, const void *key)
{
	const struct doubt *a = &((const struct doubts *)owner)->v[index], *b = key;

	return a->dso_path == b->dso_path && a->doubt == b->doubt;
}

static int
doubts_add(struct doubts *d, const struct doubt *key)
{
	uint32_t hash = (uint32_t)slots_mix((uintptr_t)key->dso_path, key->doubt), i;

	return slots_keep(&d->slots, hash, doubt_same, d, key, d->v, d->nr, d->cap, &i);
}

int
doubts_find(const struct profile *p, struct doubts **ret)
{
	struct doubts *d = calloc(1, sizeof(*d));
	int err = d ? 0 : -FMT_E_NOMEM;

	for (size_t i = 0; err == 0 && i < profile_frames(p); i++) {
		const struct frame *f = profile_frame(p, (uint32_t)i);

		if (f->doubt != RESOLVE_SURE)
			err = doubts_add(d, &(struct doubt){ f->dso_path, f->doubt });
	}
	if (err == 0)
		*ret = d;
	else
		doubts_free(d);
	return err;
}

void
doubts_free(struct doubts *d)
{
	if (!d)
		return;
	free(d->v);
	slots_done(&d->slots);
	free(d);
}

size_t
doubts_count(const struct doubts *d)
{
	return d->nr;
}

const struct doubt *
doubts_at(const struct doubts *d, size_t i)
{
	assert(i < d->nr);
	return &d->v[i];
}
