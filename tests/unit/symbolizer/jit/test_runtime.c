/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which runtime a path is of: names as distributions and builders of runtimes have them, and what only looks so. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "symbolizer/jit/runtime.h"

static void
known_by_their_objects(void **state)
{
	static const struct {
		const char *path;
		enum runtime_kind kind;
		uint32_t version;
	} cases[] = {
		{ "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", RUNTIME_java,
		  RUNTIME_VERSION(17, 0) },
		{ "/usr/lib/jvm/java-1.8.0-openjdk/jre/lib/amd64/server/libjvm.so", RUNTIME_java,
		  RUNTIME_VERSION(1, 8) },
		{ "/opt/jdk-21.0.2+13/lib/server/libjvm.so", RUNTIME_java, RUNTIME_VERSION(21, 0) },
		{ "/opt/java/openjdk/lib/server/libjvm.so", RUNTIME_java, 0 },
		{ "/opt/ibm/lib/default/libj9vm29.so", RUNTIME_openj9, 0 },
		{ "/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.11/libcoreclr.so",
		  RUNTIME_dotnet, RUNTIME_VERSION(8, 0) },
		{ "/usr/bin/node", RUNTIME_node, 0 },
		{ "/usr/bin/node-20", RUNTIME_node, RUNTIME_VERSION(20, 0) },
		{ "/usr/lib/x86_64-linux-gnu/libnode.so.108", RUNTIME_node, 0 },
		{ "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", RUNTIME_erlang, 0 },
		{ "/usr/lib/julia/libjulia-internal.so.1.10", RUNTIME_julia, 0 },
		{ "/usr/bin/php8.2", RUNTIME_php, RUNTIME_VERSION(8, 2) },
		{ "/usr/sbin/php-fpm8.2", RUNTIME_php, RUNTIME_VERSION(8, 2) },
		{ "/usr/lib/php/20220829/opcache.so", RUNTIME_php, 0 },
		{ "/usr/bin/ruby3.1", RUNTIME_ruby, RUNTIME_VERSION(3, 1) },
		{ "/usr/lib/x86_64-linux-gnu/libruby-3.3.so.3.3.4", RUNTIME_ruby,
		  RUNTIME_VERSION(3, 3) },
		{ "/usr/lib64/libruby.so.3.3", RUNTIME_ruby, RUNTIME_VERSION(3, 3) },
		{ "/usr/bin/luajit-2.1.0-beta3", RUNTIME_luajit, RUNTIME_VERSION(2, 1) },
		{ "/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2.1.0", RUNTIME_luajit, 0 },
		{ "/usr/bin/python3.11", RUNTIME_python, RUNTIME_VERSION(3, 11) },
		{ "/usr/lib/libpython3.14t.so.1.0", RUNTIME_python, RUNTIME_VERSION(3, 14) },
		{ "/usr/lib/libpython3.so", RUNTIME_python, RUNTIME_VERSION(3, 0) },
		{ "/usr/bin/python3.12 (deleted)", RUNTIME_python, RUNTIME_VERSION(3, 12) },
		/* What only looks so. */
		{ "/usr/bin/node_exporter", RUNTIME_none, 0 },
		{ "/usr/lib/libjvm.so.debug", RUNTIME_none, 0 },
		{ "/usr/bin/python", RUNTIME_none, 0 },
		{ "/node/prog", RUNTIME_none, 0 },
		{ "/usr/lib/libpython.so", RUNTIME_none, 0 },
		{ "//anon", RUNTIME_none, 0 },
		{ "node", RUNTIME_none, 0 },
		{ "", RUNTIME_none, 0 },
		{ "/", RUNTIME_none, 0 },
		{ " (deleted)", RUNTIME_none, 0 },
		{ "/usr/bin/python99999999999999999999.1", RUNTIME_none, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct runtime r = runtime_of_path(cases[i].path);

		if (r.kind != cases[i].kind || r.version != cases[i].version)
			fail_msg("%s: %s %#x", cases[i].path, runtime_key(r.kind), r.version);
	}
}

static void
of_several_the_one_that_makes_code(void **state)
{
	const struct runtime java = { RUNTIME_java, 0 };
	const struct runtime python = { RUNTIME_python, RUNTIME_VERSION(3, 12) };
	const struct runtime abi = { RUNTIME_python, RUNTIME_VERSION(3, 0) };
	const struct runtime none = { RUNTIME_none, 0 }, openj9 = { RUNTIME_openj9, 0 };

	(void)state;
	assert_int_equal(runtime_prefer(java, python).kind, RUNTIME_java);
	/* SIGQUIT has it write a dump. */
	assert_int_equal(runtime_prefer(java, openj9).kind, RUNTIME_openj9);
	assert_int_equal(runtime_prefer(openj9, java).kind, RUNTIME_openj9);
	assert_int_equal(runtime_prefer(python, java).kind, RUNTIME_java);
	assert_int_equal(runtime_prefer(none, python).kind, RUNTIME_python);
	assert_int_equal(runtime_prefer(python, none).kind, RUNTIME_python);
	assert_int_equal(runtime_prefer(abi, python).version, python.version);
	assert_int_equal(runtime_prefer(python, abi).version, python.version);
	assert_int_equal(runtime_prefer(none, none).kind, RUNTIME_none);
}

/* A version that the path does not tell may be any. */
static void
versions_decide_what_can_be_asked(void **state)
{
	const struct runtime cases[] = { { RUNTIME_python, RUNTIME_VERSION(3, 9) },
					 { RUNTIME_python, RUNTIME_VERSION(3, 14) },
					 { RUNTIME_java, RUNTIME_VERSION(1, 8) },
					 { RUNTIME_java, 0 } };
	const bool asked[] = { false, true, false, true };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(runtime_may_be(&cases[i], runtime_asked_since(cases[i].kind)),
				 asked[i]);
	assert_int_equal(runtime_asked_since(RUNTIME_node), 0);
	for (enum runtime_kind k = RUNTIME_none + 1; k < RUNTIME_KINDS; k++)
		assert_true(runtime_name(k) && runtime_option(k));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_by_their_objects),
		cmocka_unit_test(of_several_the_one_that_makes_code),
		cmocka_unit_test(versions_decide_what_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
