/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/unwinding.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <linux/perf_event.h>

#include "format/bytes/array.h"
#include "format/bytes/time_text.h"
#include "format/record/sample_chain.h"
#include "format/unwind/unwind_ring.h"
#include "recorder/host/host.h"
#include "recorder/unwind/freed_stack.h"
#include "recorder/unwind/unwind_files.h"
#include "recorder/unwind/unwind_hold.h"
#include "recorder/unwind/unwind_process.h"
#include "recorder/unwind/unwind_spaces.h"

#define LATE_NS (UINT64_C(3) * SECOND_NS) /* that a sample may wait */
#define FILES_NS (SECOND_NS / 2 * 3)	  /* of which for files */
#define OUT_BYTES (64u << 10)		  /* that are given at once */
#define DRAIN_MS 1

struct turn {
	uint64_t time_ns;
	size_t index; /* in the hold */
};

struct unwinding {
	struct live *live;
	const struct event_set *events;
	struct event_attr *opened;
	size_t nr_events;
	struct unwind_process *process;
	struct unwind_files *files;
	struct unwind_hold hold;
	struct unwind_spaces *spaces;
	uint64_t knocked; /* the head of the ring, as the process was told of it */
	bool ready;	  /* there is a process, as of the last step */
	size_t nr_waits;  /* for the model */
	size_t nr_placed;
	struct turn *turns; /* of this pass, by time */
	size_t nr_turns, cap_turns, next_turn;
	uint64_t *frames;
	struct unwind_stops stops;
	struct stack_size *size; /* NULL: it is fixed */
};

/* --- life -------------------------------------------------------------------------------- */

int
unwinding_new(const struct unwinding_options *o, struct unwinding **ret)
{
	struct unwinding *u = calloc(1, sizeof(*u));
	struct utsname host;

	if (!u || uname(&host) < 0) {
		free(u);
		return -ENOMEM;
	}
	u->live = o->live;
	u->events = o->events;
	u->size = o->size;
	u->nr_events = event_set_count(o->events);
	stack_memory_init(&u->hold.stacks, o->stacks_bytes);
	u->process = unwind_process_new(live_helpers(o->live), host.machine, o->stacks_bytes);
	if (u->process)
		u->files = unwind_files_new(live_helpers(o->live), u->process);
	if (u->files)
		u->spaces = unwind_spaces_new(o->live, u->process, u->files);
	u->opened = reallocarray(NULL, u->nr_events + 1, sizeof(*u->opened));
	u->frames = reallocarray(NULL, SAMPLE_CHAIN_MAX, sizeof(*u->frames));
	if (!u->spaces || !u->opened || !u->frames) {
		unwinding_free(u);
		return -ENOMEM;
	}
	memcpy(u->opened, o->opened, u->nr_events * sizeof(*u->opened));
	*ret = u;
	return 0;
}

void
unwinding_free(struct unwinding *u)
{
	if (!u)
		return;
	unwind_spaces_free(u->spaces);
	unwind_files_free(u->files);
	unwind_process_free(u->process);
	unwind_hold_done(&u->hold);
	free(u->turns);
	free(u->frames);
	free(u->opened);
	free(u);
}

void
unwinding_events(struct unwinding *u, const struct event_set *events)
{
	u->events = events;
}

/* --- samples that come ------------------------------------------------------------------- */

/*
 * The attr by which it was opened, where that has a stack to be unwound; NULL. *ret_unknown: no event is known to be
 * its, so that the place of its stack is not known.
 */
static const struct event_attr *
attr_of(const struct unwinding *u, struct span record, bool *ret_unknown)
{
	const int word = event_set_id_word(u->events);
	const size_t at = PERF_RECORD_HEADER_BYTES + (size_t)(word < 0 ? 0 : word) * 8;
	int event = -1;

	if (le32dec(record.p) == REC_SAMPLE && word >= 0 && at + 8 <= record.len)
		event = event_set_of_sample(u->events, le64dec(record.p + at));
	*ret_unknown = event < 0 || (size_t)event >= u->nr_events;
	if (*ret_unknown || !(u->opened[event].sample_type & PERF_SAMPLE_STACK_USER))
		return NULL;
	return &u->opened[event];
}

/* A thread of the kernel has no user registers, and a guest's are not those of the sample. */
static bool
has_stack(const struct perf_record *r)
{
	const unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return r->sample.regs_user.abi != PERF_SAMPLE_REGS_ABI_NONE && r->sid.pid &&
		(mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER);
}

/* Into the memory that the process will see. */
static bool
keep_stack(struct unwinding *u, struct held *h, const struct perf_record *r)
{
	const struct span words = r->sample.regs_user.words;
	const uint64_t copied = r->sample.stack_user_dyn_size;
	struct unwind_stack s = { .mask = r->sample.regs_user.mask,
				  .abi = (uint32_t)r->sample.regs_user.abi,
				  .stack_bytes = (uint32_t)copied,
				  .asked_bytes = (uint32_t)r->sample.stack_user.len };
	uint8_t *to;

	if (!u->ready ||
	    !unwind_hold_take_stack(&u->hold, h,
				    (uint32_t)(sizeof(s) + words.len + (size_t)copied)))
		return false;
	to = unwind_process_ring(u->process)->stacks + h->stack_at;
	memcpy(to, &s, sizeof(s));
	memcpy(to + sizeof(s), words.p, words.len);
	if (copied)
		memcpy(to + sizeof(s) + words.len, r->sample.stack_user.p, (size_t)copied);
	return true;
}

static void
put_sample(struct unwinding *u, struct held *h, const struct perf_record *r)
{
	h->time_ns = r->sid.time;
	h->pid = r->sid.pid;
	h->asked_bytes = (uint32_t)r->sample.stack_user.len;
	if (!has_stack(r))
		return;
	if (!keep_stack(u, h, r)) {
		u->stops.stacks[UNWIND_BUSY]++;
		return;
	}
	h->state = HELD_WAITS;
	u->nr_waits++;
}

/* As it is recorded. False: it is of a shape that is not known, and has no place in a file. */
static bool
take_sample(struct unwinding *u, struct held *h, struct span record, struct buf *to)
{
	bool unknown;
	const struct event_attr *attr = attr_of(u, record, &unknown);
	struct perf_record r;

	if (unknown)
		return false;
	if (!attr) {
		buf_append(to, record.p, record.len);
		return true;
	}
	if (perf_record_parse(record, attr, &r) != 0 || sample_chain_put(&r, NULL, 0, to) != 0)
		return false;
	put_sample(u, h, &r);
	return true;
}

int
unwinding_put(struct unwinding *u, struct span *records, uint64_t *ret_left_out)
{
	struct span rest = *records, record;
	const uint64_t now_ns = host_now_ns();

	while (perf_record_next(&rest, &record) > 0) {
		struct held *h = unwind_hold_add(&u->hold);
		struct buf *to;
		bool taken;

		if (!h)
			return -ENOMEM;
		h->since_ns = now_ns;
		to = unwind_hold_bytes(&u->hold, h);
		taken = take_sample(u, h, record, to);
		if (!taken || buf_failed(to)) {
			const bool nomem = buf_failed(to);

			to->failed = false;
			to->len = h->at;
			u->nr_waits -= h->state == HELD_WAITS;
			unwind_hold_unadd(&u->hold);
			if (nomem)
				return -ENOMEM;
			++*ret_left_out;
		} else {
			unwind_hold_end_bytes(&u->hold, h);
		}
		*records = rest;
	}
	return 0;
}

/* --- what the process is given ----------------------------------------------------------- */

static bool
is_answered(const struct unwinding *u, const struct held *h)
{
	return h->state == HELD_GIVEN &&
		unwind_ring_taken(unwind_process_ring(u->process)) >= h->place;
}

/* It has the kernel's call chain. */
static void
set_busy(struct unwinding *u, struct held *h)
{
	u->nr_waits -= h->state == HELD_WAITS;
	u->nr_placed -= h->state == HELD_PLACED;
	if (h->state == HELD_PLACED)
		unwind_spaces_release(u->spaces, h->space);
	/* The answer to one that was given may still be written, so its memory stays in use until then. */
	if (h->state != HELD_GIVEN)
		h->place = 0;
	h->state = HELD_READY;
	u->stops.stacks[UNWIND_BUSY]++;
}

static void
begin_again(struct unwinding *u, uint32_t ended_over)
{
	struct held *h;

	for (size_t i = 0; (h = unwind_hold_at(&u->hold, i)); i++) {
		if (h->state != HELD_READY)
			set_busy(u, h);
		h->place = 0;
	}
	stack_memory_taken(&u->hold.stacks, UINT64_MAX);
	unwind_spaces_begin(u->spaces);
	u->knocked = 0;
	unwind_files_begin(u->files, ended_over);
}

/* Where a stack ended, or was not walked: is that since the kernel had freed it? */
static enum unwind_stop
freed_or(const struct unwinding *u, const struct held *h, enum unwind_stop stop)
{
	struct perf_record r;

	if (event_set_parse(u->events, unwind_hold_record(&u->hold, h), &r, NULL) == 0 &&
	    freed_stack(live_kallsyms(u->live), r.sample.callchain))
		return UNWIND_FREED;
	return stop;
}

/* The model stands at the time of the sample. */
static void
place(struct unwinding *u, struct held *h)
{
	int r = unwind_spaces_hold(u->spaces, h->pid, h->time_ns, &h->space, &h->place);

	u->nr_waits--;
	u->nr_placed += r > 0;
	h->state = r > 0 ? HELD_PLACED : HELD_READY;
	if (r > 0)
		return;
	h->place = 0;
	u->stops.stacks[r < 0 ? UNWIND_BUSY : freed_or(u, h, UNWIND_REFUSED)]++;
}

/* False: the ring is full. */
static bool
give_walk(struct unwinding *u, struct held *h)
{
	struct unwind_ring *ring = unwind_process_ring(u->process);
	struct unwind_walk *w = unwind_ring_reserve(ring, UNWIND_WALK, sizeof(*w));

	if (!w)
		return false;
	w->space = h->space;
	w->bytes = h->stack_bytes;
	w->at = h->stack_at;
	h->place = unwind_ring_publish(ring);
	h->state = HELD_GIVEN;
	u->nr_placed--;
	unwind_spaces_release(u->spaces, h->space);
	return true;
}

static bool
has_waited(const struct held *h, uint64_t now_ns, uint64_t ns)
{
	return now_ns > h->since_ns && now_ns - h->since_ns >= ns;
}

/* Those whose files are known, or have been waited for long enough. */
static void
give_placed(struct unwinding *u, uint64_t now_ns)
{
	const uint64_t answered = unwind_files_answered(u->files);
	size_t left = u->nr_placed;
	struct held *h;

	for (size_t i = 0; left > 0 && (h = unwind_hold_at(&u->hold, i)); i++) {
		if (h->state != HELD_PLACED)
			continue;
		left--;
		if (h->place > answered && !has_waited(h, now_ns, FILES_NS))
			continue;
		if (!give_walk(u, h))
			break;
	}
}

/* --- passes ------------------------------------------------------------------------------ */

static int
turn_cmp(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

void
unwinding_begin_pass(struct unwinding *u, uint64_t complete_ns)
{
	struct held *pass = unwind_hold_add(&u->hold), *h;

	/* Without it the file promises less. */
	if (pass)
		pass->time_ns = complete_ns;
	u->nr_turns = u->next_turn = 0;
	if (array_reserve(u->turns, 0, u->cap_turns, u->nr_waits + 1) < 0)
		return;
	for (size_t i = 0; u->nr_turns < u->nr_waits && (h = unwind_hold_at(&u->hold, i)); i++)
		if (h->state == HELD_WAITS)
			u->turns[u->nr_turns++] = (struct turn){ h->time_ns, i };
	if (u->nr_turns)
		qsort(u->turns, u->nr_turns, sizeof(*u->turns), turn_cmp);
}

void
unwinding_reach(struct unwinding *u, uint64_t time_ns)
{
	while (u->next_turn < u->nr_turns && u->turns[u->next_turn].time_ns < time_ns) {
		struct held *h = unwind_hold_at(&u->hold, u->turns[u->next_turn++].index);

		if (u->ready && h && h->state == HELD_WAITS)
			place(u, h);
	}
}

void
unwinding_end_pass(struct unwinding *u, uint64_t model_ns, uint64_t now_ns)
{
	unwinding_reach(u, model_ns);
	u->nr_turns = u->next_turn = 0;
	unwinding_step(u, now_ns);
}

bool
unwinding_behind(const struct unwinding *u)
{
	return u->nr_waits > 0;
}

void
unwinding_step(struct unwinding *u, uint64_t now_ns)
{
	uint32_t ended_over;
	bool again;

	if (unwind_files_full(u->files))
		unwind_process_restart(u->process, now_ns);
	u->ready = unwind_process_ready(u->process, now_ns, &again, &ended_over);
	if (again || !u->ready)
		begin_again(u, ended_over);
	if (!u->ready)
		return;
	stack_memory_taken(&u->hold.stacks, unwind_ring_taken(unwind_process_ring(u->process)));
	unwind_files_take(u->files, now_ns);
	if (u->nr_placed)
		give_placed(u, now_ns);
	if (unwind_process_ring(u->process)->head != u->knocked) {
		unwind_process_knock(u->process);
		u->knocked = unwind_process_ring(u->process)->head;
	}
}

int
unwinding_fd(const struct unwinding *u)
{
	return u->nr_placed ? unwind_files_fd(u->files) : -1;
}

/* --- samples that leave ------------------------------------------------------------------ */

/* early: the walk ended before the outermost frame. */
static void
append(struct unwinding *u, const struct held *h, size_t nr_frames, bool early, struct buf *out)
{
	const struct span record = unwind_hold_record(&u->hold, h);
	const struct event_attr *attr;
	struct perf_record r;
	bool unknown;
	size_t room;

	if (nr_frames && event_set_parse(u->events, record, &r, NULL) == 0) {
		attr = attr_of(u, record, &unknown);
		room = sample_chain_room(r.sample.callchain, attr ? attr->sample_max_stack : 0);
		if (early)
			nr_frames = sample_chain_go_on(r.sample.callchain, u->frames, nr_frames);
		if (sample_chain_put(&r, u->frames, nr_frames < room ? nr_frames : room, out) == 0)
			return;
	}
	buf_append(out, record.p, record.len);
}

/* In whose code the walk ended. The last address may be the one where none is mapped. */
static void
count_place(struct unwinding *u, const struct held *h, enum unwind_stop stop, size_t nr)
{
	const struct task_map *map = NULL;

	for (size_t i = 0; i < 2 && i < nr && !map; i++)
		map = task_model_map(live_model(u->live), h->pid, u->frames[nr - 1 - i]);
	if (map)
		unwind_stops_place(&u->stops, stop, map->object->path);
}

static void
append_answer(struct unwinding *u, const struct held *h, uint64_t now_ns, struct buf *out)
{
	const struct unwind_ring *ring = unwind_process_ring(u->process);
	const struct unwind_answer a =
		unwind_ring_answer(ring, h->stack_at, h->stack_bytes, u->frames, SAMPLE_CHAIN_MAX);
	enum unwind_stop stop;
	size_t nr = a.nr;

	/* The process forgot it: it is given with the next sample. */
	if (a.stop == UNWIND_NO_FILE)
		unwind_files_gone(u->files, a.used);
	if (a.stop == UNWIND_NO_SPACE || a.stop == UNWIND_NO_FILE)
		unwind_spaces_forgotten(u->spaces, h->space);
	/* What would be a marker of the kernel's is no address. */
	for (size_t i = 0; i < nr; i++)
		if (u->frames[i] >= (uint64_t)PERF_CONTEXT_MAX)
			nr = i;
	/* Without a frame there is nothing to replace. */
	stop = nr > 0 ? (enum unwind_stop)a.stop : UNWIND_BUSY;
	if (stop != UNWIND_END && stop != UNWIND_BUSY)
		stop = freed_or(u, h, stop);
	/* What was walked is the memory of another program, or of none. */
	if (stop == UNWIND_FREED)
		nr = 0;
	unwind_stops_count(&u->stops, stop, nr, h->asked_bytes);
	if (unwind_stop_has_place(stop))
		count_place(u, h, stop, nr);
	if (u->size && stop != UNWIND_BUSY && stop != UNWIND_FREED)
		stack_size_count(u->size, h->asked_bytes, a.used, stop == UNWIND_CUT, now_ns);
	append(u, h, nr, stop != UNWIND_END, out);
}

/* False: it waits. */
static bool
leave(struct unwinding *u, struct held *h, uint64_t now_ns, struct buf *out)
{
	if (is_answered(u, h)) {
		append_answer(u, h, now_ns, out);
		return true;
	}
	if (h->state != HELD_READY && !has_waited(h, now_ns, LATE_NS) &&
	    unwind_hold_has_room(&u->hold))
		return false;
	if (h->state != HELD_READY)
		set_busy(u, h);
	append(u, h, 0, false, out);
	return true;
}

bool
unwinding_next(struct unwinding *u, uint64_t now_ns, struct buf *out, uint64_t *ret_complete_ns)
{
	const size_t before = out->len;
	struct held *h;

	*ret_complete_ns = 0;
	while ((h = unwind_hold_at(&u->hold, 0)) && out->len - before < OUT_BYTES) {
		/* Room for any record: what fails here has taken nothing away. */
		if (!buf_reserve(out, UINT16_MAX + 1u))
			return true;
		if (!h->bytes) {
			*ret_complete_ns = h->time_ns;
			unwind_hold_pop(&u->hold);
			if (*ret_complete_ns)
				return true;
			continue;
		}
		if (!leave(u, h, now_ns, out))
			break;
		unwind_hold_pop(&u->hold);
	}
	return out->len > before;
}

/* Is there one that has no answer? */
static bool
any_waits(const struct unwinding *u)
{
	const struct held *h;

	for (size_t i = 0; (h = unwind_hold_at(&u->hold, i)); i++)
		if (h->state == HELD_PLACED || (h->state == HELD_GIVEN && !is_answered(u, h)))
			return true;
	return false;
}

void
unwinding_drain(struct unwinding *u, uint64_t until_ns, bool (*enough)(void *arg), void *arg)
{
	struct held *h;

	unwinding_step(u, host_now_ns());
	while (any_waits(u) && host_now_ns() < until_ns && !enough(arg)) {
		struct pollfd p = { .fd = unwinding_fd(u), .events = POLLIN };

		(void)poll(&p, 1, DRAIN_MS);
		unwinding_step(u, host_now_ns());
	}
	for (size_t i = 0; (h = unwind_hold_at(&u->hold, i)); i++)
		if (h->state != HELD_READY && !is_answered(u, h))
			set_busy(u, h);
}

void
unwinding_told(struct unwinding *u)
{
	u->stops.cut_bytes = 0;
}

const struct unwind_stops *
unwinding_stops(const struct unwinding *u)
{
	return &u->stops;
}

uint64_t
unwinding_used_ns(const struct unwinding *u)
{
	return unwind_process_used_ns(u->process);
}

bool
unwinding_news(struct unwinding *u, struct news_line *ret)
{
	return unwind_process_news(u->process, ret);
}
