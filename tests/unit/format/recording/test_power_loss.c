/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power fails. All that a writer asked of its file is remembered, and replayed up to
 * every call; of what came after the last sync any sector may be there or not, in any of the
 * states it went through, or be what stood on the disk before; and the size of the file may be
 * any that it had. All that was there when sync said so is read, and nothing that was not
 * written. REPLAYS is how many times from each call on.
 */
#include "tests/lab/numbered.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CAP (256u << 10)

static struct numbered_script script = {
	.passes = 60,
	.per_pass = 8,
	.block_bytes = 1500,
	.index_every = 5,
	.sync_every = 9,
	.small_every = 4,
	.retries = 20,
};

/* What a disk may hold. */
struct disk {
	uint8_t *durable, *cache; /* CAP each; what is behind the size is 0 */
	uint64_t durable_size, size;
	uint8_t *image;
	struct fault_file other; /* another recording: what freed sectors hold */
	uint64_t seed;
	uint64_t replays;
};

static struct disk disk = { .seed = 99 };

static int
setup(void **state)
{
	struct numbered_progress p;
	struct recording_meta *meta = numbered_meta(2);

	disk.durable = calloc(1, CAP);
	disk.cache = calloc(1, CAP);
	disk.image = calloc(1, CAP);
	assert_true(disk.durable && disk.cache && disk.image);
	fault_file_init(&disk.other, CAP);
	assert_int_equal(numbered_write(fault_sink(&disk.other), meta, &script, &p), 0);
	recording_meta_free(meta);
	return 0;
}

static int
teardown(void **state)
{
	free(disk.durable);
	free(disk.cache);
	free(disk.image);
	fault_file_done(&disk.other);
	return 0;
}

static void
apply(const struct fault_file *f, const struct fault_event *e)
{
	if (e->op == FAULT_WRITE) {
		memcpy(disk.cache + e->offset, f->bytes + e->bytes, e->n);
		if (e->offset + e->n > disk.size)
			disk.size = e->offset + e->n;
	} else if (e->op == FAULT_CUT && !e->error) {
		memset(disk.cache + e->offset, 0, CAP - e->offset);
		disk.size = e->offset;
	}
}

/*
 * The volatile sectors: each as it is on the disk, or as it was after one of the calls since;
 * or garbage, where the file did not reach before.
 */
static uint64_t
make_image(const struct fault_file *f, size_t from, size_t to, size_t sector, int stale)
{
	size_t nr = CAP / sector;
	uint64_t size = disk.durable_size;

	memcpy(disk.image, disk.durable, CAP);
	memcpy(disk.cache, disk.durable, CAP);
	disk.size = disk.durable_size;
	if (stale)
		memcpy(disk.image + (disk.durable_size + sector - 1) / sector * sector,
		       disk.other.p, disk.other.n / 2);
	for (size_t i = from; i < to; i++) {
		apply(f, &f->events[i]);
		for (size_t k = disk.durable_size / sector; k < nr && k * sector <= disk.size; k++)
			if (numbered_roll(&disk.seed, 3) == 0)
				memcpy(disk.image + k * sector, disk.cache + k * sector, sector);
		if (disk.size > size || numbered_roll(&disk.seed, 4) == 0)
			size = numbered_roll(&disk.seed, 3) ? disk.size : size;
	}
	return size;
}

static void
replay(const struct fault_file *f, size_t from, size_t to, uint64_t synced, uint64_t given)
{
	static const size_t sectors[] = { 512, 4096 };
	size_t kind = disk.replays++ % 4;
	uint64_t size = make_image(f, from, to, sectors[kind % 2], kind / 2);
	uint8_t seen[1024];
	struct numbered_result r;

	assert_true(given < sizeof(seen));
	numbered_read(io_source_memory(disk.image, size), 1, given ? given : 1, seen, &r);
	if (r.error && synced == 0)
		return;
	if (r.error || r.strange || r.twice || r.prefix < synced)
		fail_msg("calls %zu..%zu, size %ju: error %d (%s), up to %ju of %ju%s%s", from, to,
			 (uintmax_t)size, r.error, r.where.detail, (uintmax_t)r.prefix,
			 (uintmax_t)synced, r.strange ? ", strange" : "", r.twice ? ", twice" : "");
}

/* How many samples a file of these bytes has. */
static uint64_t
count(const uint8_t *p, uint64_t n, uint64_t given)
{
	struct numbered_result r;

	numbered_read(io_source_memory(p, n), 1, given, NULL, &r);
	assert_int_equal(r.error, 0);
	return r.count;
}

/* Up to each call of the log the power fails, `replays` times. */
static void
replay_all(const struct fault_file *f, uint64_t given, unsigned int replays)
{
	size_t synced_at = 0;
	uint64_t synced = 0;

	memset(disk.durable, 0, CAP);
	disk.durable_size = 0;
	for (size_t to = 0; to <= f->nr_events; to++) {
		for (unsigned int i = 0; i < replays; i++)
			replay(f, synced_at, to, synced, given);
		if (to == f->nr_events || f->events[to].op != FAULT_SYNC || f->events[to].error)
			continue;
		memcpy(disk.cache, disk.durable, CAP);
		disk.size = disk.durable_size;
		for (size_t i = synced_at; i < to; i++)
			apply(f, &f->events[i]);
		memcpy(disk.durable, disk.cache, CAP);
		disk.durable_size = disk.size;
		synced_at = to + 1;
		synced = count(disk.durable, disk.durable_size, given);
	}
	assert_true(synced > 0);
}

static void
run(unsigned int fail_at, unsigned int fail_for, size_t left_behind, unsigned int replays)
{
	struct recording_meta *meta = numbered_meta(1);
	struct numbered_progress p;
	struct fault_file f;

	fault_file_init(&f, CAP);
	f.logs = true;
	f.fail_at = fail_at;
	f.fail_for = fail_for;
	f.fail_errno = ENOSPC;
	f.left_behind = left_behind;
	(void)numbered_write(fault_sink(&f), meta, &script, &p);
	if (p.synced > 0) /* else nothing was promised */
		replay_all(&f, p.given, replays);
	recording_meta_free(meta);
	fault_file_done(&f);
}

static void
test_power_loss(void **state)
{
	run(0, 0, 0, numbered_env("REPLAYS", 15));
	script.verbatim = true;
	run(0, 0, 0, numbered_env("REPLAYS", 15));
	print_message("# %ju replays\n", (uintmax_t)disk.replays);
}

/* With failed writes before: what was cut away may still be on the disk. */
static void
test_power_loss_after_errors(void **state)
{
	static const size_t left[] = { 0, 97, 600, CAP };
	unsigned int replays = numbered_env("REPLAYS", 15) / 20;

	for (unsigned int call = 20; call < 90; call += 3) {
		script.verbatim = call % 2;
		run(call, 1 + call % 2, left[call / 3 % 4], replays ? replays : 1);
	}
	print_message("# %ju replays\n", (uintmax_t)disk.replays);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_loss),
		cmocka_unit_test(test_power_loss_after_errors),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
