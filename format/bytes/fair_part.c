/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/fair_part.h"

#include <stdlib.h>

static bool
account_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct fair_accounts *)owner)->v[index].key ==
		((const struct fair_account *)key)->key;
}

struct fair_account *
fair_accounts_of(struct fair_accounts *a, uint64_t key)
{
	const struct fair_account one = { .key = key };
	uint32_t at;

	if (slots_keep(&a->slots, (uint32_t)slots_mix(key, 0), account_same, a, &one, a->v, a->nr,
		       a->cap, &at) != 0)
		return NULL;
	return &a->v[at];
}

void
fair_accounts_done(struct fair_accounts *a)
{
	free(a->v);
	slots_done(&a->slots);
}
