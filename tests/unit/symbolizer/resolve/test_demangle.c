/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling: against c++filt over a real library, known Rust names, and hostile names. */
#include "symbolizer/resolve/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <cmocka.h>

#include "tests/lab/elf_lab.h"

static const char *
full(const char *name)
{
	static char out[DEMANGLE_OUTPUT_MAX];

	return demangle(name, DEMANGLE_FULL, out, sizeof(out)) ? out : name;
}

static const char *
brief(const char *name)
{
	static char out[DEMANGLE_OUTPUT_MAX];

	return demangle(name, DEMANGLE_SHORT, out, sizeof(out)) ? out : name;
}

static void
known_names(void **state)
{
	assert_string_equal(brief("main"), "main");
	assert_string_equal(brief(""), "");
	assert_string_equal(brief("_Z"), "_Z");
	assert_string_equal(brief("_ZN1n1S4spinEil"), "n::S::spin");
	assert_string_equal(full("_ZN1n1S4spinEil"), "n::S::spin(int, long)");
	assert_string_equal(brief("_ZN1n4tmplIiEET_S1_RKSt6vectorIS1_SaIS1_EE"), "n::tmpl<int>");
	assert_string_equal(brief("runtime.gcBgMarkWorker"), "runtime.gcBgMarkWorker");
	/* Stubs stay what they are; perf names them so. */
	assert_string_equal(brief("_ZN1n1S4spinEil@plt"), "n::S::spin@plt");
	assert_string_equal(full("_ZN1n1S4spinEil@plt"), "n::S::spin(int, long)@plt");
	assert_string_equal(brief("_RNvCs1234_7mycrate3foo@plt"), "mycrate::foo@plt");
	assert_string_equal(brief("_Z@plt"), "_Z@plt");
	assert_string_equal(brief("@plt"), "@plt");
	assert_string_equal(brief("free@plt"), "free@plt");
}

static void
suffixes_of_clones_as_perf_and_cxxfilt(void **state)
{
	assert_string_equal(brief("_Z3fooi.cold"), "foo");
	assert_string_equal(full("_Z3fooi.cold"), "foo(int) [clone .cold]");
	assert_string_equal(brief("_Z3fooi.part.0.constprop.1"), "foo");
	assert_string_equal(full("_Z3fooi.part.0.constprop.1"),
			    "foo(int) [clone .part.0] [clone .constprop.1]");
	assert_string_equal(brief("plain_c.constprop.0"), "plain_c.constprop.0");
	assert_string_equal(brief("_Z3fooi.llvm.1234567890"), "foo");
	assert_string_equal(brief("_Z3fooi.llvm.1234567890.cold"), "foo");
	assert_string_equal(full("_Z3fooi.llvm.1234567890.cold"), "foo(int) [clone .cold]");
}

/* As util/demangle-ocaml.c of perf. */
static void
ocaml_names(void **state)
{
	assert_string_equal(brief("camlM__$2b$5e_81"), "M.+^_81");
	assert_string_equal(full("camlStdlib__List__rev_append_123"), "Stdlib.List.rev_append_123");
	assert_string_equal(brief("camlStdlib$5fx__f_1@plt"), "Stdlib_x.f_1@plt");
	assert_string_equal(brief("camlM.f_1"), "M.f_1");
	assert_string_equal(brief("camlM__$zz_$"), "M.$zz_$");
	/* Of these there is no name: the runtime, C, and a string that would end. */
	assert_string_equal(brief("caml_main"), "caml_main");
	assert_string_equal(brief("camlm__f"), "camlm__f");
	assert_string_equal(brief("camlM__$00f"), "M.$00f");
}

/*
 * Constraints, an explicit this, kinds of template parameters: what the libiberty at hand does not know stays as it is
 * in the file, and is never another name.
 */
static void
newer_names(void **state)
{
	static const char *const names[][2] = {
		{ "_Z4spinITk5smalllET_S0_", "long spin<long>(long)" },
		{ "_ZNH1S1fES_", "S::f(this S)" },
		{ "_Z1fITnDaLi1EEvv", "void f<1>()" },
		{ "_Z1fITpTnDaJLi1ELi2EEEvv", "void f<1, 2>()" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(full(names[i][0]), names[i][0]) != 0)
			assert_string_equal(full(names[i][0]), names[i][1]);
}

static void
rust_names(void **state)
{
	static const char *const names[][2] = {
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
		  "3bar17h930b740aa94f1d3aE",
		  "<Test + 'static as foo::Bar<Test>>::bar" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.8459621578",
		  "core::fmt::Formatter::pad" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_string_equal(brief(names[i][0]), names[i][1]);
		assert_string_equal(full(names[i][0]), names[i][1]);
	}
}

/* Every name of libstdc++, at once through c++filt. */
static void
against_filt(const char *flags, const char *(*mine)(const char *))
{
	FILE *raw, *theirs;
	char name[8192], want[65536];
	size_t compared = 0;

	lab_run("nm -D --defined-only \"$(${CXX:-g++} -print-file-name=libstdc++.so.6)\" |"
		"sed -n 's/@.*//; s/.* \\(_Z.*\\)/\\1/p' >names");
	lab_run("c++filt %s <names >theirs", flags);
	raw = fopen(lab_path("names"), "re");
	theirs = fopen(lab_path("theirs"), "re");
	assert_true(raw != NULL && theirs != NULL);
	while (fgets(name, sizeof(name), raw) != NULL &&
	       fgets(want, sizeof(want), theirs) != NULL) {
		name[strcspn(name, "\n")] = want[strcspn(want, "\n")] = '\0';
		assert_string_equal(mine(name), want);
		compared++;
	}
	fclose(raw);
	fclose(theirs);
	assert_true(compared > 1000);
}

static void
full_names_as_filt_has_them(void **state)
{
	against_filt("-i", full);
}

static void
short_names_as_filt_has_them(void **state)
{
	against_filt("-i -p", brief);
}

/* libiberty by itself leaves names over 1 KiB as they are. */
static void
long_names(void **state)
{
	char name[DEMANGLE_INPUT_MAX + 1] = "_Z3fooI";

	for (int i = 0; i < 300; i++)
		strlcat(name, "10abcdefghij", sizeof(name));
	strlcat(name, "EvT_", sizeof(name));
	assert_int_equal(strncmp(brief(name), "foo<abcdefghij, abcdefghij, ", 28), 0);
	assert_int_equal(strncmp(full(name), "void foo<abcdefghij, ", 21), 0);
}

static void
hostile_names(void **state)
{
	static const char *const pieces[] = { "P", "K", "N1a", "I", "S0_", "T_", "F", "_R", "E" };
	char name[3 * DEMANGLE_INPUT_MAX];
	char out[64];

	/* Nested as deep as the length allows, and far over it. */
	for (size_t k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++) {
		for (size_t length = 100; length < sizeof(name); length *= 3) {
			size_t n = (size_t)snprintf(name, sizeof(name), "_Z3foo");

			while (n + strlen(pieces[k]) < length) {
				memcpy(name + n, pieces[k], strlen(pieces[k]));
				n += strlen(pieces[k]);
			}
			name[n] = '\0';
			brief(name);
			full(name);
			memcpy(name, "_RNvC", 5);
			brief(name);
		}
	}
	/* Every step doubles: without a bound this would print 2^40 letters. */
	snprintf(name, sizeof(name), "_Z1fM1aS_");
	for (int i = 0; i < 40; i++) {
		char step[32];

		snprintf(step, sizeof(step), "FS%c_S%c_E",
			 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
			 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
		strlcat(name, step, sizeof(name));
	}
	full(name);
	/* A buffer that is too small: the name stays as it is. */
	assert_int_equal(demangle("_ZN1n1S4spinEil", DEMANGLE_SHORT, out, 10), 0);
	assert_int_equal(demangle("_ZN1n1S4spinEil", DEMANGLE_SHORT, out, 11), 10);
	assert_int_equal(demangle("_ZN1n1S4spinEil", DEMANGLE_SHORT, out, 0), 0);
	assert_int_equal(demangle("_Z3fooi.cold", DEMANGLE_FULL, out, 12), 0);
}

/* Without a bound 2^60 steps each, with nothing printed. */
static void
slow_names(void **state)
{
	char pack[1024] = "_Z1fIDp1AI", conversion[1024] = "_Z";
	char out[DEMANGLE_OUTPUT_MAX];
	unsigned cut = 0;

	for (int i = 0; i < 60; i++) {
		strlcat(pack, "S0_I", sizeof(pack));
		strlcat(conversion, "cvT_IL_Z", sizeof(conversion));
	}
	strlcat(pack, "iiE", sizeof(pack));
	strlcat(conversion, "1fvEE", sizeof(conversion));
	for (int i = 0; i < 60; i++) {
		const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		const int k = i + 1;
		char step[8];

		if (k < 36)
			snprintf(step, sizeof(step), "S%c_E", digits[k]);
		else
			snprintf(step, sizeof(step), "S%c%c_E", digits[k / 36], digits[k % 36]);
		strlcat(pack, step, sizeof(pack));
		strlcat(conversion, "vEE", sizeof(conversion));
	}
	strlcat(pack, "Evv", sizeof(pack));
	assert_string_equal(brief(pack), pack);
	assert_string_equal(brief(conversion), conversion);
	/* Whoever has many of them has no more time, for long names alone. */
	for (int i = 0; i < 100; i++)
		assert_int_equal(demangle_patiently(pack, DEMANGLE_SHORT, out, sizeof(out), &cut),
				 0);
	assert_true(cut > 0 && cut < 50);
	assert_true(demangle_patiently("_ZN1n1S4spinEil", DEMANGLE_FULL, out, sizeof(out), &cut));
	long_names(state);
}

static void
random_names(void **state)
{
	static const char letters[] = "_ZRNSTKPIEFMLsvijclxdA0123456789.$abtCDh";
	char name[200];

	srandom(7);
	for (int i = 0; i < 30000; i++) {
		size_t n = 2 + (size_t)random() % 150;

		name[0] = '_';
		name[1] = i % 2 ? 'Z' : 'R';
		for (size_t k = 2; k < n; k++)
			name[k] = letters[(size_t)random() % (sizeof(letters) - 1)];
		name[n] = '\0';
		brief(name);
		full(name);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names),
		cmocka_unit_test(suffixes_of_clones_as_perf_and_cxxfilt),
		cmocka_unit_test(ocaml_names),
		cmocka_unit_test(newer_names),
		cmocka_unit_test(rust_names),
		cmocka_unit_test(full_names_as_filt_has_them),
		cmocka_unit_test(short_names_as_filt_has_them),
		cmocka_unit_test(long_names),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(slow_names),
		cmocka_unit_test(random_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
