/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/symbolize.h"

#include "format/bytes/fmt_error.h"

/* A frame in a world whose maps nobody recorded. */
static int
foreign_frame(struct resolver *resolver, const char *name, uint64_t ip, struct frame *ret)
{
	const char *dso = resolver_intern(resolver, name);

	if (!dso)
		return -FMT_E_NOMEM;
	*ret = (struct frame){
		.ip = ip, .vaddr = ip, .dso = dso, .dso_path = dso, .miss = RESOLVE_NO_MAP
	};
	return 0;
}

static int
kernel_frame(struct resolver *resolver, const struct raw_place *p, struct frame *ret)
{
	/* The recording has names of the kernel's code alone. */
	if (p->is_data)
		return foreign_frame(resolver, "[kernel.kallsyms]", p->address, ret);
	const struct kernel_symbol known = { .start = p->start, .name = p->symbol, .dso = p->dso };

	return resolver_kernel(resolver, p->address, p->is_return, p->symbol ? &known : NULL, ret);
}

static int
user_frame(struct resolver *resolver, const struct raw_profile *raw, const struct raw_place *p,
	   struct frame *ret)
{
	struct map_object object;
	struct task_map map;

	if (p->is_data && p->region == RAW_NO_REGION)
		return resolver_data(resolver, NULL, p->address, ret);
	if (p->symbol)
		return resolver_jit(resolver, p->address, p->start, p->symbol, p->dso, ret);
	if (p->region == RAW_NO_REGION)
		return resolver_user(resolver, NULL, p->address, p->is_return, ret);
	object = raw->regions[p->region].object;
	map = raw->regions[p->region].map;
	map.object = &object;
	if (p->is_data)
		return resolver_data(resolver, &map, p->address, ret);
	return resolver_user(resolver, &map, p->address, p->is_return, ret);
}

static int
symbolize_place(struct resolver *resolver, const struct raw_profile *raw, const struct raw_place *p,
		struct frame *ret)
{
	switch (p->mode) {
	case CALLCHAIN_KERNEL:
		return kernel_frame(resolver, p, ret);
	case CALLCHAIN_USER:
		return user_frame(resolver, raw, p, ret);
	case CALLCHAIN_HYPERVISOR:
		return foreign_frame(resolver, "[hypervisor]", p->address, ret);
	case CALLCHAIN_GUEST_KERNEL:
		return foreign_frame(resolver, "[guest.kernel]", p->address, ret);
	case CALLCHAIN_GUEST_USER:
		return foreign_frame(resolver, "[guest.user]", p->address, ret);
	default:
		return foreign_frame(resolver, "[unknown]", p->address, ret);
	}
}

int
symbolize_places(struct resolver *resolver, struct inlines *inlines, const struct raw_profile *raw,
		 uint8_t *wanted, inlines_fn *take, void *arg)
{
	struct frame frame;
	int err = 0;

	for (size_t i = 0; err == 0 && i < raw->nr_places; i++) {
		if (wanted[i] != SYMBOLIZE_WANTED)
			continue;
		err = symbolize_place(resolver, raw, &raw->places[i], &frame);
		frame.data = raw->places[i].is_data;
		if (err == 0)
			err = take(arg, (uint32_t)i, &frame, 1);
		if (err == 0 && inlines)
			err = inlines_add(inlines, &frame, (uint32_t)i);
		wanted[i] = SYMBOLIZE_DONE;
	}
	return err;
}
