/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a table of JIT code has at an address then; name NULL: nothing. */
#ifndef TESTS_LAB_JIT_EXPECT_H
#define TESTS_LAB_JIT_EXPECT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/jit/jit_table.h"

static inline void
jit_expect(const struct jit_table *t, uint64_t address, uint64_t time_ns, const char *name)
{
	struct jit_symbol symbol;

	if (!name) {
		assert_false(jit_table_find(t, address, time_ns, &symbol));
		return;
	}
	assert_true(jit_table_find(t, address, time_ns, &symbol));
	assert_string_equal(symbol.name, name);
}

#endif
