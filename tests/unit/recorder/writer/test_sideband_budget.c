/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who pays when the side-band is too much, and who never does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "recorder/host/task_users.h"
#include "recorder/writer/sideband_budget.h"

#define SECOND UINT64_C(1000000000)
#define RATE 600000 /* bytes a second: half of 4 GiB an hour */
#define BURST ((uint64_t)RATE * SIDEBAND_BURST_S)
#define START (100 * SECOND)

/* What one user was given, and not. */
struct given {
	uint64_t bytes, records, refused;
};

static struct perf_record
map_of(uint64_t n, size_t length)
{
	static char path[4096];

	memset(path, 'x', sizeof(path) - 1);
	path[length] = '\0';
	(void)snprintf(path, 24, "/%020llu", (unsigned long long)n);
	path[21] = 'x';
	return (struct perf_record){ .type = REC_MMAP2, .mmap = { .filename = path } };
}

static bool
offer(struct sideband_budget *b, uint64_t now_ns, uint32_t uid, const struct perf_record *r,
      struct given *g)
{
	const struct sideband_cost cost = sideband_budget_cost(b, r);
	bool asks = sideband_budget_asks(b, now_ns);
	bool taken = sideband_budget_take(b, &cost, asks ? uid : TASK_USER_UNKNOWN);

	g->records += taken;
	g->refused += !taken;
	g->bytes += taken ? cost.bytes : 0;
	return taken;
}

/* A second of new paths: so many, of 3.8 KB each. */
static void
flood(struct sideband_budget *b, uint64_t now_ns, uint32_t uid, unsigned int n, struct given *g)
{
	static uint64_t path;

	for (unsigned int i = 0; i < n; i++) {
		const struct perf_record r = map_of(++path, 3800);

		offer(b, now_ns + i * SECOND / n, uid, &r, g);
	}
}

/* A build: a hundred processes a second, each with its few libraries. */
static void
build(struct sideband_budget *b, uint64_t now_ns, uint32_t uid, struct given *g)
{
	const struct perf_record fork = { .type = REC_FORK,
					  .task = { .pid = 2, .ppid = 1, .tid = 2 } };
	const struct perf_record exit = { .type = REC_EXIT, .task = { .pid = 2, .tid = 2 } };
	const struct perf_record exec = { .type = REC_COMM,
					  .misc = TASK_MISC_COMM_EXEC,
					  .comm = { .comm = "cc1" } };

	for (unsigned int i = 0; i < 100; i++) {
		offer(b, now_ns + i * SECOND / 100, uid, &fork, g);
		offer(b, now_ns + i * SECOND / 100, uid, &exec, g);
		for (unsigned int lib = 0; lib < 8; lib++) {
			const struct perf_record r = map_of(lib, 60);

			offer(b, now_ns + i * SECOND / 100, uid, &r, g);
		}
		offer(b, now_ns + i * SECOND / 100, uid, &exit, g);
	}
}

static void
test_ordinary_load_is_not_asked(void **state)
{
	static struct sideband_budget b;
	struct given g = { 0 };

	sideband_budget_init(&b, RATE);
	for (uint64_t s = 0; s < 3600; s++) {
		build(&b, START + s * SECOND, 1000, &g);
		if (s % 5 == 0)
			sideband_budget_block(&b);
		assert_false(b.asking);
	}
	assert_int_equal(g.refused, 0);
	assert_true(g.bytes < 3600 * (uint64_t)RATE);
	sideband_budget_done(&b);
}

static void
test_no_limit(void **state)
{
	static struct sideband_budget b;
	struct given g = { 0 };

	sideband_budget_init(&b, 0);
	for (uint64_t s = 0; s < 10; s++)
		flood(&b, START + s * SECOND, 1000, 10000, &g);
	assert_false(b.asking);
	assert_int_equal(g.refused, 0);
	sideband_budget_done(&b);
}

/* One user floods for an hour. The others, and root, do not notice. */
static void
test_one_floods(void **state)
{
	static struct sideband_budget b;
	struct given bad = { 0 }, good = { 0 }, root = { 0 };
	uint64_t bytes = 0;

	sideband_budget_init(&b, RATE);
	for (uint64_t s = 0; s < 3600; s++) {
		flood(&b, START + s * SECOND, 666, 500, &bad);
		build(&b, START + s * SECOND, 1000, &good);
		build(&b, START + s * SECOND, 0, &root);
		if (s % 5 == 0)
			sideband_budget_block(&b);
		if (s == 600)
			bytes = bad.bytes;
	}
	assert_int_equal(good.refused, 0);
	assert_int_equal(root.refused, 0);
	assert_true(bad.refused > 1000000);
	/* The burst, half of the rate, and what filled it while nobody was asked. */
	assert_true(bad.bytes <= BURST / 8 * 9 + 3600 * (uint64_t)RATE / 2);
	assert_true(bad.bytes - bytes <= 3000 * (uint64_t)RATE / 2 + BURST / 20);
	assert_true(bad.bytes - bytes >= 3000 * (uint64_t)RATE / 2 - BURST / 20);
	sideband_budget_done(&b);
}

/* Many at once: together they get no more than there is, and nobody else is left out. */
static void
test_many_flood(void **state)
{
	static struct sideband_budget b;
	struct given bad = { 0 }, good = { 0 }, root = { 0 };

	sideband_budget_init(&b, RATE);
	for (uint64_t s = 0; s < 900; s++) {
		for (uint32_t uid = 100; uid < 120; uid++)
			flood(&b, START + s * SECOND, uid, 50, &bad);
		/* One who comes late. */
		if (s >= 450) {
			build(&b, START + s * SECOND, 1000, &good);
			build(&b, START + s * SECOND, 0, &root);
		}
		if (s % 5 == 0)
			sideband_budget_block(&b);
	}
	assert_int_equal(root.refused, 0);
	assert_int_equal(good.refused, 0);
	assert_true(bad.bytes + good.bytes + root.bytes <= BURST + 900 * (uint64_t)RATE);
	assert_true(bad.refused > 0);
	sideband_budget_done(&b);
}

/* More users than have a bucket; and it is over when they are quiet. */
static void
test_more_users_than_buckets(void **state)
{
	static struct sideband_budget b;
	struct given bad = { 0 }, good = { 0 };
	uint64_t s;

	sideband_budget_init(&b, RATE);
	for (s = 0; s < 300; s++)
		for (uint32_t uid = 100; uid < 400; uid++)
			flood(&b, START + s * SECOND, uid, 2, &bad);
	assert_true(bad.bytes <= BURST + 300 * (uint64_t)RATE);
	assert_true(b.asking);
	for (; s < 300 + 2 * SIDEBAND_BURST_S; s++)
		build(&b, START + s * SECOND, 1000, &good);
	assert_false(b.asking);
	sideband_budget_done(&b);
}

static struct perf_record
task_record(uint32_t type, uint32_t pid, uint32_t tid, uint32_t ppid)
{
	return (struct perf_record){ .type = type,
				     .task = { .pid = pid, .tid = tid, .ppid = ppid } };
}

/* What was executed, and who ended that was told of, whatever else is left out. */
static void
test_what_is_never_left_out(void **state)
{
	static struct sideband_budget b;
	struct given bad = { 0 }, tasks = { 0 };
	const struct perf_record exit = task_record(REC_EXIT, 2, 2, 1);
	const struct perf_record rename = { .type = REC_COMM, .comm = { .comm = "a" } };
	const struct perf_record exec = { .type = REC_COMM,
					  .misc = TASK_MISC_COMM_EXEC,
					  .comm = { .pid = 2, .tid = 2, .comm = "a" } };

	sideband_budget_init(&b, RATE);
	flood(&b, START, 666, 100000, &bad);
	assert_true(bad.refused > 0);
	for (uint64_t i = 0; i < 3000000; i++)
		assert_true(offer(&b, START + SECOND, 666, i % 2 ? &exit : &exec, &tasks));
	assert_false(offer(&b, START + SECOND, 666, &rename, &tasks));
	sideband_budget_done(&b);
}

/* In a container it is anybody. */
static void
test_root(void **state)
{
	static struct sideband_budget b;
	struct given root = { 0 }, other = { 0 };
	const struct perf_record fork = task_record(REC_FORK, 2, 2, 1);
	const struct perf_record exit = task_record(REC_EXIT, 2, 2, 1);
	const struct perf_record map = map_of(1, 60);

	sideband_budget_init(&b, RATE);
	while (offer(&b, START, 0, &fork, &root) && root.records < 100000000)
		assert_true(offer(&b, START, 0, &exit, &root));
	assert_in_range(root.bytes, BURST, BURST + 100);
	assert_in_range(b.level, BURST / 8, BURST / 8 + 100);
	assert_true(offer(&b, START, 1000, &map, &other));
	assert_true(offer(&b, START, 1000, &fork, &other));
	assert_true(offer(&b, START, 0, &map, &root));
	sideband_budget_done(&b);
}

/* Are the FORK and then the EXIT of this task written? */
static void
offer_task(struct sideband_budget *b, uint32_t pid, uint32_t tid, uint32_t ppid, bool expected)
{
	const struct perf_record fork = task_record(REC_FORK, pid, tid, ppid);
	const struct perf_record exit = task_record(REC_EXIT, pid, tid, pid);
	struct given g = { 0 };

	assert_int_equal(offer(b, START + SECOND, 666, &fork, &g), expected);
	assert_int_equal(offer(b, START + SECOND, 666, &exit, &g), expected);
}

/* A task that was not told of ends unheard; one that was, by whatever record, never does. */
static void
test_tasks(void **state)
{
	static struct sideband_budget b;
	const struct perf_record fork = task_record(REC_FORK, 2, 3, 2);
	const struct perf_record exit = task_record(REC_EXIT, 2, 3, 2);
	const struct perf_record name = { .type = REC_COMM,
					  .comm = { .pid = 2, .tid = 3, .comm = "worker" } };
	const struct perf_record process = task_record(REC_FORK, 4, 4, 2);
	const struct perf_record exec = { .type = REC_COMM,
					  .misc = TASK_MISC_COMM_EXEC,
					  .comm = { .pid = 4, .tid = 4, .comm = "a" } };
	const struct perf_record ended = task_record(REC_EXIT, 4, 4, 2);
	struct given g = { 0 };
	uint64_t later = START + 4 * SIDEBAND_BURST_S * SECOND;

	sideband_budget_init(&b, RATE);
	assert_true(offer(&b, START, 666, &fork, &g));
	flood(&b, START, 666, 100000, &g);
	assert_true(offer(&b, START + SECOND, 666, &exit, &g));
	for (uint32_t tid = 4; tid < 100000; tid++)
		offer_task(&b, tid % 2 ? 2 : tid, tid, 2, false);
	/* It executes, and with that its end is told; its beginning, too, if that comes late. */
	assert_false(offer(&b, START + SECOND, 666, &process, &g));
	assert_true(offer(&b, START + SECOND, 666, &exec, &g));
	assert_true(offer(&b, START + SECOND, 666, &process, &g));
	assert_true(offer(&b, START + SECOND, 666, &ended, &g));
	assert_false(offer(&b, START + SECOND, 666, &ended, &g));
	/* A scan has told of it. */
	sideband_budget_told(&b, 4, true);
	assert_true(offer(&b, START + SECOND, 666, &ended, &g));
	assert_false(offer(&b, START + SECOND, 666, &ended, &g));
	assert_false(offer(&b, START + SECOND, 666, &process, &g));
	/* What cannot be remembered: Linux gives out no such tid. */
	offer_task(&b, 2, SIDEBAND_TIDS, 2, true);
	/* With time there is room for a thread's name, and so for its end. */
	assert_false(offer(&b, START + SECOND, 666, &fork, &g));
	assert_true(offer(&b, later, 666, &name, &g));
	flood(&b, later, 666, 100000, &g);
	assert_true(offer(&b, later + SECOND, 666, &exit, &g));
	sideband_budget_done(&b);
}

#define STORM_PASS 5000 /* processes in a tenth of a second */

/* The EXITs of a pass, or its FORKs: what of them is written. */
static void
storm_pass(struct sideband_budget *b, uint64_t pass, uint32_t type, bool written[STORM_PASS],
	   struct given *g)
{
	for (uint32_t i = 0; i < STORM_PASS; i++) {
		const uint32_t pid = (uint32_t)(1000 + (pass * STORM_PASS + i) % 30000);
		const struct perf_record r = task_record(type, pid, pid, 2);
		const struct perf_record spaces = { .type = REC_NAMESPACES,
						    .namespaces = { .pid = pid, .tid = pid } };
		uint64_t now_ns = START + pass * SECOND / 10 + i * SECOND / 10 / STORM_PASS;

		written[i] = offer(b, now_ns, 666, &r, g);
		if (type == REC_FORK)
			offer(b, now_ns, 666, &spaces, g);
	}
}

/*
 * A storm of short processes whose ends are read a pass before their beginnings, as they come out of
 * two rings: what is written is the user's share, and nobody begins whose end was left out.
 */
static void
test_storm_of_processes(void **state)
{
	static struct sideband_budget b;
	static bool ended[2][STORM_PASS], began[STORM_PASS];
	struct given bad = { 0 }, good = { 0 };
	uint64_t undead = 0, bytes = 0;

	sideband_budget_init(&b, RATE);
	for (uint64_t pass = 1; pass < 9000; pass++) {
		if (pass == 4500)
			bytes = bad.bytes;
		storm_pass(&b, pass, REC_EXIT, ended[pass % 2], &bad);
		storm_pass(&b, pass - 1, REC_FORK, began, &bad);
		for (uint32_t i = 0; i < STORM_PASS && pass > 1; i++)
			undead += began[i] && !ended[(pass - 1) % 2][i];
		if (pass % 10 == 0)
			build(&b, START + pass / 10 * SECOND, 1000, &good);
		if (pass % 50 == 0)
			sideband_budget_block(&b);
	}
	assert_int_equal(good.refused, 0);
	/*
	 * While nobody was asked it took what is above half of the bucket. Its own is not as empty at
	 * one end of a time as at the other: how full depends on the key of the hash of paths.
	 */
	assert_in_range(bad.bytes - bytes, 1, 450 * (uint64_t)RATE / 2 + BURST / 10);
	assert_int_equal(undead, 0);
	sideband_budget_done(&b);
}

/* A path is paid for once in a block, and not by one that was left out. */
static void
test_paths_of_a_block(void **state)
{
	static struct sideband_budget b;
	const struct perf_record r = map_of(1, 3800);
	struct sideband_cost first, again;

	sideband_budget_init(&b, RATE);
	first = sideband_budget_cost(&b, &r);
	assert_in_range(first.bytes, 3800, 3900);
	assert_int_equal(sideband_budget_cost(&b, &r).bytes, first.bytes);
	assert_true(sideband_budget_take(&b, &first, 0));
	again = sideband_budget_cost(&b, &r);
	assert_in_range(again.bytes, 1, 100);
	sideband_budget_block(&b);
	assert_int_equal(sideband_budget_cost(&b, &r).bytes, first.bytes);
	sideband_budget_done(&b);
}

/* Two paths with one CRC32C, as anybody can make them, are two. */
static void
test_no_path_passes_for_another(void **state)
{
	static struct sideband_budget b;
	struct sideband_cost first, other;
	struct perf_record r;

	sideband_budget_init(&b, RATE);
	r = map_of(794891356550, 3800);
	first = sideband_budget_cost(&b, &r);
	assert_true(sideband_budget_take(&b, &first, 0));
	r = map_of(255990120062, 3800);
	other = sideband_budget_cost(&b, &r);
	assert_int_equal(other.bytes, first.bytes);
	sideband_budget_done(&b);
}

static void
test_another_rate(void **state)
{
	static struct sideband_budget b;
	struct given bad = { 0 };

	sideband_budget_init(&b, 0);
	sideband_budget_rate(&b, RATE);
	assert_true(b.level > (double)BURST * 0.99);
	flood(&b, START, 666, 100000, &bad);
	assert_true(b.level < (double)BURST / 2);
	sideband_budget_rate(&b, RATE / 4);
	assert_true(b.level < (double)BURST / 8);
	sideband_budget_rate(&b, 0);
	assert_false(sideband_budget_asks(&b, START));
	sideband_budget_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ordinary_load_is_not_asked),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_one_floods),
		cmocka_unit_test(test_many_flood),
		cmocka_unit_test(test_more_users_than_buckets),
		cmocka_unit_test(test_what_is_never_left_out),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_storm_of_processes),
		cmocka_unit_test(test_paths_of_a_block),
		cmocka_unit_test(test_no_path_passes_for_another),
		cmocka_unit_test(test_another_rate),
	};

	return cmocka_run_group_tests_name("sideband_budget", tests, NULL, NULL);
}
