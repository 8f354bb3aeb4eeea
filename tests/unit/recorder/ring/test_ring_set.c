/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pass over rings that we play the kernel of. */
#include "recorder/ring/ring_set.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

#include "format/block/loss.h"
#include "format/bytes/buf.h"
#include "format/record/perf_record.h"
#include "recorder/event/sample_bound.h"
#include "recorder/ground/message.h"
#include "recorder/ring/ring_set_internal.h"
#include "tests/lab/need_root.h"

#define RING (2u * QUEUE_BYTES_MIN)
#define RECORD 64u
#define NOW UINT64_C(1000000000000)
#define SECOND UINT64_C(1000000000)
#define READ_FORMAT                                                                                \
	(PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

struct rig {
	struct perf_event_mmap_page page;
	uint8_t *data;
	struct cpu_rings cpu;
	struct ring_set set;
	struct queue *q;
};

static void
rig_begin(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->data = calloc(1, RING);
	assert_non_null(r->data);
	for (size_t at = 0; at < RING; at += RECORD) {
		le32enc(r->data + at, PERF_RECORD_SAMPLE);
		le16enc(r->data + at + 6, RECORD);
	}
	ring_init(&r->cpu.samples, &r->page, r->data, RING);
	r->set = (struct ring_set){ .cpus = &r->cpu, .nr = 1, .last_pass_ns = NOW };
	assert_int_equal(queue_new(QUEUE_BYTES_MIN, &r->q), 0);
}

static void
rig_end(struct rig *r)
{
	queue_free(r->q);
	free(r->data);
}

static void *
wait_once(void *arg)
{
	queue_wait(arg, -1);
	return NULL;
}

/* Takes all messages; bytes of records. */
static uint64_t
take_all(struct queue *q)
{
	struct queue_message m;
	uint64_t bytes = 0;

	for (; queue_peek(q, &m); queue_next(q))
		bytes += m.bytes >= RECORD ? m.bytes : 0;
	return bytes;
}

/*
 * More than the queue has room for, with the writer asleep: what went into the queue is counted,
 * and it wakes the writer, who alone can make room for the rest.
 */
static void
test_queue_full_in_the_middle(void **state)
{
	struct timespec soon;
	pthread_t writer;
	struct rig r;
	uint64_t got;

	rig_begin(&r);
	assert_int_equal(pthread_create(&writer, NULL, wait_once, r.q), 0);
	/* Asleep, or about to be: a wake-up for what is there does not get lost in either case. */
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	__atomic_store_n(&r.page.data_head, RING, __ATOMIC_RELEASE);
	assert_false(ring_set_pass(&r.set, r.q, NOW + 1, false));
	assert_int_equal(r.cpu.queue_full, 1);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 5;
	assert_int_equal(pthread_timedjoin_np(writer, NULL, &soon), 0);
	got = take_all(r.q);
	assert_uint_in_range(got, RING / 4, RING - RECORD);
	assert_int_equal(r.set.fullest, got);
	assert_int_equal(r.page.data_tail, got);
	while (!ring_set_pass(&r.set, r.q, NOW + 2, false))
		got += take_all(r.q);
	got += take_all(r.q);
	assert_int_equal(got, RING);
	rig_end(&r);
}

/* Nothing came: the writer is left alone until it is time to tell it so. */
static void
test_nothing_came(void **state)
{
	struct queue_message m;
	struct rig r;

	rig_begin(&r);
	assert_true(ring_set_pass(&r.set, r.q, NOW + 1, false));
	assert_false(queue_peek(r.q, &m));
	assert_int_equal(r.set.fullest, 0);
	assert_true(ring_set_pass(&r.set, r.q, NOW + 1, true));
	assert_true(queue_peek(r.q, &m));
	rig_end(&r);
}

/* What a dump finds in the ring that a CPU left is that CPU's loss, whether it is back or not. */
static void
test_corrupt_in_a_ring_that_was_left(void **state)
{
	struct ring_set_account account = { .before.corrupt = 5 };
	struct cpu_rings left = { .cpu = 3, .corrupt = 7 };
	const struct target target = { 0 };
	struct queue_message m;
	bool resync = false;
	struct rig r;

	rig_begin(&r);
	r.cpu.cpu = 3;
	r.cpu.corrupt = 100;
	r.set.each.target = &target;
	r.set.accounts = &account;
	r.set.left = &left;
	r.set.nr_left = 1;
	for (int i = 0; i < 2; i++) {
		assert_true(ring_set_losses(&r.set, r.q, NOW, &resync));
		assert_int_equal(queue_peek(r.q, &m), i == 0);
		if (i > 0)
			break;
		assert_int_equal(m.kind, MESSAGE_LOSS);
		assert_int_equal(m.a, UINT64_C(3) << 32 | LOSS_CORRUPT);
		assert_int_equal(m.b, 112);
		queue_next(r.q);
	}
	rig_end(&r);
}

/* --- a real event, of this process ------------------------------------------------------ */

#define MANY_PAGES (1u << 20) /* more than any quota has */

struct live {
	struct event_def defs[3];
	struct event_plan plan;
	struct target target;
	struct ring_set set;
	struct queue *q;
	pid_t self;
};

/* The clock, with a group the faults beside it, and the side-band event. */
static void
live_plan(struct live *l, bool group)
{
	size_t nr = group ? 3 : 2;

	*l = (struct live){ .plan = { .defs = l->defs, .nr = nr, .sideband = nr - 1 },
			    .target = { .tasks = &l->self, .nr_tasks = 1 } };
	for (size_t i = 0; i < nr; i++)
		l->defs[i].attr = (struct perf_event_attr){ .size = sizeof(l->defs[i].attr),
							    .type = PERF_TYPE_SOFTWARE,
							    .config = PERF_COUNT_SW_DUMMY,
							    .disabled = 1,
							    .exclude_kernel = 1,
							    .sample_type = PERF_SAMPLE_IP,
							    .read_format = READ_FORMAT };
	l->defs[0].attr.config = PERF_COUNT_SW_CPU_CLOCK;
	l->defs[0].attr.sample_period = 200000;
	l->defs[nr - 1].sideband = true;
	if (!group)
		return;
	l->defs[0].attr.read_format |= PERF_FORMAT_GROUP;
	l->defs[1].attr.read_format |= PERF_FORMAT_GROUP;
	l->defs[1].attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	l->defs[1].attr.disabled = 0;
	l->defs[1].member_of = 1;
}

/* Rings of 8 pages, or, overwritten, as large ones as there may be. False: no events here. */
static bool
live_begin_as(struct live *l, bool group, bool overwrite)
{
	struct cpu_rings_options o = { .plan = &l->plan,
				       .target = &l->target,
				       .pages = overwrite ? MANY_PAGES : 8,
				       .sideband_pages = 1,
				       .overwrite = overwrite };
	struct session_error error = { 0 };
	int cpu = sched_getcpu(), r;
	struct buf notes;
	char list[16];
	cpu_set_t cpus;

	live_plan(l, group);
	l->defs[0].attr.write_backward = overwrite;
	snprintf(list, sizeof(list), "%d", cpu);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	assert_int_equal(cpu_list_parse(list, &l->target.online), 0);
	assert_int_equal(cpu_list_parse(list, &l->target.sampled), 0);
	buf_init(&notes);
	r = ring_set_open(&l->set, &o, &notes, &error);
	buf_done(&notes);
	if (r < 0) {
		print_message("# %s\n", error.text);
		return false;
	}
	assert_int_equal(queue_new(QUEUE_BYTES_MIN, &l->q), 0);
	return true;
}

static bool
live_begin(struct live *l, bool group)
{
	return live_begin_as(l, group, false);
}

static void
live_end(struct live *l)
{
	ring_set_close(&l->set);
	cpu_list_done(&l->target.online);
	cpu_list_done(&l->target.sampled);
	queue_free(l->q);
}

/* Records that 20 ms of work make. */
static uint64_t
work(struct live *l)
{
	clock_t until = clock() + CLOCKS_PER_SEC / 50;
	volatile unsigned sink = 0;

	while (clock() < until)
		for (unsigned i = 0; i < 10000; i++)
			sink = sink * 1103515245u + i;
	assert_true(ring_set_pass(&l->set, l->q, NOW, false));
	return take_all(l->q);
}

/* An event that is renewed in a pause pauses as well, and goes on with the others. */
static void
test_renewed_in_a_pause(void **state)
{
	struct live l;

	(void)state;
	if (!live_begin(&l, false))
		skip();
	ring_set_control(&l.set, false, PERF_EVENT_IOC_ENABLE);
	assert_true(work(&l) > 0);
	ring_set_bound(&l.set, l.q, 1, NOW);
	assert_int_equal(work(&l), 0);
	l.defs[0].attr.sample_period = 100000;
	assert_int_equal(ring_set_renew(&l.set, 0, l.q, NULL, NOW), 0);
	take_all(l.q);
	assert_int_equal(work(&l), 0);
	ring_set_bound(&l.set, l.q, SAMPLE_SHARE_ALL, NOW + SECOND);
	assert_true(work(&l) > 0);
	live_end(&l);
}

/* --- a group ------------------------------------------------------------------------------ */

#define PAGES 512

/* As many faults. */
static void
touch_pages(void)
{
	char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	assert_true(p != MAP_FAILED);
	madvise(p, PAGES * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)p)[i * 4096] = 1;
	munmap(p, PAGES * 4096);
}

static uint64_t
count_at(const struct live *l, size_t i)
{
	const struct open_event *e = &l->set.cpus[0].events[i];
	struct event_count n;

	assert_int_equal(event_count_read(e, &l->defs[e->def], &n), 0);
	return n.value;
}

static struct event_set *
shapes_of(const struct live *l)
{
	struct event_set *set = event_set_new();

	assert_non_null(set);
	for (size_t i = 0; i < l->plan.nr; i++)
		assert_int_equal(event_set_add(set, span_of(&l->defs[i].attr, l->defs[i].attr.size),
					       "e", NULL),
				 0);
	return set;
}

/* The last READ of an id among records: its value. */
static uint64_t
value_of(const struct buf *records, const struct event_set *shapes, uint64_t id)
{
	struct span rest = buf_span(records), record;
	struct perf_record r;
	uint64_t value = UINT64_MAX;

	while (perf_record_next(&rest, &record) > 0) {
		assert_int_equal(perf_record_parse(record, &event_set_at(shapes, 0)->attr, &r), 0);
		assert_int_equal(r.type, REC_READ);
		for (uint64_t i = 0; i < r.read.read.nr; i++)
			if (perf_read_at(&r.read.read, i).id == id)
				value = perf_read_at(&r.read.read, i).value;
	}
	return value;
}

static void
take_records(struct queue *q, struct buf *ret)
{
	struct queue_message m;

	for (; queue_peek(q, &m); queue_next(q))
		if (m.kind == MESSAGE_RECORDS)
			buf_append(ret, m.p, m.bytes);
}

/* Members are on and off with their leader, are read with it, and are opened anew with it. */
static void
test_group(void **state)
{
	struct event_set *shapes;
	struct open_event was;
	struct buf records;
	uint64_t before;
	struct live l;

	(void)state;
	if (!live_begin(&l, true))
		skip();
	shapes = shapes_of(&l);
	assert_int_equal(l.set.cpus[0].nr, 3);
	touch_pages();
	assert_int_equal(count_at(&l, 2), 0);
	ring_set_control(&l.set, false, PERF_EVENT_IOC_ENABLE);
	touch_pages();
	ring_set_control(&l.set, false, PERF_EVENT_IOC_DISABLE);
	before = count_at(&l, 2);
	assert_uint_in_range(before, PAGES, 2 * PAGES);
	assert_true(count_at(&l, 1) > 0);
	touch_pages();
	assert_int_equal(count_at(&l, 2), before);
	/* One read has both. */
	buf_init(&records);
	assert_int_equal(ring_set_reads(&l.set, shapes, NOW, RING_SET_LAST, &records), 0);
	was = l.set.cpus[0].events[2];
	assert_int_equal(value_of(&records, shapes, was.id), before);
	assert_int_equal(value_of(&records, shapes, l.set.cpus[0].events[1].id), count_at(&l, 1));
	assert_int_equal(le16dec(records.p + 6), records.len);
	/* Opened anew: the old ones have told their last, and the leader waits with its ring. */
	buf_clear(&records);
	assert_true(ring_set_pass(&l.set, l.q, NOW, false));
	take_all(l.q);
	assert_int_equal(ring_set_renew(&l.set, 0, l.q, shapes, NOW), 0);
	take_records(l.q, &records);
	assert_int_equal(value_of(&records, shapes, was.id), before);
	assert_int_equal(l.set.cpus[0].nr, 4);
	assert_true(l.set.cpus[0].events[1].retired);
	assert_int_equal(l.set.cpus[0].events[2].def, 0);
	assert_int_equal(l.set.cpus[0].events[3].def, 1);
	assert_true(l.set.cpus[0].events[3].id != was.id);
	touch_pages();
	assert_uint_in_range(count_at(&l, 3), PAGES, 2 * PAGES);
	assert_true(work(&l) > 0);
	ring_set_control(&l.set, false, PERF_EVENT_IOC_DISABLE);
	buf_clear(&records);
	assert_int_equal(ring_set_reads(&l.set, shapes, NOW, RING_SET_LAST, &records), 0);
	assert_int_equal(value_of(&records, shapes, l.set.cpus[0].events[3].id), count_at(&l, 3));
	/* And once more, of those that have no ring: none of them stays. */
	assert_int_equal(ring_set_renew(&l.set, 0, l.q, shapes, NOW), 0);
	assert_int_equal(l.set.cpus[0].nr, 4);
	buf_done(&records);
	event_set_free(shapes);
	live_end(&l);
}

/* --- a CPU that goes --------------------------------------------------------------------- */

/* More than a message, and all together more than the queue, has room for. */
#define MANY 8000u

/* All of them are one event, and say what that says. */
static void
many_events(struct cpu_rings *c)
{
	struct open_event *more = calloc(MANY, sizeof(*more));

	assert_non_null(more);
	for (size_t i = 0; i < MANY; i++) {
		more[i] = c->events[1];
		more[i].id = i + 1;
	}
	close(c->events[0].fd); /* the one of side-band */
	free(c->events);
	c->events = more;
	c->nr = MANY;
}

static void
test_many_events_go(void **state)
{
	uint64_t reads = 0, ids = 0, full = 0;
	struct event_set *shapes;
	struct queue_message m;
	struct live l;
	bool gone;

	(void)state;
	if (!live_begin(&l, false))
		skip();
	l.defs[0].attr.sample_id_all = 1;
	shapes = shapes_of(&l);
	many_events(&l.set.cpus[0]);
	do {
		gone = ring_set_cpu_gone(&l.set, 0, l.q, shapes);
		full += !gone;
		for (; queue_peek(l.q, &m); queue_next(l.q)) {
			reads += m.kind == MESSAGE_RECORDS;
			ids += m.kind == MESSAGE_IDS ? m.bytes / sizeof(struct message_id) : 0;
		}
	} while (!gone && full < 100);
	assert_true(gone);
	assert_int_equal(reads, MANY);
	assert_int_equal(ids, MANY);
	assert_int_equal(l.set.cpus[0].nr, 0);
	event_set_free(shapes);
	live_end(&l);
}

/* --- the mlock quota ---------------------------------------------------------------------- */

#define NOBODY 54321

/* Without CAP_IPC_LOCK, as a user whom nobody else records as; it is taken back. */
static void
be_nobody(bool be)
{
	struct rlimit memlock;

	assert_int_equal(be ? setresuid(NOBODY, NOBODY, 0) : setresuid(0, 0, 0), 0);
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &memlock), 0);
	memlock.rlim_cur = be ? 0 : memlock.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &memlock), 0);
}

/* What a CPU left takes no room from the one that it comes back with. */
static void
test_a_ring_that_was_left_is_over_the_quota(void **state)
{
	const struct cpu_rings *came = NULL;
	struct session_error error = { 0 };
	struct event_set *shapes;
	struct live l;
	int r;

	(void)state;
	need_root("can be another user");
	be_nobody(true);
	if (!live_begin_as(&l, false, true) || l.set.each.pages == MANY_PAGES) {
		be_nobody(false);
		skip();
	}
	l.defs[0].attr.sample_id_all = 1;
	shapes = shapes_of(&l);
	assert_true(ring_set_cpu_gone(&l.set, 0, l.q, shapes));
	assert_int_equal(l.set.nr_left, 1);
	take_all(l.q);
	r = ring_set_cpu_came(&l.set, l.set.cpus[0].cpu, l.q, shapes, &came, &error);
	be_nobody(false);
	if (r < 0)
		print_message("# %s\n", error.text);
	assert_int_equal(r, 0);
	assert_int_equal(l.set.nr_left, 0);
	assert_int_equal(came->nr, 2);
	assert_true(came->samples.size > 0);
	event_set_free(shapes);
	live_end(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_full_in_the_middle),
		cmocka_unit_test(test_nothing_came),
		cmocka_unit_test(test_corrupt_in_a_ring_that_was_left),
		cmocka_unit_test(test_renewed_in_a_pause),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_many_events_go),
		cmocka_unit_test(test_a_ring_that_was_left_is_over_the_quota),
	};

	return cmocka_run_group_tests_name("ring_set", tests, NULL, NULL);
}
