/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/shunned.h"

#include <stddef.h>

static const struct shunned_one *
shunned_find(const struct shunned *s, enum shunned_kind kind, uint64_t what)
{
	for (size_t i = 0; i < SHUNNED_MAX; i++)
		if (s->each[i].kind == kind && s->each[i].what == what)
			return &s->each[i];
	return NULL;
}

uint64_t
shunned_add(struct shunned *s, enum shunned_kind kind, uint64_t what, uint64_t now_ns)
{
	const struct shunned_one *known = shunned_find(s, kind, what);
	uint64_t for_ns = SHUNNED_NS;
	size_t at = known ? (size_t)(known - s->each) : 0;

	if (known && known->until_ns > now_ns)
		return 0;
	if (known && known->until_ns + SHUNNED_AGAIN_NS > now_ns)
		for_ns = SHUNNED_AGAIN_NS;

	for (size_t i = 0; !known && i < SHUNNED_MAX; i++)
		if (s->each[i].until_ns < s->each[at].until_ns)
			at = i;
	s->each[at] = (struct shunned_one){ (uint8_t)kind, what, now_ns + for_ns };
	return for_ns;
}

void
shunned_renew(struct shunned *s, enum shunned_kind kind, uint64_t what, uint64_t now_ns)
{
	for (size_t i = 0; i < SHUNNED_MAX; i++) {
		struct shunned_one *one = &s->each[i];

		if (one->kind == kind && one->what == what && one->until_ns < now_ns + SHUNNED_NS)
			one->until_ns = now_ns + SHUNNED_NS;
	}
}

bool
shunned_has(const struct shunned *s, enum shunned_kind kind, uint64_t what, uint64_t now_ns)
{
	const struct shunned_one *one = shunned_find(s, kind, what);

	return one && one->until_ns > now_ns;
}

bool
shunned_any(const struct shunned *s, enum shunned_kind kind, uint64_t now_ns)
{
	for (size_t i = 0; i < SHUNNED_MAX; i++)
		if (s->each[i].kind == kind && s->each[i].until_ns > now_ns)
			return true;
	return false;
}
