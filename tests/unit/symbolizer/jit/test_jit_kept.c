/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JIT blocks of a recording made here; they come after its records, and not in their order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "format/block/jitsyms.h"
#include "format/recording/recording_writer.h"
#include "symbolizer/jit/jit_kept.h"
#include "symbolizer/jit/jit_names.h"
#include "tests/lab/recording_maker.h"

static struct jitsym
symbol(uint32_t pid, uint64_t began, uint64_t time, uint64_t order, uint64_t start,
       const char *name)
{
	return (struct jitsym){ .pid = pid,
				.began_ns = began,
				.time_ns = time,
				.order = order,
				.start = start,
				.size = 0x100,
				.name = name,
				.name_len = strlen(name) };
}

/* A recording with these in one JIT block each; cut_last: the last one's payload ends in its name. */
static struct recording_reader *
recording_with(struct memory_file *f, const struct jitsym *symbols, size_t nr, bool cut_last)
{
	struct recording_meta *meta = maker_meta(1);
	struct recording_reader *r = NULL;
	struct recording_writer *w;
	struct buf b;

	memset(f, 0, sizeof(*f));
	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(f), meta, NULL, &w, NULL), 0);
	for (size_t i = 0; i < nr; i++) {
		jitsyms_begin(&b);
		jitsyms_add(&b, &symbols[i]);
		if (cut_last && i == nr - 1)
			b.len--;
		assert_int_equal(recording_writer_block(w, BLOCK_JIT, buf_span(&b), NULL), 0);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	recording_meta_free(meta);
	buf_done(&b);
	assert_int_equal(recording_reader_open(io_source_memory(f->p, f->n), &r, NULL), 0);
	return r;
}

static const char *
name_at(struct jit_kept *k, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	struct jit_symbol found;
	int r = jit_kept_find(k, pid, address, time_ns, &found);

	assert_true(r >= 0);
	return r ? found.name : "";
}

static void
test_times(void **state)
{
	const struct jitsym symbols[] = {
		symbol(7, 0, 500, 9, 0x1080, "later"),	symbol(7, 0, 0, 2, 0x1000, "second"),
		symbol(7, 0, 0, 1, 0x1010, "first"),	symbol(7, 0, 600, 1, 0x1080, ""),
		symbol(7, 1000, 0, 1, 0x1000, "other"), symbol(8, 50, 0, 1, 0x1000, "eight"),
	};
	struct memory_file f;
	struct recording_reader *r = recording_with(&f, symbols, 6, false);
	struct jit_kept *k = NULL;

	assert_int_equal(jit_kept_read(r, &k, NULL), 0);
	assert_non_null(k);
	/* Of one time the greater order is right, whichever came first. */
	assert_string_equal(name_at(k, 7, 0x1010, 100), "second");
	assert_string_equal(name_at(k, 7, 0x1100, 100), "first");
	assert_string_equal(name_at(k, 7, 0x1090, 499), "second");
	assert_string_equal(name_at(k, 7, 0x1090, 500), "later");
	assert_string_equal(name_at(k, 7, 0x1090, 600), "");
	assert_string_equal(name_at(k, 7, 0x1010, 999), "second");
	/* Another process has the number, in which only its own names are right. */
	assert_string_equal(name_at(k, 7, 0x1010, 1000), "other");
	assert_string_equal(name_at(k, 7, 0x1105, 1000), "");
	assert_string_equal(name_at(k, 8, 0x1010, 49), "");
	assert_string_equal(name_at(k, 8, 0x1010, 50), "eight");
	assert_string_equal(name_at(k, 9, 0x1010, 50), "");
	assert_true(jit_kept_timed(k, 7));
	assert_false(jit_kept_timed(k, 8));
	assert_false(jit_kept_timed(k, 9));
	assert_int_equal(jit_kept_left_out(k), 0);
	assert_int_equal(jit_kept_bad_blocks(k), 0);
	/* Files that changed from then on are another one's. */
	assert_int_equal(jit_kept_until(k, 7, 999), 1000);
	assert_int_equal(jit_kept_until(k, 7, 1000), 0);
	assert_int_equal(jit_kept_until(k, 8, 1000), 0);
	assert_int_equal(jit_kept_until(k, 6, 0), 0);
	jit_kept_free(k);
	recording_reader_close(r);
	memory_file_done(&f);
}

/* reader_names_full: one process has as many names as it likes, another its own all the same. */
static void
test_one_of_many(void **state)
{
	struct recording_meta *meta = maker_meta(1);
	struct recording_reader *r = NULL;
	struct jit_kept *k = NULL;
	struct recording_writer *w;
	struct memory_file f;
	struct buf b;

	memset(&f, 0, sizeof(f));
	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, NULL, &w, NULL), 0);
	for (uint32_t block = 0; block < 100; block++) {
		jitsyms_begin(&b);
		for (uint32_t i = 0; i < 4000; i++) {
			struct jitsym s = symbol(7, 0, 0, 1, 0x1000 * (4000 * block + i), "many");

			jitsyms_add(&b, &s);
		}
		assert_int_equal(recording_writer_block(w, BLOCK_JIT, buf_span(&b), NULL), 0);
	}
	jitsyms_begin(&b);
	for (uint32_t i = 0; i < 4000; i++) {
		struct jitsym s = symbol(8, 0, 0, 1, 0x1000 * i, "few");

		jitsyms_add(&b, &s);
	}
	assert_int_equal(recording_writer_block(w, BLOCK_JIT, buf_span(&b), NULL), 0);
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	recording_meta_free(meta);
	buf_done(&b);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	assert_int_equal(jit_kept_read(r, &k, NULL), 0);
	assert_int_equal(jit_kept_left_out(k), 400000 - JIT_KEPT_ENTRIES_MAX / 8);
	assert_string_equal(name_at(k, 7, 0x1000, 100), "many");
	assert_string_equal(name_at(k, 7, UINT64_C(0x1000) * 399999, 100), "");
	for (uint32_t i = 0; i < 4000; i++)
		assert_string_equal(name_at(k, 8, 0x1000 * i, 100), "few");
	jit_kept_free(k);
	recording_reader_close(r);
	memory_file_done(&f);
}

static void
test_cut_payload(void **state)
{
	const struct jitsym symbols[] = { symbol(7, 0, 0, 1, 0x1000, "whole"),
					  symbol(7, 0, 0, 2, 0x2000, "cut") };
	struct memory_file f;
	struct recording_reader *r = recording_with(&f, symbols, 2, true);
	struct jit_kept *k = NULL;

	assert_int_equal(jit_kept_read(r, &k, NULL), 0);
	assert_string_equal(name_at(k, 7, 0x1000, 1), "whole");
	assert_string_equal(name_at(k, 7, 0x2000, 1), "");
	assert_int_equal(jit_kept_bad_blocks(k), 1);
	jit_kept_free(k);
	recording_reader_close(r);
	memory_file_done(&f);
}

/* Without files of this host the recording's word is all there is. */
static void
test_names(void **state)
{
	const struct jitsym symbols[] = { symbol(7, 0, 0, 1, 0x1000, "kept") };
	const struct jit_process seven = { .pid = 7, .alive_ns = 10 };
	struct jit_names_options o = { .timed = true };
	struct memory_file f;
	struct recording_reader *r = recording_with(&f, symbols, 1, false);
	struct jit_names *j;
	struct jit_name name;

	assert_int_equal(jit_kept_read(r, &o.kept, NULL), 0);
	j = jit_names_new(&o);
	assert_int_equal(jit_names_find(j, &seven, 0x1001, 10, &name), 1);
	assert_string_equal(name.symbol, "kept");
	assert_string_equal(name.dso, "/tmp/perf-7.map");
	assert_int_equal(jit_names_find(j, &seven, 0x2001, 10, &name), 0);
	jit_names_free(j);
	recording_reader_close(r);
	memory_file_done(&f);
}

static void
test_none(void **state)
{
	struct memory_file f;
	struct recording_reader *r = recording_with(&f, NULL, 0, false);
	struct jit_kept *k = (struct jit_kept *)&f;

	assert_int_equal(jit_kept_read(r, &k, NULL), 0);
	assert_null(k);
	recording_reader_close(r);
	memory_file_done(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),	    cmocka_unit_test(test_cut_payload),
		cmocka_unit_test(test_one_of_many), cmocka_unit_test(test_names),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
