/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/go_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
test_names(void **state)
{
	(void)state;
	assert_int_equal(go_stack_end_of("runtime.mcall"), GO_STACK_ENDS);
	assert_int_equal(go_stack_end_of("gogo"), GO_STACK_ENDS);
	assert_int_equal(go_stack_end_of("runtime.mstart.abi0"), GO_STACK_ENDS);
	assert_int_equal(go_stack_end_of("runtime.goexit"), GO_STACK_ENDS);
	assert_int_equal(go_stack_end_of("runtime.sigreturn.abi0"), GO_STACK_SIGNAL);
	assert_int_equal(go_stack_end_of("runtime.sigreturn__sigaction.abi0"), GO_STACK_SIGNAL);
	assert_int_equal(go_stack_end_of("runtime.mcall.func1"), GO_STACK_GOES_ON);
	assert_int_equal(go_stack_end_of("runtime.mstart1"), GO_STACK_GOES_ON);
	assert_int_equal(go_stack_end_of("runtime.main"), GO_STACK_GOES_ON);
	assert_int_equal(go_stack_end_of("main.mcall"), GO_STACK_GOES_ON);
	assert_int_equal(go_stack_end_of("runtime."), GO_STACK_GOES_ON);
	assert_int_equal(go_stack_end_of(""), GO_STACK_GOES_ON);
	assert_int_equal(go_stack_end_of(NULL), GO_STACK_GOES_ON);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
