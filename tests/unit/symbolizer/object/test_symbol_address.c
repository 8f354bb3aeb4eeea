/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of our own variables and functions, and of a kernel's symbols as we write them. */
#include "symbolizer/object/symbol_address.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

int symbol_address_here = 1;
int symbol_address_zero[300];
_Thread_local int symbol_address_own = 1;
int symbol_address_code(void);

__attribute__((noinline)) int
symbol_address_code(void)
{
	return symbol_address_here + symbol_address_own;
}

static void
check(const char *name, const void *at)
{
	char path[PATH_MAX];
	uint64_t address = 0;
	bool moved;

	assert_non_null(realpath("/proc/self/exe", path));
	moved = symbol_address_find(path, name, 0, &address) == SYMBOL_ADDRESS_MOVED;
	if (!moved)
		assert_int_equal(address, (uintptr_t)at);
	assert_int_equal(symbol_address_find(path, name, getpid(), &address), SYMBOL_ADDRESS_FOUND);
	assert_int_equal(address, (uintptr_t)at);
}

static void
test_of_this_process(void **state)
{
	(void)state;
	check("symbol_address_here", &symbol_address_here);
	check("symbol_address_zero", symbol_address_zero);
	check("symbol_address_code", (const void *)(uintptr_t)symbol_address_code);
}

static void
test_none(void **state)
{
	char path[PATH_MAX];
	uint64_t address = 7;

	(void)state;
	assert_non_null(realpath("/proc/self/exe", path));
	assert_int_equal(symbol_address_find("/nowhere", "main", 0, &address),
			 SYMBOL_ADDRESS_NO_FILE);
	assert_int_equal(symbol_address_find("/etc/passwd", "main", 0, &address),
			 SYMBOL_ADDRESS_NO_ELF);
	assert_int_equal(symbol_address_find(path, "no_such_symbol", 0, &address),
			 SYMBOL_ADDRESS_UNKNOWN);
	/* At another address in each thread. */
	assert_int_equal(symbol_address_find(path, "symbol_address_own", 0, &address),
			 SYMBOL_ADDRESS_UNKNOWN);
	assert_int_equal(address, 7);
}

static void
kernel_is(const char *text, const char *name, enum symbol_address_result result, uint64_t at)
{
	char path[] = "/tmp/spoor-kallsyms.XXXXXX";
	int fd = mkstemp(path);
	uint64_t address = 0;

	assert_true(fd >= 0);
	assert_int_equal(dprintf(fd, "%s", text) > 0, 1);
	close(fd);
	assert_int_equal(symbol_address_kernel(path, name, &address), result);
	if (result == SYMBOL_ADDRESS_FOUND)
		assert_int_equal(address, at);
	assert_int_equal(unlink(path), 0);
}

static void
test_kernel(void **state)
{
	static const char text[] = "ffffffff81000000 T _stext\nffffffff81000000 T alias\n"
				   "odd line\nffffffff82000010 D word\n"
				   "ffffffff82000018 d twice\nffffffff82000020 d twice\n"
				   "ffffffff82000028 d same\nffffffff82000028 D same\n"
				   "ffffffffa0000040 b of_module\t[mod]\nffffffff82000030 A";
	uint64_t address;

	(void)state;
	kernel_is(text, "_stext", SYMBOL_ADDRESS_FOUND, 0xffffffff81000000);
	kernel_is(text, "alias", SYMBOL_ADDRESS_FOUND, 0xffffffff81000000);
	kernel_is(text, "word", SYMBOL_ADDRESS_FOUND, 0xffffffff82000010);
	kernel_is(text, "same", SYMBOL_ADDRESS_FOUND, 0xffffffff82000028);
	kernel_is(text, "of_module", SYMBOL_ADDRESS_FOUND, 0xffffffffa0000040);
	kernel_is(text, "twice", SYMBOL_ADDRESS_SEVERAL, 0);
	kernel_is(text, "wor", SYMBOL_ADDRESS_UNKNOWN, 0);
	kernel_is("0000000000000000 D word\n", "word", SYMBOL_ADDRESS_HIDDEN, 0);
	assert_int_equal(symbol_address_kernel("/nowhere", "word", &address),
			 SYMBOL_ADDRESS_NO_FILE);
}

/* Between the marks is what each CPU has: as offsets, the first of which is 0, or at the address of the template. */
static void
test_kernel_each_cpu(void **state)
{
	static const char offsets[] =
		"0000000000000000 A fixed_percpu_data\n0000000000000000 A __per_cpu_start\n"
		"0000000000021c00 A runqueues\n0000000000022000 A odd\n0000000000022008 A odd\n"
		"000000000002f000 A __per_cpu_end\nffffffff82000010 D word\n";
	static const char template[] =
		"ffffffff82000010 D word\nffffffff83821c00 D runqueues\n"
		"ffffffff8382f000 D __per_cpu_end\nffffffff8382f000 D behind\n"
		"ffffffff83800000 D __per_cpu_start\nffffffff837ffff8 D before\n";
	static const char hidden[] = "0000000000000000 A __per_cpu_start\n"
				     "0000000000000000 A runqueues\n"
				     "0000000000000000 A __per_cpu_end\n";

	(void)state;
	kernel_is(offsets, "fixed_percpu_data", SYMBOL_ADDRESS_EACH_CPU, 0);
	kernel_is(offsets, "runqueues", SYMBOL_ADDRESS_EACH_CPU, 0);
	kernel_is(offsets, "odd", SYMBOL_ADDRESS_EACH_CPU, 0);
	kernel_is(offsets, "word", SYMBOL_ADDRESS_FOUND, 0xffffffff82000010);
	kernel_is(template, "runqueues", SYMBOL_ADDRESS_EACH_CPU, 0);
	kernel_is(template, "word", SYMBOL_ADDRESS_FOUND, 0xffffffff82000010);
	kernel_is(template, "before", SYMBOL_ADDRESS_FOUND, 0xffffffff837ffff8);
	kernel_is(template, "behind", SYMBOL_ADDRESS_FOUND, 0xffffffff8382f000);
	kernel_is(hidden, "runqueues", SYMBOL_ADDRESS_HIDDEN, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_this_process),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_kernel_each_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
