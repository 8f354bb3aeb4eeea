/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw profiles of blocks by columns against those of samples in order, and what makes two places
 * one.
 */
#include "symbolizer/profile/gather.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <bsd/string.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/block/buildids.h"
#include "format/record/record_build.h"
#include "tests/lab/story.h"

#define STORIES 100

/* Sums over all rows: neither their order, nor how many raw profiles they are in, matters. */
struct sum {
	const struct profile_options *options;
	uint64_t samples, period, rows, who, first_ns, last_ns;
	size_t handed_over, rows_kept;
};

static uint64_t
mix_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = slots_mix(h, (uint8_t)*text);
	return slots_mix(h, 0);
}

static uint64_t
hash_who(const struct gather *g, const struct raw_who *w)
{
	uint64_t h = mix_text(w->in_scope * 2u + w->wanted, w->comm);

	h = mix_text(h, w->cgroup);
	h = mix_text(h, w->event < 0 ? "" : gather_event_name(g, (size_t)w->event));
	return slots_mix(slots_mix(slots_mix(h, (uint64_t)w->pid << 32 | w->tid), w->cpu), w->time);
}

static uint64_t
hash_place(const struct raw_profile *raw, uint64_t h, const struct raw_place *p)
{
	const struct raw_region *r = p->region == RAW_NO_REGION ? NULL : &raw->regions[p->region];

	h = slots_mix(h, (uint64_t)p->mode << 1 | p->is_return);
	if (p->mode != CALLCHAIN_USER || !r)
		return slots_mix(mix_text(h, p->symbol), p->address);
	/* Whose map the region was made of is chance. */
	h = mix_text(slots_mix(h, r->map.pgoff), r->object.path);
	return slots_mix(h, p->address - (raw_region_is_file(r) ? r->map.start : 0));
}

/* All samples of a bucket are of its span. */
static void
assert_in_bucket(const struct profile_options *o, const struct raw_who *w)
{
	if (!o->by_time)
		assert_int_equal(w->time, 0);
	else if (w->seen.samples) {
		assert_int_equal((w->times.first_ns + o->bucket_shift_ns) / o->bucket_ns, w->time);
		assert_int_equal((w->times.last_ns + o->bucket_shift_ns) / o->bucket_ns, w->time);
	}
}

static int
add_up(void *arg, struct gather *g, const struct raw_profile *raw)
{
	struct sum *sum = arg;

	for (size_t i = 0; i < raw->nr_whos; i++) {
		const struct raw_who *w = &raw->whos[i];
		uint64_t h = hash_who(g, w);

		assert_in_bucket(sum->options, w);
		sum->who += h * w->seen.samples + slots_mix(h, 1) * w->seen.period;
	}
	for (size_t i = 0; i < raw->nr_rows; i++) {
		const struct raw_row *row = &raw->rows[i];
		uint64_t h = hash_who(g, &raw->whos[row->key.who]);
		size_t n;
		const uint32_t *places = raw_profile_stack(raw, row, &n);
		const struct raw_times *t = raw_profile_times(raw, i);

		/* A part of a period may be a row of its own, whose times are of no sample. */
		assert_true(row->weight.samples > 0 || sum->options->spread);
		assert_true(row->weight.samples == 0 || t->first_ns <= t->last_ns);
		for (size_t k = 0; k < n; k++)
			h = hash_place(raw, h, &raw->places[places[k]]);
		sum->rows += h * row->weight.samples + slots_mix(h, 1) * row->weight.period;
		sum->samples += row->weight.samples;
		sum->period += row->weight.period;
		if (row->weight.samples == 0)
			continue;
		sum->first_ns = sum->first_ns && sum->first_ns < t->first_ns ? sum->first_ns
									     : t->first_ns;
		sum->last_ns = sum->last_ns > t->last_ns ? sum->last_ns : t->last_ns;
	}
	sum->rows_kept += raw->nr_rows;
	sum->handed_over++;
	return 0;
}

static struct sum
sum_of(struct recording_reader *reader, const struct profile_options *options)
{
	struct fmt_where where = { 0 };
	struct record_stream *stream;
	struct sum sum = { .options = options };
	struct gather *g;

	assert_int_equal(record_stream_open(reader, &stream), 0);
	g = gather_new(stream, options);
	assert_non_null(g);
	assert_int_equal(gather_run(g, add_up, &sum, &where), 0);
	gather_free(g);
	record_stream_close(stream);
	return sum;
}

static void
assert_same_sum(const struct sum *a, const struct sum *b)
{
	assert_int_equal(a->samples, b->samples);
	assert_int_equal(a->period, b->period);
	assert_int_equal(a->rows, b->rows);
	assert_int_equal(a->who, b->who);
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->last_ns, b->last_ns);
}

/* Whatever is asked for, columns say what records say; so do many small raw profiles. */
static void
columns_say_the_same(void **state)
{
	size_t parts = 0, spread = 0;

	for (uint64_t seed = 1; seed <= STORIES; seed++) {
		struct profile_options o = { .by_cpu = seed & 1,
					     .by_pid = seed & 2,
					     .by_tid = seed & 4,
					     .by_cgroup = seed & 8,
					     .by_address = seed & 16,
					     .leaf_only = seed & 32,
					     .by_time = seed % 3 == 0,
					     .bucket_ns = seed % 2 ? 1000 : 1000000,
					     .bucket_shift_ns = 7 * seed - 300,
					     .spread = seed % 5 > 2 };
		struct sum fast, slow, whole;
		struct synthetic s;

		story_make(&s, seed);
		fast = sum_of(s.reader, &o);
		o.in_order = true;
		slow = sum_of(s.reader, &o);
		assert_same_sum(&fast, &slow);
		assert_true(fast.samples > 1000);
		assert_int_equal(fast.handed_over, 1);
		assert_int_equal(fast.rows_kept, slow.rows_kept);
		o.in_order = false;
		o.raw_bytes_max = 50000;
		fast = sum_of(s.reader, &o);
		assert_same_sum(&fast, &slow);
		parts += fast.handed_over;
		/* A period is divided, and nothing is lost or added. */
		o.spread = false;
		whole = sum_of(s.reader, &o);
		assert_int_equal(fast.samples, whole.samples);
		assert_int_equal(fast.period, whole.period);
		spread += fast.rows_kept > whole.rows_kept;
		synthetic_end(&s);
	}
	assert_true(parts > 2 * STORIES);
	assert_true(spread > 5);
}

/* --- places ------------------------------------------------------------------------------ */

struct seen {
	size_t nr_rows, nr_places, nr_regions;
	char symbols[4][32];
	struct buildid id; /* of the last region */
};

static int
look(void *arg, struct gather *g, const struct raw_profile *raw)
{
	struct seen *seen = arg;

	*seen = (struct seen){ .nr_rows = raw->nr_rows,
			       .nr_places = raw->nr_places,
			       .nr_regions = raw->nr_regions };
	for (size_t i = 0; i < raw->nr_places && i < 4; i++)
		if (raw->places[i].symbol)
			strlcpy(seen->symbols[i], raw->places[i].symbol, sizeof(seen->symbols[i]));
	if (raw->nr_regions)
		seen->id = raw->regions[raw->nr_regions - 1].object.build_id;
	return 0;
}

static void
see(struct synthetic *s, const struct profile_options *options, struct seen *ret)
{
	struct fmt_where where = { 0 };
	struct gather *g;

	synthetic_read(s);
	g = gather_new(s->stream, options);
	assert_non_null(g);
	assert_int_equal(gather_run(g, look, ret, &where), 0);
	gather_free(g);
	synthetic_end(s);
}

static void
sample(struct synthetic *s, uint32_t pid, uint16_t mode, uint64_t ip)
{
	s->cpumode = mode;
	synthetic_sample(s, pid, pid, ip, NULL, 0);
}

/* Wherever two processes map a file, its places are the same; of what is no file they are not. */
static void
files_have_places(void **state)
{
	struct synthetic s;
	struct seen seen;

	synthetic_begin(&s, PERF_SAMPLE_IP);
	synthetic_comm(&s, 10, 10, "a");
	synthetic_comm(&s, 11, 11, "a");
	synthetic_map(&s, 10, 0x10000, 0x2000, "/lib/x");
	synthetic_map(&s, 11, 0x70000, 0x2000, "/lib/x");
	synthetic_map(&s, 10, 0x20000, 0x1000, "//anon");
	synthetic_map(&s, 11, 0x80000, 0x1000, "//anon");
	sample(&s, 10, PERF_RECORD_MISC_USER, 0x10123);
	sample(&s, 11, PERF_RECORD_MISC_USER, 0x70123);
	sample(&s, 10, PERF_RECORD_MISC_USER, 0x20123);
	sample(&s, 11, PERF_RECORD_MISC_USER, 0x80123);
	sample(&s, 11, PERF_RECORD_MISC_USER, 0x10123); /* nothing is there in this one */
	/* JIT code of two processes. */
	synthetic_map(&s, 10, 0x30000, 0x1000, "/memfd:jit (deleted)");
	synthetic_map(&s, 11, 0x90000, 0x1000, "/memfd:jit (deleted)");
	sample(&s, 10, PERF_RECORD_MISC_USER, 0x30123);
	sample(&s, 11, PERF_RECORD_MISC_USER, 0x90123);
	see(&s, &(struct profile_options){ .leaf_only = true }, &seen);
	assert_int_equal(seen.nr_regions, 5);
	assert_int_equal(seen.nr_places, 6);
	assert_int_equal(seen.nr_rows, 6);
}

/* A BPF program's address is another's later: each sample has the name of its time. */
static void
names_of_their_time(void **state)
{
	const uint64_t at = UINT64_C(0xffffffffc0000000);
	struct perf_sample_id id;
	struct synthetic s;
	struct seen seen;

	synthetic_begin(&s, PERF_SAMPLE_IP);
	synthetic_comm(&s, 10, 10, "a");
	for (unsigned i = 0; i < 3; i++) {
		static const char *const names[] = { "bpf_prog_1", "bpf_prog_1", "bpf_prog_2" };

		id = (struct perf_sample_id){ .have = s.attr[0].sample_type,
					      .id = 100,
					      .time = s.now };
		assert_int_equal(record_build_ksymbol(&s.records, &s.attr[0], &id, at, 64, 1,
						      i == 1, names[i]),
				 0);
		sample(&s, 10, PERF_RECORD_MISC_KERNEL, at + 8);
		sample(&s, 10, PERF_RECORD_MISC_KERNEL, at + 16);
	}
	see(&s, &(struct profile_options){ .leaf_only = true }, &seen);
	/* A name is one place; an address without one is itself. */
	assert_int_equal(seen.nr_places, 4);
	assert_string_equal(seen.symbols[0], "bpf_prog_1");
	assert_string_equal(seen.symbols[1], "");
	assert_string_equal(seen.symbols[2], "");
	assert_string_equal(seen.symbols[3], "bpf_prog_2");
}

static void
addresses_when_asked(void **state)
{
	struct synthetic s;
	struct seen seen;

	for (int by_address = 0; by_address < 2; by_address++) {
		synthetic_begin(&s, PERF_SAMPLE_IP);
		synthetic_ksym(&s, 0xffffffff81000000, 0xffffffff81001000, "", "schedule");
		sample(&s, 10, PERF_RECORD_MISC_KERNEL, 0xffffffff81000010);
		sample(&s, 10, PERF_RECORD_MISC_KERNEL, 0xffffffff81000020);
		see(&s, &(struct profile_options){ .by_address = by_address }, &seen);
		assert_int_equal(seen.nr_places, by_address ? 2 : 1);
		assert_string_equal(seen.symbols[0], "schedule");
	}
}

/* It has no inode: its build-id comes in a block, by its name. */
static void
vdso_has_a_build_id(void **state)
{
	struct fmt_where where = { 0 };
	struct buildid_entry e = { .path = "[vdso]", .path_len = 6 };
	struct synthetic s;
	struct seen seen;
	struct buf b;

	e.id = buildid_of(BUILDID_GNU, (const uint8_t *)"01234567890123456789", 20);
	synthetic_begin(&s, PERF_SAMPLE_IP);
	buf_init(&b);
	buildids_begin(&b);
	buildids_add(&b, &e);
	assert_int_equal(recording_writer_block(s.writer, BLOCK_BUILDIDS, buf_span(&b), &where), 0);
	buf_done(&b);
	synthetic_map(&s, 10, 0x7ffff7fc0000, 0x2000, "[vdso]");
	sample(&s, 10, PERF_RECORD_MISC_USER, 0x7ffff7fc0123);
	see(&s, &(struct profile_options){ 0 }, &seen);
	assert_int_equal(seen.nr_regions, 1);
	assert_int_equal(buildid_cmp(&seen.id, &e.id), 0);
}

/* Every process has it, and no record tells of it. */
static void
vsyscall_is_everywhere(void **state)
{
	struct synthetic s;
	struct seen seen;

	synthetic_begin(&s, PERF_SAMPLE_IP);
	synthetic_comm(&s, 10, 10, "a");
	sample(&s, 10, PERF_RECORD_MISC_USER, 0xffffffffff600400);
	sample(&s, 11, PERF_RECORD_MISC_USER, 0xffffffffff600400);
	sample(&s, 12, PERF_RECORD_MISC_CPUMODE_UNKNOWN, 0xffffffffff600800);
	see(&s, &(struct profile_options){ .leaf_only = true }, &seen);
	assert_int_equal(seen.nr_regions, 1);
	assert_int_equal(seen.nr_places, 2);
	synthetic_begin(&s, PERF_SAMPLE_IP);
	sample(&s, 11, PERF_RECORD_MISC_USER, 0xffffffffff5fffff);
	sample(&s, 11, PERF_RECORD_MISC_USER, 0xffffffffff601000);
	see(&s, &(struct profile_options){ .leaf_only = true }, &seen);
	assert_int_equal(seen.nr_regions, 0);
}

/* What take returns ends the run, and is what it returns. */
static int
refuse(void *arg, struct gather *g, const struct raw_profile *raw)
{
	return -FMT_E_NOMEM;
}

static void
take_ends_it(void **state)
{
	struct profile_options o = { .raw_bytes_max = 1 };
	struct fmt_where where = { 0 };
	struct synthetic s;
	struct gather *g;

	story_make(&s, 1);
	g = gather_new(s.stream, &o);
	assert_non_null(g);
	assert_int_equal(gather_run(g, refuse, NULL, &where), -FMT_E_NOMEM);
	gather_free(g);
	synthetic_end(&s);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_say_the_same), cmocka_unit_test(files_have_places),
		cmocka_unit_test(names_of_their_time),	cmocka_unit_test(addresses_when_asked),
		cmocka_unit_test(vdso_has_a_build_id),	cmocka_unit_test(vsyscall_is_everywhere),
		cmocka_unit_test(take_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
