/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums over recordings: which events of two are the same. */
#include "symbolizer/counts/count_totals.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lab/attr_encode.h"

static void
add_event(struct event_set *set, const char *name, uint64_t period)
{
	const struct event_attr attr = { .size = 128, .sample_period = period, .config = 7 };
	uint8_t bytes[ATTR_ENCODE_MAX];
	int size = attr_encode(&attr, bytes);

	assert_int_equal(event_set_add(set, span_of(bytes, (size_t)size), name, NULL), 0);
}

static void
add(struct count_totals *t, const struct event_set *set, size_t event, uint64_t value)
{
	const struct read_total total = {
		.known = true, .value = value, .enabled_ns = 10 * value, .running_ns = 5 * value
	};

	assert_int_equal(count_totals_add(t, set, event, &total), 0);
}

static void
expect(struct count_totals *t, size_t i, const char *name, uint64_t value)
{
	const struct counted_list *all = count_totals_all(t);

	assert_non_null(all);
	assert_true(i < all->nr);
	assert_string_equal(all->v[i].name, name);
	assert_int_equal(all->v[i].attr->config, 7);
	assert_true(all->v[i].total.known);
	assert_int_equal(all->v[i].total.value, value);
	assert_int_equal(all->v[i].total.enabled_ns, 10 * value);
	assert_int_equal(all->v[i].total.running_ns, 5 * value);
}

/* Two of one name are two, the first ones are one, and those that are sampled are none of them. */
static void
test_names(void **state)
{
	struct count_totals *t = count_totals_new();
	struct event_set *one = event_set_new(), *two = event_set_new();

	(void)state;
	add_event(one, "a", 1);
	add_event(one, "a", 0);
	add_event(one, "b", 0);
	add_event(two, "b", 0);
	add_event(two, "a", 0);
	count_totals_begin(t);
	add(t, one, 2, 100);
	add(t, one, 1, 1);
	/* It grows while it is read. */
	add_event(one, "a", 0);
	add(t, one, 3, 1000);
	add(t, one, 1, 2);
	count_totals_begin(t);
	event_set_free(one);
	add(t, two, 1, 4);
	add(t, two, 0, 200);
	event_set_free(two);
	expect(t, 0, "b", 300);
	expect(t, 1, "a", 7);
	expect(t, 2, "a", 1000);
	assert_int_equal(count_totals_all(t)->nr, 3);
	count_totals_free(t);
}

static void
test_bound(void **state)
{
	struct count_totals *t = count_totals_new();
	struct event_set *set = event_set_new();
	char name[16];

	(void)state;
	for (size_t i = 0; i < COUNT_TOTALS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "e%zu", i);
		add_event(set, name, 0);
	}
	count_totals_begin(t);
	for (size_t i = COUNT_TOTALS_MAX + 5; i-- > 5;)
		add(t, set, i, i + 1);
	assert_false(count_totals_left_out(t));
	for (size_t i = 5; i-- > 0;)
		add(t, set, i, i + 1);
	assert_true(count_totals_left_out(t));
	assert_int_equal(count_totals_all(t)->nr, COUNT_TOTALS_MAX);
	expect(t, 0, "e4100", 4101);
	/* Those that are there go on. */
	add(t, set, 4100, 9);
	expect(t, 0, "e4100", 4110);
	count_totals_free(t);
	event_set_free(set);
}

/* A level is not added up, and the unit comes along. */
static void
test_level(void **state)
{
	struct count_totals *t = count_totals_new();
	struct event_set *set = event_set_new();
	struct read_total total = { .known = true, .level = true, .value = 9, .enabled_ns = 10 };

	(void)state;
	add_event(set, "level", 0);
	event_set_unit(set, 0, &(struct count_unit){ .scale = 64, .name = "Bytes" });
	count_totals_begin(t);
	assert_int_equal(count_totals_add(t, set, 0, &total), 0);
	total.value = 4;
	assert_int_equal(count_totals_add(t, set, 0, &total), 0);
	assert_int_equal(count_totals_all(t)->v[0].total.value, 4);
	assert_int_equal(count_totals_all(t)->v[0].total.enabled_ns, 20);
	assert_true(count_totals_all(t)->v[0].total.level);
	assert_string_equal(count_totals_all(t)->v[0].unit.name, "Bytes");
	count_totals_free(t);
	event_set_free(set);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests_name("count_totals", tests, NULL, NULL);
}
