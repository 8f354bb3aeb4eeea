/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel symbols from files with known answers; which of them samples need. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/block/ksyms.h"
#include "recorder/host/host_kallsyms.h"
#include "recorder/live/ksym_collector.h"

static int
load_among(const struct host_modules *modules, const char *text, size_t n,
	   const struct kallsyms **ret)
{
	char path[] = "/tmp/spoor-kallsyms.XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
	rc = host_kallsyms_load(path, modules, ret);
	unlink(path);
	return rc;
}

static int
load_bytes(const char *text, size_t n, const struct kallsyms **ret)
{
	return load_among(NULL, text, n, ret);
}

static int
load_text(const char *text, const struct kallsyms **ret)
{
	return load_bytes(text, strlen(text), ret);
}

static const char *
name_at(const struct kallsyms *k, uint64_t addr)
{
	ssize_t i = kallsyms_find(k, addr);

	return i < 0 ? "-" : kallsyms_at(k, (size_t)i).name;
}

static const char text[] = "0000000000001000 A fixed_percpu\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t first_alias\n"
			   "ffffffff81000100 W last_alias\n"
			   "ffffffff81000100 R not_that_type\n"
			   "ffffffff81000180 t $x\n"
			   "ffffffff81000200 D data\n"
			   "ffffffff81000400 V weak_object\n"
			   "garbage\n"
			   "\n"
			   "ffffffff8100\n"
			   "ffffffff81002000 T last_core\n"
			   "ffffffffc0100000 t mod_b\t[two]\n"
			   "ffffffffc0000800 t mod_a\t[one]\n"
			   "ffffffffc0000000 t mod_init\t[one]\n"
			   "ffffffffc0200010 t bpf_prog_1\t[bpf]";

static void
test_parse(void **state)
{
	struct kallsyms_symbol s;
	const struct kallsyms *k;

	assert_int_equal(load_text(text, &k), 0);
	assert_int_equal(kallsyms_count(k), 9);
	assert_string_equal(name_at(k, 0xffffffff81000000), "_text");
	assert_string_equal(name_at(k, 0xffffffff810000ff), "_text");
	assert_string_equal(name_at(k, 0xffffffff81000100), "last_alias");
	assert_string_equal(name_at(k, 0xffffffff810001ff), "last_alias");
	assert_string_equal(name_at(k, 0xffffffff81000200), "-"); /* data */
	assert_string_equal(name_at(k, 0xffffffff81001000), "-");
	assert_string_equal(name_at(k, 0xffffffff80ffffff), "-");
	assert_string_equal(name_at(k, 0), "-");
	assert_string_equal(name_at(k, UINT64_MAX), "-");
	/* Not into the gap before the modules. */
	assert_string_equal(name_at(k, 0xffffffff81002fff), "last_core");
	assert_string_equal(name_at(k, 0xffffffff81003000), "-");
	assert_string_equal(name_at(k, 0xffffffffbfffffff), "-");
	assert_string_equal(name_at(k, 0xffffffffc0000000), "mod_init");
	assert_string_equal(name_at(k, 0xffffffffc0000900), "mod_a");
	assert_string_equal(name_at(k, 0xffffffffc0200010), "bpf_prog_1");
	assert_string_equal(name_at(k, 0xffffffffc0201fff), "bpf_prog_1");
	assert_string_equal(name_at(k, 0xffffffffc0202000), "-");
	s = kallsyms_at(k, (size_t)kallsyms_find(k, 0xffffffffc0100000));
	assert_string_equal(s.module, "two");
	assert_int_equal(s.end, 0xffffffffc0101000); /* and not where another one's code begins */
	s = kallsyms_at(k, 0);
	assert_string_equal(s.module, "");
	assert_int_equal(kallsyms_address(k, "_text"), 0xffffffff81000000);
	assert_int_equal(kallsyms_address(k, "_etext"), 0);
	host_kallsyms_release(k);
}

static void
test_hidden(void **state)
{
	const struct kallsyms *k;

	assert_int_equal(load_text("0000000000000000 T _text\n0000000000000000 T x\n", &k), -EPERM);
	assert_int_equal(load_text("", &k), -ENOENT);
	assert_int_equal(load_text("nothing of that\n", &k), -ENOENT);
	assert_int_equal(host_kallsyms_load("/nonexistent", NULL, &k), -ENOENT);
	host_kallsyms_release(NULL);
}

/* As 6.1 lists them, for two modules with a gap between; "late" has the place of the start of "early". */
static const char loaded[] = "ffffffff81000000 T _text\n"
			     "ffffffff81000100 T last_core\n"
			     "ffffffff81000800 D core_data\n"
			     "ffffffffc0000000 t early_read\t[early]\n"
			     "ffffffffc0000040 t early_write\t[early]\n"
			     "ffffffffc0002000 d __this_module\t[early]\n"
			     "ffffffffc0001000 r early_table\t[early]\n"
			     "ffffffffc0010000 t late_read\t[late]\n"
			     "ffffffffc0010000 t early_init\t[early]\n"
			     "ffffffffc0010100 t late_write\t[late]\n"
			     "ffffffffc0010180 t early_probe\t[early]\n"
			     "ffffffffc0030000 t new_init\t[new]\n"
			     "ffffffffc0020000 t new_work\t[new]\n"
			     "ffffffffc0041000 t gone_work\t[gone]\n"
			     "ffffffffc0003800 t bpf_prog_1\t[bpf]\n";

static const struct host_modules bounds = {
	.ranges =
		(struct kallsyms_module[]){
			{ 0xffffffffc0000000, 0xffffffffc0004000, false, "early" },
			{ 0xffffffffc0010000, 0xffffffffc0013000, false, "late" },
			{ 0xffffffffc0020000, 0xffffffffc0021000, true, "new" },
		},
	.nr = 3,
};

static void
test_bounds(void **state)
{
	const struct kallsyms *k, *unbounded;
	struct kallsyms_symbol s;

	assert_int_equal(load_among(&bounds, loaded, sizeof(loaded) - 1, &k), 0);
	assert_string_equal(name_at(k, 0xffffffff810007ff), "last_core");
	assert_string_equal(name_at(k, 0xffffffff81000800), "-");
	assert_string_equal(name_at(k, 0xffffffffc000003f), "early_read");
	assert_string_equal(name_at(k, 0xffffffffc0000fff), "early_write");
	/* What is data has no name, and ends code. */
	assert_string_equal(name_at(k, 0xffffffffc0001000), "-");
	assert_string_equal(name_at(k, 0xffffffffc0002fff), "-");
	assert_string_equal(name_at(k, 0xffffffffc0003fff), "bpf_prog_1");
	/* Behind a module is none, up to the next. */
	assert_string_equal(name_at(k, 0xffffffffc0005000), "-");
	assert_string_equal(name_at(k, 0xffffffffc000ffff), "-");
	/* What another one had there for its start does not win, whichever is listed last. */
	assert_string_equal(name_at(k, 0xffffffffc0010000), "late_read");
	assert_string_equal(name_at(k, 0xffffffffc00101ff), "late_write");
	s = kallsyms_at(k, (size_t)kallsyms_find(k, 0xffffffffc0010100));
	assert_string_equal(s.module, "late");
	/* The last one ends with its module, longer than a page. */
	assert_int_equal(s.end, 0xffffffffc0013000);
	/* One that starts just now has code for that elsewhere. */
	assert_string_equal(name_at(k, 0xffffffffc0030000), "new_init");
	assert_string_equal(name_at(k, 0xffffffffc0020fff), "new_work");
	assert_string_equal(name_at(k, 0xffffffffc0021000), "-");
	/* Which came after the bounds were read. */
	assert_string_equal(name_at(k, 0xffffffffc0041000), "gone_work");
	assert_int_equal(load_text(loaded, &unbounded), 0);
	assert_ptr_not_equal(k, unbounded);
	host_kallsyms_release(unbounded);
	host_kallsyms_release(k);
}

/* Sessions of one process have one copy; until modules come, which only those after it see. */
static void
equal_ones_are_shared(void **state)
{
	static const char now[] = "ffffffff81000000 T _text\nffffffff81000100 T one\n"
				  "ffffffffc0000000 t two\t[m]\n";
	static const char later[] = "ffffffff81000000 T _text\nffffffff81000100 T one\n"
				    "ffffffffc0001000 t two\t[m]\n";
	const struct kallsyms *a, *b, *c;

	assert_int_equal(load_text(now, &a), 0);
	assert_int_equal(load_text(now, &b), 0);
	assert_int_equal(load_text(later, &c), 0);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	host_kallsyms_release(a);
	assert_string_equal(name_at(b, 0xffffffffc0000000), "two");
	assert_string_equal(name_at(c, 0xffffffffc0000000), "-");
	assert_string_equal(name_at(c, 0xffffffffc0001000), "two");
	host_kallsyms_release(b);
	assert_int_equal(load_text(now, &a), 0);
	assert_string_equal(name_at(a, 0xffffffff81000100), "one");
	host_kallsyms_release(a);
	host_kallsyms_release(c);
}

static void
test_long_line(void **state)
{
	size_t n = 600000;
	char *s = malloc(n + 64);
	const struct kallsyms *k;

	memset(s, 'x', n);
	snprintf(s + n, 64, "\nffffffff81000000 T good\n");
	assert_int_equal(load_text(s, &k), 0);
	assert_string_equal(name_at(k, 0xffffffff81000000), "good");
	host_kallsyms_release(k);
	free(s);
}

/* However many symbols there are, each address is found in its own, and those before the first in none. */
static void
test_counts(void **state)
{
	for (size_t n = 1; n <= 260; n++) {
		size_t cap = n * 48 + 1, len = 0;
		char *s = malloc(cap);
		const struct kallsyms *k;

		assert_non_null(s);
		for (size_t i = 0; i < n; i++)
			len += (size_t)snprintf(s + len, cap - len, "%016" PRIx64 " t f%zu\n",
						UINT64_C(0xffffffff81000000) + i * 32, i);
		assert_int_equal(load_text(s, &k), 0);
		assert_int_equal(kallsyms_count(k), n);
		assert_int_equal(kallsyms_find(k, 0xffffffff80ffffff), -1);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(kallsyms_find(k, 0xffffffff81000000 + i * 32), i);
			assert_int_equal(kallsyms_find(k, 0xffffffff8100001f + i * 32), i);
		}
		host_kallsyms_release(k);
		free(s);
	}
}

static void
test_real(void **state)
{
	const struct kallsyms *k;
	uint64_t end = 0;
	int rc = host_kallsyms_load(NULL, NULL, &k);

	if (rc == -EPERM || rc == -ENOENT)
		return; /* hidden here: said by test_hidden */
	assert_int_equal(rc, 0);
	assert_true(kallsyms_count(k) > 1000);
	for (size_t i = 0; i < kallsyms_count(k); i++) {
		struct kallsyms_symbol s = kallsyms_at(k, i);

		assert_true(s.start < s.end && s.start >= end && (!s.name || s.name[0]));
		end = s.end;
		assert_int_equal(kallsyms_find(k, s.start), s.name ? (ssize_t)i : -1);
		assert_int_equal(kallsyms_find(k, s.end - 1), s.name ? (ssize_t)i : -1);
	}
	host_kallsyms_release(k);
}

/* A module's name with a NUL within, next to one that begins alike: neither is the other. */
static void
test_nul(void **state)
{
	enum { LONG = 200000 };
	static const char first[] = "ffffffffc0000000 t one\t[x]\nffffffffc0001000 t two\t[x\0";
	char *lines = malloc(sizeof(first) + LONG);
	size_t n = sizeof(first) - 1;
	const struct kallsyms *k;

	assert_non_null(lines);
	memcpy(lines, first, n);
	memset(lines + n, 'A', LONG);
	lines[n + LONG - 1] = ']';
	assert_int_equal(load_bytes(lines, n + LONG, &k), 0);
	assert_string_equal(name_at(k, 0xffffffffc0000000), "one");
	assert_string_equal(name_at(k, 0xffffffffc0001000), "two");
	host_kallsyms_release(k);
	free(lines);
}

/* --- the collector --------------------------------------- */

#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

static void
sample(struct ksym_collector *c, uint16_t misc, uint64_t ip, const uint64_t *chain, size_t n)
{
	const struct sample_glance glance = { .misc = misc,
					      .ip = ip,
					      .callchain = span_of(chain, n * 8) };

	ksym_collector_sample(c, &glance);
}

/* Names of the pending symbols, one after another. */
static void
taken(struct ksym_collector *c, char *out, size_t cap)
{
	size_t cursor = 0;
	struct ksym k;
	struct buf b;
	int rc;

	out[0] = '\0';
	buf_init(&b);
	rc = ksym_collector_payload(c, &b);
	assert_true(rc >= 0);
	ksym_collector_taken(c);
	while (rc && ksyms_next(buf_span(&b), &cursor, &k) == 1) {
		size_t len = strlen(out);

		assert_true(k.start < k.end);
		snprintf(out + len, cap - len, "%.*s[%.*s] ", (int)k.name_len, k.name,
			 (int)k.module_len, k.module);
	}
	buf_done(&b);
}

static void
test_collector(void **state)
{
	static const uint64_t chain[] = {
		CONTEXT_KERNEL,	    0xffffffff81000100,
		0xffffffff81000200, /* a return address: the call ends last_alias */
		0xffffffffc0000801, CONTEXT_USER,
		0xffffffff81000300, /* not the kernel's, whatever it looks like */
	};
	struct ksym_collector *c;
	const struct kallsyms *k;
	char names[256];

	assert_int_equal(load_text(text, &k), 0);
	c = ksym_collector_new(k);
	taken(c, names, sizeof(names));
	assert_string_equal(names, "");
	sample(c, 2, 0x400000, NULL, 0);
	sample(c, 2, 0xffffffff81000000, NULL, 0); /* user mode: vsyscall or a lie */
	assert_int_equal(ksym_collector_pending(c), 0);
	sample(c, 1, 0xffffffffc0100000, NULL, 0);
	for (int i = 0; i < 3; i++)
		sample(c, 1, 0xffffffff81000100, chain, 6);
	taken(c, names, sizeof(names));
	assert_string_equal(names, "last_alias[] mod_a[one] mod_b[two] ");
	sample(c, 1, 0xffffffff81000101, chain, 6);
	assert_int_equal(ksym_collector_pending(c), 0);
	sample(c, 1, 0xffffffff81000000, NULL, 0);
	taken(c, names, sizeof(names));
	assert_string_equal(names, "_text[] ");
	/* Unknown addresses count once while they are remembered. */
	sample(c, 1, 0xffffffff90000000, NULL, 0);
	sample(c, 1, 0xffffffff90000000, NULL, 0);
	assert_int_equal(ksym_collector_unknown(c), 1);
	assert_int_equal(ksym_collector_pending(c), 0);
	ksym_collector_reset(c);
	sample(c, 1, 0xffffffff81000000, NULL, 0);
	taken(c, names, sizeof(names));
	assert_string_equal(names, "_text[] ");
	ksym_collector_free(c);
	host_kallsyms_release(k);

	c = ksym_collector_new(NULL);
	sample(c, 1, 0xffffffff81000100, chain, 6);
	taken(c, names, sizeof(names));
	assert_string_equal(names, "");
	ksym_collector_reset(c);
	ksym_collector_free(c);
}

/* Of padding in front of a function, whatever address it was for, the function is needed as well. */
static void
test_collector_padding(void **state)
{
	static const char padded[] = "ffffffff81000000 T caller\n"
				     "ffffffff81000040 T __pfx_callee\n"
				     "ffffffff81000050 T callee\n"
				     "ffffffff81000090 T last\n";
	static const uint64_t at_start[] = { CONTEXT_KERNEL, 0xffffffff81000010,
					     0xffffffff81000050 };
	static const uint64_t inside[] = { CONTEXT_KERNEL, 0xffffffff81000044, 0xffffffff81000050 };
	struct ksym_collector *c;
	const struct kallsyms *k;
	char names[256];

	assert_int_equal(load_text(padded, &k), 0);
	c = ksym_collector_new(k);
	sample(c, 2, 0, at_start, 3);
	taken(c, names, sizeof(names));
	assert_string_equal(names, "caller[] __pfx_callee[] callee[] ");
	ksym_collector_reset(c);
	sample(c, 2, 0, inside, 3);
	taken(c, names, sizeof(names));
	assert_string_equal(names, "__pfx_callee[] callee[] ");
	ksym_collector_free(c);
	host_kallsyms_release(k);
}

/* Two symbols that begin within 16 bytes, and one that ends in the middle of 16. */
static void
test_collector_neighbours(void **state)
{
	static const char near[] = "ffffffff81000000 T first\n"
				   "ffffffff81000008 T second\n"
				   "ffffffff8100000c T third\n"
				   "ffffffff81000028 T fourth\n"
				   "ffffffff81001000 T last\n";
	static const struct {
		uint64_t addr;
		const char *names;
	} steps[] = {
		{ 0xffffffff81000009, "second[] " }, { 0xffffffff8100000b, "" },
		{ 0xffffffff81000000, "first[] " },  { 0xffffffff8100000f, "third[] " },
		{ 0xffffffff81000011, "" },	     { 0xffffffff8100002f, "fourth[] " },
		{ 0xffffffff81000020, "" },	     { 0xffffffff81000fff, "" },
	};
	struct ksym_collector *c;
	const struct kallsyms *k;
	char names[256];

	assert_int_equal(load_text(near, &k), 0);
	/* In either order: what is remembered of the one must not hide the other. */
	for (int down = 0; down < 2; down++) {
		c = ksym_collector_new(k);
		for (size_t i = 0; i < 8 && !down; i++) {
			sample(c, 1, steps[i].addr, NULL, 0);
			taken(c, names, sizeof(names));
			assert_string_equal(names, steps[i].names);
		}
		for (uint64_t addr = 0xffffffff81001010; down && addr-- > 0xffffffff81000000;)
			sample(c, 1, addr, NULL, 0);
		taken(c, names, sizeof(names));
		assert_string_equal(names, down ? "first[] second[] third[] fourth[] last[] " : "");
		ksym_collector_free(c);
	}
	host_kallsyms_release(k);
}

/* A newer table names what the open block had before, and says nothing twice. */
static void
test_collector_succeeds(void **state)
{
	static const char before[] = "ffffffff81000000 T _text\nffffffff81000100 T one\n"
				     "ffffffffc0000000 t first\t[went]\n"
				     "ffffffffc0000800 t second\t[went]\n";
	static const char after[] = "ffffffff81000000 T _text\nffffffff81000100 T one\n"
				    "ffffffffc0040000 t third\t[came]\n";
	struct ksym_collector *old, *new;
	const struct kallsyms *k, *later;
	char names[256];

	assert_int_equal(load_text(before, &k), 0);
	assert_int_equal(load_text(after, &later), 0);
	old = ksym_collector_new(k);
	new = ksym_collector_new(later);
	sample(old, 1, 0xffffffff81000100, NULL, 0);
	sample(old, 1, 0xffffffffc0000000, NULL, 0);
	taken(old, names, sizeof(names));
	assert_string_equal(names, "one[] first[went] ");
	sample(old, 1, 0xffffffffc0040010, NULL, 0);
	ksym_collector_succeed(new, old);
	taken(new, names, sizeof(names));
	assert_string_equal(names, "third[came] ");
	for (int i = 0; i < 2; i++) {
		sample(i ? new : old, 1, 0xffffffff81000100, NULL, 0);
		sample(i ? new : old, 1, 0xffffffff81000000, NULL, 0);
		sample(i ? new : old, 1, 0xffffffffc0000800, NULL, 0);
	}
	taken(old, names, sizeof(names));
	assert_string_equal(names, "second[went] ");
	taken(new, names, sizeof(names));
	assert_string_equal(names, "_text[] ");
	ksym_collector_free(old);
	ksym_collector_free(new);
	host_kallsyms_release(k);
	host_kallsyms_release(later);
}

/* Where a record tells what code was made, the table is not asked: neither of what was there before. */
static void
test_collector_told(void **state)
{
	static const char table[] = "ffffffff81000000 T _text\n"
				    "ffffffffc0000000 t bpf_prog_1\t[bpf]\n"
				    "ffffffffc0000100 t bpf_prog_2\t[bpf]\n"
				    "ffffffffc0000200 t bpf_prog_3\t[bpf]\n";
	struct ksym_collector *c;
	const struct kallsyms *k;
	char names[256];

	assert_int_equal(load_text(table, &k), 0);
	c = ksym_collector_new(k);
	ksym_collector_told(c, 0xffffffffc0000000, 0x180);
	ksym_collector_told(c, 0xffffffff81000000, 0x40); /* the kernel's own: not so */
	ksym_collector_told(c, 0xffffffffd0000000, 0x40);
	for (int file = 0; file < 2; file++) {
		sample(c, 1, 0xffffffff81000000, NULL, 0);
		for (unsigned int i = 0; i < 3; i++)
			sample(c, 1, 0xffffffffc0000010 + 0x100 * i, NULL, 0);
		taken(c, names, sizeof(names));
		assert_string_equal(names, "_text[] bpf_prog_3[bpf] ");
		ksym_collector_reset(c);
	}
	assert_int_equal(ksym_collector_unknown(c), 0);
	ksym_collector_free(c);
	host_kallsyms_release(k);
}

/* More addresses than are remembered: each symbol once all the same. */
static void
test_collector_forgets(void **state)
{
	enum { SYMBOLS = 40000, LINE = 40 };
	char *many = malloc(SYMBOLS * LINE + 1), *p = many;
	struct ksym_collector *c;
	const struct kallsyms *k;
	uint64_t x = 1;

	assert_non_null(many);
	for (int i = 0; i < SYMBOLS; i++)
		p += snprintf(p, LINE, "%016llx T f%d\n",
			      0xffffffff81000000ull + 24ull * (unsigned)i, i);
	assert_int_equal(load_text(many, &k), 0);
	c = ksym_collector_new(k);
	for (int i = 0; i < 20 * SYMBOLS; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		sample(c, 1, 0xffffffff81000000 + (x >> 33) % (24 * SYMBOLS), NULL, 0);
	}
	assert_int_equal(ksym_collector_pending(c), SYMBOLS);
	assert_int_equal(ksym_collector_unknown(c), 0);
	ksym_collector_free(c);
	host_kallsyms_release(k);
	free(many);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_are_shared),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_collector),
		cmocka_unit_test(test_collector_padding),
		cmocka_unit_test(test_collector_neighbours),
		cmocka_unit_test(test_collector_succeeds),
		cmocka_unit_test(test_collector_told),
		cmocka_unit_test(test_collector_forgets),
	};

	return cmocka_run_group_tests_name("host_kallsyms", tests, NULL, NULL);
}
