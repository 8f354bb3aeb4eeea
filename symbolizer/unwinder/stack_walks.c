/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwinder/stack_walks.h"

#include <stdlib.h>
#include <time.h>

#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/object/object_vdso.h"
#include "symbolizer/unwinder/user_time.h"

#define ASK_NS (SECOND_NS / 2000) /* between two questions for the CPU time, while stacks come */
#define AHEAD 256		  /* entries that are looked at for those of others */

struct stack_walks {
	const struct cfi_arch *arch;
	struct unwind_ring *ring;
	struct unwinder *u;
	struct numbered_files *files;
	struct numbered_spaces *spaces;
	struct code_file vdso;
	uint64_t addresses[UNWIND_FRAMES_MAX];
	/* Of the walk that goes on. */
	uint32_t space;
	uint32_t unread;   /* the file that it needs and that has not been read; 0: none */
	uint32_t gone;	   /* the file that it needs and that is to be offered again; 0: none */
	uint64_t cpu_ns;   /* CPU time of this process, when that was last asked for */
	uint64_t asked_ns; /* when that was */
	struct user_time users;
};

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* A system call, unlike the other clock: it is asked for of several stacks together. */
static uint64_t
cpu_now_ns(struct stack_walks *w)
{
	w->asked_ns = clock_ns(CLOCK_MONOTONIC);
	w->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return w->cpu_ns;
}

/* Without it, its frames end as those of a file without call frame information. */
static int
read_vdso(struct code_file *f)
{
	struct elf_object *elf = NULL;
	int err = object_vdso_open(false, &elf);

	if (err)
		return err == -FMT_E_NOMEM ? err : 0;
	err = code_file_read(f, elf, NULL, NUMBERED_FILES_ONE_MAX);
	elf_object_close(elf);
	return err;
}

struct stack_walks *
stack_walks_new(const char *machine, struct unwind_ring *ring, size_t descriptors_max)
{
	struct stack_walks *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->ring = ring;
	w->arch = cfi_arch_of_name(machine);
	w->u = unwinder_new();
	w->files = w->u ? numbered_files_new(w->u, descriptors_max) : NULL;
	w->spaces = numbered_spaces_new();
	if (w->arch && w->files && w->spaces && read_vdso(&w->vdso) == 0)
		return w;
	stack_walks_free(w);
	return NULL;
}

void
stack_walks_free(struct stack_walks *w)
{
	if (!w)
		return;
	code_file_done(&w->vdso);
	numbered_files_free(w->files);
	numbered_spaces_free(w->spaces);
	unwinder_free(w->u);
	free(w);
}

struct numbered_files *
stack_walks_files(struct stack_walks *w)
{
	return w->files;
}

/* As unwind_find_fn. A walk that comes to a file that has not been read ends there, and is done again. */
static bool
find_code(void *arg, uint64_t ip, struct unwind_code *ret)
{
	struct stack_walks *w = arg;
	const struct unwind_map *map = numbered_spaces_map(w->spaces, w->space, ip);

	enum numbered_code code;

	if (!map || w->unread || w->gone)
		return false;
	*ret = (struct unwind_code){ .cfi = NULL };
	/* The kernel does its calls and returns from them, with the caller's registers. */
	if (map->flags & UNWIND_MAP_VSYSCALL)
		*ret = (struct unwind_code){ .vaddr = ip, .frameless = true };
	else if (map->flags & UNWIND_MAP_VDSO)
		*ret = code_file_at(&w->vdso, ip - map->start);
	else {
		code = numbered_files_code(w->files, map->file, ip - map->start + map->pgoff, ret);
		w->unread = code == NUMBERED_UNREAD ? map->file : 0;
		w->gone = code == NUMBERED_GONE ? map->file : 0;
		if (code != NUMBERED_FOUND)
			return false;
	}
	/* Its rules are compiled and followed from here on: should that be the end, this was why. */
	unwind_ring_reads(w->ring, map->file);
	return true;
}

/* The entry as a sample. False: it is of processes that are not known. */
static bool
sample_of(const struct stack_walks *w, const struct unwind_stack *stack, struct unwind_sample *ret)
{
	const struct cfi_arch *arch = w->arch;
	const size_t words = (size_t)__builtin_popcountll(stack->mask) * sizeof(uint64_t);
	const uint8_t *at = (const uint8_t *)(stack + 1);
	const uint32_t asked = stack->asked_bytes;
	const struct perf_sample s = {
		.regs_user = { .abi = stack->abi, .mask = stack->mask, .words = span_of(at, words) },
		.stack_user = span_of(at + words,
				      asked > stack->stack_bytes ? asked : stack->stack_bytes),
		.stack_user_dyn_size = stack->stack_bytes,
	};

	if (stack->abi == PERF_SAMPLE_REGS_ABI_32 && arch->word == 8)
		arch = cfi_arch_narrow(arch);
	return arch && unwind_sample_of(arch, &s, ret);
}

/* An enum unwind_stop, UNWIND_NO_FILE, or -FMT_E_NOMEM: it needs more than there is room for. */
static int
walk(struct stack_walks *w, const struct unwind_sample *s, const struct unwind_frame **frames,
     size_t *nr)
{
	uint64_t began_ns = 0;
	int stop;

	for (unsigned reads = 0;; reads++) {
		w->unread = w->gone = 0;
		numbered_files_begin(w->files);
		stop = unwind(w->u, s, find_code, w, frames, nr);
		unwind_ring_reads(w->ring, 0);
		numbered_files_settle(w->files);
		if (w->gone)
			return UNWIND_NO_FILE;
		if (numbered_files_refused(w->files))
			return UNWIND_BUSY;
		if (!w->unread)
			return stop;
		if (reads == 0)
			began_ns = cpu_now_ns(w);
		/* Others keep what they have, and the next stack finds these read. */
		else if (reads == STACK_WALKS_READS_MAX ||
			 cpu_now_ns(w) - began_ns > STACK_WALKS_READS_NS)
			return UNWIND_BUSY;
		unwind_ring_reads(w->ring, w->unread);
		numbered_files_read(w->files, w->unread);
		unwind_ring_reads(w->ring, 0);
	}
}

static void
reply(struct unwind_stack *stack, const struct unwind_walk *entry, uint32_t stop, uint32_t used)
{
	unwind_ring_reply(stack, entry->bytes, (struct unwind_answer){ .stop = stop, .used = used },
			  NULL);
}

static void
answer_walk(struct stack_walks *w, struct unwind_stack *stack, const struct unwind_walk *entry)
{
	const struct unwind_frame *frames;
	struct unwind_sample s;
	size_t nr = 0;
	int stop;

	if (!sample_of(w, stack, &s)) {
		reply(stack, entry, UNWIND_BUSY, 0);
		return;
	}
	stop = walk(w, &s, &frames, &nr);
	if (stop == UNWIND_NO_FILE) {
		reply(stack, entry, UNWIND_NO_FILE, w->gone);
		return;
	}
	if (stop < 0) {
		numbered_files_drop(w->files);
		reply(stack, entry, UNWIND_BUSY, 0);
		return;
	}
	/* Readers look at the byte before an address, as of a call; where a signal came that is another instruction. */
	for (size_t i = 0; i < nr; i++)
		w->addresses[i] = frames[i].ip + (i > 0 && !frames[i].is_return);
	unwind_ring_reply(stack, entry->bytes,
			  (struct unwind_answer){ .stop = (uint32_t)stop,
						  .nr = (uint32_t)nr,
						  .used = (uint32_t)unwinder_used(w->u) },
			  w->addresses);
}

/* Are stacks of others among those that come next? */
static bool
others_wait(const struct stack_walks *w, uint32_t uid)
{
	const struct unwind_entry *e;
	uint64_t cursor = 0;

	for (int i = 0; i < AHEAD && (e = unwind_ring_ahead(w->ring, &cursor)); i++) {
		const uint32_t space = ((const struct unwind_walk *)e)->space;

		if (e->kind == UNWIND_WALK && numbered_spaces_known(w->spaces, space) &&
		    numbered_spaces_user(w->spaces, space) != uid)
			return true;
	}
	return false;
}

static bool
may_cost_more(struct stack_walks *w, uint32_t uid, uint64_t now_ns)
{
	const enum user_time_left left = user_time_left(&w->users, uid, now_ns);

	return left == USER_TIME_BESIDE || (left == USER_TIME_ALONE && !others_wait(w, uid));
}

/*
 * Charges the user of a walk that began at began_ns. Its CPU time is at most the time that it took. If that was long, the
 * process may have waited for a CPU; then the bound is its CPU time since it was last asked for.
 */
static void
charge(struct stack_walks *w, uint32_t uid, uint64_t began_ns, uint64_t cpu_before_ns)
{
	const uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
	uint64_t cpu_ns;

	if (took_ns <= USER_TIME_WALK_NS)
		return;
	cpu_ns = cpu_now_ns(w) - cpu_before_ns;
	user_time_spend(&w->users, uid, cpu_ns < took_ns ? cpu_ns : took_ns);
}

static void
answer(struct stack_walks *w, const struct unwind_walk *entry)
{
	struct unwind_stack *stack = unwind_ring_stack(w->ring, entry);
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t cpu_ns;
	uint32_t uid;

	if (!stack)
		return;
	w->space = entry->space;
	if (!numbered_spaces_use(w->spaces, entry->space)) {
		reply(stack, entry, UNWIND_NO_SPACE, 0);
		return;
	}
	uid = numbered_spaces_user(w->spaces, entry->space);
	if (!may_cost_more(w, uid, now_ns)) {
		reply(stack, entry, UNWIND_BUSY, 0);
		return;
	}
	/* What was used since then may be others'. */
	if (now_ns - w->asked_ns > ASK_NS)
		(void)cpu_now_ns(w);
	cpu_ns = w->cpu_ns;
	answer_walk(w, stack, entry);
	charge(w, uid, now_ns, cpu_ns);
}

void
stack_walks_take(struct stack_walks *w, struct unwind_entry *e)
{
	switch ((enum unwind_kind)e->kind) {
	case UNWIND_FILE:
		numbered_files_claim(w->files, (const struct unwind_file *)e);
		break;
	case UNWIND_SPACE:
		/* Stacks of one that there is no memory for are not walked. */
		(void)numbered_spaces_set(w->spaces, (const struct unwind_space *)e);
		break;
	case UNWIND_WALK:
		answer(w, (const struct unwind_walk *)e);
		break;
	case UNWIND_PAD:
		break;
	}
}

void
stack_walks_tell(struct stack_walks *w)
{
	unwind_ring_tell(w->ring, cpu_now_ns(w));
}
