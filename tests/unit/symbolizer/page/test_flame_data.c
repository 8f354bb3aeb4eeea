/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <jansson.h>
#include <linux/perf_event.h>

#include "symbolizer/page/flame_data.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/story.h"

#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define CTX_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define CTX_USER ((uint64_t)PERF_CONTEXT_USER)
#define K UINT64_C(0xffffffff81000000)

struct world {
	struct synthetic s;
	struct resolver *resolver;
	struct profile *profile;
};

static void
read_all(struct world *w, const struct profile_options *po)
{
	struct fmt_where where = { 0 };

	synthetic_read(&w->s);
	w->resolver = resolver_new(NULL);
	assert_non_null(w->resolver);
	w->profile = profile_new(w->resolver, NULL, po);
	assert_non_null(w->profile);
	assert_int_equal(profile_add(w->profile, po, w->s.stream, &where), 0);
}

static void
done(struct world *w)
{
	profile_free(w->profile);
	resolver_free(w->resolver);
	synthetic_end(&w->s);
}

static json_t *
written(const struct flame_data *d, const struct flame_times *times)
{
	struct page_json j;
	json_error_t error;
	json_t *value;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	page_json_init(&j, out);
	page_json_open(&j, NULL, '{');
	assert_int_equal(flame_data_write(d, times, &j), 0);
	page_json_close(&j, '}');
	assert_int_equal(page_json_done(&j), 0);
	assert_int_equal(fclose(out), 0);
	value = json_loads(text, 0, &error);
	if (!value)
		fail_msg("%s at %d of %s", error.text, error.position, text);
	free(text);
	return value;
}

static uint64_t
cell(const json_t *j, const char *table, const char *column, size_t i)
{
	const json_t *cells = json_object_get(json_object_get(j, table), column);

	assert_true(i < json_array_size(cells));
	return (uint64_t)json_integer_value(json_array_get(cells, i));
}

/* A row as "side comm: outermost > ... > sampled = samples, period". */
static const char *
row_text(const json_t *j, size_t row)
{
	static char out[512];
	const json_t *texts = json_object_get(j, "texts");
	const uint64_t who = cell(j, "rows", "who", row);
	uint64_t node = 0, way[64];
	char end[64];
	size_t n = 0;

	for (size_t i = 0; i <= row; i++)
		node += cell(j, "rows", "node", i);
	for (; node > 0; node -= cell(j, "nodes", "parent", node - 1)) {
		assert_true(n < 64);
		way[n++] = cell(j, "frames", "name", cell(j, "nodes", "frame", node - 1));
	}
	snprintf(out, sizeof(out), "%d %s:", (int)cell(j, "whos", "side", who),
		 json_string_value(json_array_get(texts, cell(j, "whos", "comm", who))));
	while (n-- > 0) {
		strlcat(out, " > ", sizeof(out));
		strlcat(out, json_string_value(json_array_get(texts, way[n])), sizeof(out));
	}
	snprintf(end, sizeof(end), " = %d, %d", (int)cell(j, "rows", "samples", row),
		 (int)(cell(j, "rows", "period", row) *
		       (uint64_t)json_integer_value(json_object_get(j, "period_unit"))));
	strlcat(out, end, sizeof(out));
	return out;
}

static size_t
rows(const json_t *j)
{
	return json_array_size(json_object_get(json_object_get(j, "rows"), "who"));
}

static void
kernel(struct world *w, const char *comm, unsigned int times)
{
	const uint64_t chain[] = { CTX_KERNEL, K + 5, K + 0x1009 },
		       other[] = { CTX_KERNEL, K + 0x1004 };

	synthetic_begin(&w->s, HAVE);
	synthetic_ksym(&w->s, K, K + 0x1000, "", "schedule");
	synthetic_ksym(&w->s, K + 0x1000, K + 0x2000, "", "entry</script>");
	synthetic_comm(&w->s, 10, 10, comm);
	w->s.period = 3000;
	for (unsigned int i = 0; i < times; i++)
		synthetic_sample(&w->s, 10, 10, K + 5, chain, sizeof(chain) / 8);
	synthetic_sample(&w->s, 10, 10, K + 0x1004, other, sizeof(other) / 8);
}

static void
tree_and_rows(void **state)
{
	const struct profile_options po = { .by_pid = true };
	struct flame_data *d = flame_data_new();
	struct world w;
	json_t *j;

	kernel(&w, "one", 3);
	read_all(&w, &po);
	assert_non_null(d);
	assert_int_equal(flame_data_add(d, 0, w.profile, &po), 0);
	/* All that is needed was copied. */
	done(&w);
	j = written(d, NULL);
	assert_int_equal(rows(j), 2);
	assert_string_equal(row_text(j, 0), "0 one: > entry</script> = 1, 3000");
	assert_string_equal(row_text(j, 1), "0 one: > entry</script> > schedule = 3, 9000");
	assert_int_equal(json_integer_value(json_object_get(j, "period_unit")), 3000);
	assert_int_equal(cell(j, "whos", "pid", 0), 10);
	assert_int_equal(cell(j, "frames", "kind", 0), FLAME_kernel);
	assert_true(json_is_null(json_array_get(json_object_get(j, "texts"), 0)));
	assert_int_equal(json_array_size(json_object_get(j, "keys")), 2);
	json_decref(j);
	flame_data_free(d);
}

/* Functions of one name are one, whichever of two recordings they are of. */
static void
two_sides(void **state)
{
	const struct profile_options po = { 0 };
	struct flame_data *d = flame_data_new();
	struct world after, before;
	json_t *j;

	kernel(&after, "one", 3);
	read_all(&after, &po);
	kernel(&before, "one", 7);
	read_all(&before, &po);
	assert_non_null(d);
	assert_int_equal(flame_data_add(d, 0, after.profile, &po), 0);
	assert_int_equal(flame_data_add(d, 1, before.profile, &po), 0);
	done(&after);
	done(&before);
	j = written(d, NULL);
	assert_int_equal(json_array_size(json_object_get(json_object_get(j, "nodes"), "frame")), 2);
	assert_int_equal(rows(j), 4);
	assert_string_equal(row_text(j, 0), "0 one: > entry</script> = 1, 3000");
	assert_string_equal(row_text(j, 1), "1 one: > entry</script> = 1, 3000");
	assert_string_equal(row_text(j, 2), "0 one: > entry</script> > schedule = 3, 9000");
	assert_string_equal(row_text(j, 3), "1 one: > entry</script> > schedule = 7, 21000");
	json_decref(j);
	flame_data_free(d);
}

/* The profile keeps no stacks, but knows of which buckets they were. */
static void
take_stacks(struct flame_data *d, struct profile *p, const struct profile_options *po)
{
	uint64_t first, last, least = UINT64_MAX, most = 0;
	struct profile_stack s;

	for (size_t i = 0; i < profile_stacks(p); i++) {
		profile_stack_at(p, i, &s);
		least = s.time < least ? s.time : least;
		most = s.time > most ? s.time : most;
	}
	assert_int_equal(flame_data_add(d, 0, p, po), 0);
	assert_int_equal(profile_stacks(p), 0);
	assert_int_equal(profile_lists(p), 0);
	for (int event = -1; event < profile_events(p); event++)
		assert_int_equal(profile_first_stack(p, event), PROFILE_NO_STACK);
	assert_true(profile_buckets(p, &first, &last));
	assert_int_equal(first, least);
	assert_int_equal(last, most);
}

/* Rows of several buckets become one of their column, and nothing is lost on the way. */
static void
columns(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		const struct profile_options po = { .by_time = true, .bucket_ns = 1000000 };
		struct flame_data *d = flame_data_new();
		struct flame_times times = { 0, 1 };
		uint64_t sums[2][64] = { { 0 } };
		struct world w;
		size_t before;
		json_t *j;

		story_make(&w.s, seed);
		w.resolver = resolver_new(NULL);
		w.profile = profile_new(w.resolver, NULL, &po);
		assert_non_null(w.profile);
		assert_int_equal(profile_add(w.profile, &po, w.s.stream, &(struct fmt_where){ 0 }),
				 0);
		assert_non_null(d);
		take_stacks(d, w.profile, &po);
		before = flame_data_rows(d);
		for (int merged = 0; merged < 2; merged++) {
			j = written(d, &times);
			for (size_t i = 0; i < rows(j); i++) {
				const uint64_t bucket = cell(j, "rows", "bucket", i);

				sums[merged][bucket / (merged ? 1 : 64) % 64] +=
					cell(j, "rows", "samples", i);
			}
			json_decref(j);
			times.per = 64;
			assert_int_equal(flame_data_merge(d, &times), 0);
			assert_true(flame_data_rows(d) <= before);
		}
		assert_memory_equal(sums[0], sums[1], sizeof(sums[0]));
		times.per = 1u << 30;
		assert_int_equal(flame_data_merge(d, &times), 0);
		assert_true(flame_data_rows(d) < before);
		flame_data_free(d);
		done(&w);
	}
}

/* Of recordings made up by chance: all samples are there, and each has the stack that it had. */
static void
stories(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		const struct profile_options po = { .by_tid = seed % 2 };
		struct flame_data *d = flame_data_new();
		uint64_t samples = 0, depth = 0, depths = 0;
		size_t stacks;
		struct profile_stack s;
		struct world w;
		json_t *j;

		story_make(&w.s, seed);
		w.resolver = resolver_new(NULL);
		w.profile = profile_new(w.resolver, NULL, &po);
		assert_non_null(w.profile);
		assert_int_equal(profile_add(w.profile, &po, w.s.stream, &(struct fmt_where){ 0 }),
				 0);
		stacks = profile_stacks(w.profile);
		for (size_t i = 0; i < stacks; i++) {
			profile_stack_at(w.profile, i, &s);
			depths += s.nr_frames * s.weight.samples;
		}
		assert_non_null(d);
		assert_int_equal(flame_data_add(d, 0, w.profile, &po), 0);
		j = written(d, NULL);
		assert_int_equal(rows(j), stacks);
		for (size_t i = 0, node = 0; i < rows(j); i++) {
			node += cell(j, "rows", "node", i);
			depth = 0;
			for (uint64_t at = node; at > 0; depth++)
				at -= cell(j, "nodes", "parent", at - 1);
			samples += cell(j, "rows", "samples", i);
			depths -= depth * cell(j, "rows", "samples", i);
		}
		assert_int_equal(samples, profile_totals(w.profile)->samples);
		assert_int_equal(depths, 0);
		json_decref(j);
		flame_data_free(d);
		done(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_and_rows),
		cmocka_unit_test(two_sides),
		cmocka_unit_test(columns),
		cmocka_unit_test(stories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
