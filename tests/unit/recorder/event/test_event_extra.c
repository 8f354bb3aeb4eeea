/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf's options make of an attr, and words of branches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "recorder/event/event_extra.h"

static const struct event_extra_found none;

/* As perf_event_open(2) has the numbers. */
static const struct row {
	const char *text;
	uint64_t bits; /* 0: refused, at word */
	const char *word;
} rows[] = {
	{ "any", 1 << 3, NULL },
	{ "u", 1 << 0 | 1 << 3, NULL },
	{ "u,k,hv", 7 | 1 << 3, NULL },
	{ "any_call,u", 1 << 4 | 1 << 0, NULL },
	{ "any_ret,ind_call,abort_tx", 1 << 5 | 1 << 6 | 1 << 7, NULL },
	{ "in_tx,no_tx,cond", 1 << 8 | 1 << 9 | 1 << 10, NULL },
	{ "stack,ind_jmp,call", 1 << 11 | 1 << 12 | 1 << 13, NULL },
	{ "no_flags,no_cycles,save_type", 1 << 14 | 1 << 15 | 1 << 16, NULL },
	{ "hw_index,priv,counter", 1 << 17 | 1 << 18 | 1 << 19, NULL },
	{ "", 0, "" },
	{ "any,", 0, "" },
	{ "any,,u", 0, "" },
	{ "any,an", 0, "an" },
	{ "anyway,u", 0, "anyway" },
};

static void
test_branches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		uint64_t bits = 0;
		const char *word;
		size_t bytes;
		int r = session_branches_parse(row->text, &bits, &word, &bytes);

		assert_int_equal(r, row->bits ? 0 : -EINVAL);
		assert_true(bits == row->bits);
		if (row->bits)
			continue;
		assert_int_equal(bytes, strlen(row->word));
		assert_memory_equal(word, row->word, bytes);
	}
}

static void
test_apply(void **state)
{
	struct perf_event_attr attr = { .inherit = 1, .sample_type = PERF_SAMPLE_IP };
	struct session_extra extra = {
		.branches = 1 << 4, .all_user = true, .user_callchains = true, .no_inherit = true
	};

	(void)state;
	event_extra_apply(&(struct session_extra){ 0 }, none, &attr);
	assert_true(attr.inherit && !attr.exclude_kernel && !attr.exclude_user);
	assert_true(attr.sample_type == PERF_SAMPLE_IP);
	event_extra_apply(&extra, (struct event_extra_found){ .types = PERF_SAMPLE_ADDR }, &attr);
	assert_true(attr.sample_type ==
		    (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_BRANCH_STACK));
	assert_true(attr.branch_sample_type == 1 << 4);
	assert_true(attr.exclude_kernel && !attr.exclude_user && !attr.inherit);
	assert_true(attr.exclude_callchain_kernel && !attr.exclude_callchain_user);
	extra = (struct session_extra){ .all_kernel = true, .kernel_callchains = true };
	attr = (struct perf_event_attr){ .inherit = 1 };
	event_extra_apply(&extra, none, &attr);
	assert_true(attr.exclude_user && !attr.exclude_kernel && attr.inherit);
	assert_true(attr.exclude_callchain_user && !attr.exclude_callchain_kernel);
	assert_true(attr.branch_sample_type == 0 && attr.sample_type == 0);
	/* A switch is taken in the kernel: of it there is the user's side, or none at all. */
	extra = (struct session_extra){ .all_user = true };
	attr = (struct perf_event_attr){ .context_switch = 1 };
	event_extra_apply(&extra, none, &attr);
	assert_true(!attr.exclude_kernel && attr.exclude_callchain_kernel);
}

static void
test_values(void **state)
{
	struct perf_event_attr attr = {
		.inherit = 1, .watermark = 1, .wakeup_watermark = 4096, .sample_regs_user = 4
	};
	struct session_extra extra = {
		.user_regs = 1, .intr_regs = 2, .max_stack = 7, .stat = true
	};

	(void)state;
	event_extra_apply(&extra, none, &attr);
	assert_true(attr.sample_type == (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR));
	/* Those that unwinding needs stay. */
	assert_true(attr.sample_regs_user == 5 && attr.sample_regs_intr == 2);
	assert_true(attr.sample_max_stack == 7 && attr.inherit_stat);
	assert_true(attr.watermark && attr.wakeup_watermark == 4096);
	extra = (struct session_extra){ .stat = true, .no_inherit = true, .no_buffering = true };
	event_extra_apply(&extra, none, &attr);
	assert_true(!attr.inherit_stat && !attr.watermark && attr.wakeup_events == 1);
}

/* Of the user's part alone, in records of the side-band. */
static void
test_deferred(void **state)
{
	const struct event_extra_found found = { .deferred = true };
	const struct session_extra extra = { .deferred = true };
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP }, side = { .mmap = 1 };

	(void)state;
	event_extra_apply(&extra, found, &attr);
	assert_false(attr.defer_callchain);
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	event_extra_apply(&extra, none, &attr);
	assert_false(attr.defer_callchain);
	event_extra_apply(&extra, found, &attr);
	assert_true(attr.defer_callchain && !attr.defer_output);
	attr.exclude_callchain_user = 1;
	event_extra_apply(&extra, found, &attr);
	assert_false(attr.defer_callchain);
	event_extra_sideband(&extra, found, &side);
	assert_true(side.defer_output && !side.defer_callchain && !side.context_switch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_branches),
					    cmocka_unit_test(test_apply),
					    cmocka_unit_test(test_values),
					    cmocka_unit_test(test_deferred) };

	return cmocka_run_group_tests_name("event_extra", tests, NULL, NULL);
}
