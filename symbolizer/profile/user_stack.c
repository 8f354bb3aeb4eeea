/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/user_stack.h"

#include <stdlib.h>

#include <linux/perf_event.h>
#include <sys/mman.h>

#include "symbolizer/profile/made_cfi.h"
#include "symbolizer/unwind/cfi_store.h"

struct user_stack {
	const struct replay *replay;
	const struct cfi_arch *arch; /* NULL: not known */
	struct cfi_store *store;
	struct made_cfi *made; /* NULL: no file tells of code made at run time */
	struct unwinder *unwinder;
	struct unwind_stops stops;
	uint32_t pid; /* of the sample, as are these */
	uint64_t time_ns;
	const struct cfi_arch *sample_arch;
	/* What the last sample got, and of which record that was, if that is given more than once. */
	uint64_t record;
	const struct unwind_frame *user;
	size_t nr_user;
	int error; /* of find_code(), which cannot return one */
};

struct user_stack *
user_stack_new(const struct replay *replay, const char *arch, const struct object_places *places,
	       struct jit_names *jit)
{
	struct user_stack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->replay = replay;
	u->arch = cfi_arch_of_name(arch);
	u->store = cfi_store_new(places);
	u->unwinder = unwinder_new();
	if (jit)
		u->made = made_cfi_new(replay, jit);
	if (u->store && u->unwinder && (!jit || u->made))
		return u;
	user_stack_free(u);
	return NULL;
}

void
user_stack_free(struct user_stack *u)
{
	if (!u)
		return;
	cfi_store_free(u->store);
	made_cfi_free(u->made);
	unwinder_free(u->unwinder);
	free(u);
}

/* A recording may have maps of data, too, for perf; old records do not tell (prot 0). */
static bool
find_code(void *arg, uint64_t ip, struct unwind_code *ret)
{
	struct user_stack *u = arg;
	const struct task_map *map = replay_map(u->replay, u->pid, ip);
	int err = 0;

	if (!map || (map->prot && !(map->prot & PROT_EXEC)))
		return false;
	if (u->made && map_object_anonymous(map->object->path))
		err = made_cfi_code(u->made, u->sample_arch, u->pid, ip, u->time_ns, ret);
	if (err > 0)
		return true;
	if (err < 0) {
		u->error = err;
		return false;
	}
	err = cfi_store_code(u->store, map, replay_vdso(u->replay), ip, ret);
	if (err < 0)
		u->error = err;
	return err == 0;
}

static bool
is_copied(const struct replay_sample *s)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const unsigned mode = s->chain.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	/* A thread of the kernel has no user registers, and a guest's are not those of the sample. */
	return s->copied && (s->copied->have & both) == both && s->copied->regs_user.abi != 0 &&
		(mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER) &&
		!callchain_has_user(&s->chain);
}

/* In whose code the walk ended. The last address may be the one where none is mapped. */
static void
count_place(struct user_stack *u, const struct replay_sample *s, enum unwind_stop stop)
{
	const struct callchain_words *chain = &s->chain;
	const struct task_map *map = NULL;

	for (size_t i = 0; i < 2 && i < chain->nr_user && !map; i++)
		map = replay_map(u->replay, u->pid, chain->user[chain->nr_user - 1 - i].ip);
	if (map)
		unwind_stops_place(&u->stops, stop, map->object->path);
}

int
user_stack_unwind(struct user_stack *u, struct replay_sample *s)
{
	const struct cfi_arch *arch = u->arch;
	struct unwind_sample sample;
	int stop;

	if (!is_copied(s))
		return 0;
	if (s->record && s->record == u->record) {
		s->chain.user = u->user;
		s->chain.nr_user = u->nr_user;
		return 0;
	}
	u->record = s->record;
	u->user = s->chain.user;
	u->nr_user = s->chain.nr_user;
	if (arch && s->copied->regs_user.abi == PERF_SAMPLE_REGS_ABI_32)
		arch = cfi_arch_narrow(arch);
	if (!arch || !unwind_sample_of(arch, s->copied, &sample)) {
		u->stops.stacks[UNWIND_REFUSED]++;
		return 0;
	}
	u->pid = s->pid;
	u->time_ns = s->time_ns;
	u->sample_arch = arch;
	u->error = 0;
	stop = unwind(u->unwinder, &sample, find_code, u, &s->chain.user, &s->chain.nr_user);
	if (u->made && stop >= 0 && u->error == 0)
		u->error = made_cfi_settle(u->made, u->unwinder);
	if (stop < 0 || u->error)
		return stop < 0 ? stop : u->error;
	unwind_stops_count(&u->stops, (enum unwind_stop)stop, s->chain.nr_user,
			   s->copied->stack_user.len);
	if (unwind_stop_has_place((enum unwind_stop)stop))
		count_place(u, s, (enum unwind_stop)stop);
	u->user = s->chain.user;
	u->nr_user = s->chain.nr_user;
	return 0;
}

const struct unwind_stops *
user_stack_stops(const struct user_stack *u)
{
	return &u->stops;
}
