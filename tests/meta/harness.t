#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @alone it looks at what a run leaves
#
# The harness itself: a test that fails, dies, stops early or hangs fails the run.
. "$(dirname "$0")/../lib.sh"

cat >case.c <<'C'
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void good(void **state) { (void)state; }
static void skipped(void **state) { (void)state; print_message("skipped: %s\n", "why"); skip(); }
static void last(void **state)
{
	(void)state;
	switch (CASE) {
	case 1: assert_int_equal(1, 2); break;
	case 2: abort(); break;
	case 3: exit(0); break;
	case 4: raise(SIGSEGV); break;
	case 5: for (;;) pause(); break;
	}
}
int main(void)
{
	const struct CMUnitTest a[] = { cmocka_unit_test(good), cmocka_unit_test(skipped) };
	const struct CMUnitTest b[] = { cmocka_unit_test(good), cmocka_unit_test(last) };
	int failed = cmocka_run_group_tests_name("a", a, NULL, NULL);
	return failed + cmocka_run_group_tests_name("b", b, NULL, NULL);
}
C

outcome() # FILE: prove's verdict on it
{
	(cd "$TOP" && TEST_TIMEOUT=${limit:-2} prove -e tests/run.sh "$TMP/$1") >out 2>err
	sed -n 's/^Result: //p' out
}

for n in 0 1 2 3 4 5; do
	"${CC:-gcc}" -DCASE=$n -o unit$n case.c -lcmocka || bail "no cmocka"
done
is "$(outcome unit0)" PASS "two groups and a skipped test pass"
like "$(cat out)" 'Tests=4' "all of them counted"
like "$(cd "$TOP" && tests/run.sh "$TMP/unit0")" '^ok 2 - skipped # SKIP why$' "and told why it was skipped"
is "$(outcome unit1)" FAIL "a failed assertion fails"
like "$(cat err)" '^# failed: [0-9]+ - last' "and is told where prove shows it"
like "$(cat err)" '^# .*case\.c:[0-9]+: error' "with its line"
is "$(outcome unit2)" FAIL "abort() fails"
is "$(outcome unit3)" FAIL "exit(0) in the middle fails"
is "$(outcome unit4)" FAIL "a signal fails"
is "$(outcome unit5)" FAIL "a hang fails"

shell() # BODY: a *.t
{
	printf '. "%s/tests/lib.sh"\n%s\n' "$TOP" "$1" >case.t
}
shell 'plan 1; ok "true" true'
is "$(outcome case.t)" PASS "a shell test passes"
shell 'plan 1; ok "false" false'
is "$(outcome case.t)" FAIL "a failed one fails"
shell 'plan 2; ok "true" true'
is "$(outcome case.t)" FAIL "fewer tests than planned fail"
shell 'ok "true" true; exit 3; done_testing'
is "$(outcome case.t)" FAIL "an early exit fails"
shell 'ok "true" true; done_testing; kill -SEGV $$'
is "$(outcome case.t)" FAIL "a crash after the last test fails"
shell 'pass a; background sleep 100; echo $! >"'"$TMP"'/pid"; echo "$TMP" >"'"$TMP"'/dir"; done_testing'
is "$(outcome case.t)" PASS "a test with a background process ends"
nok "which is gone" kill -0 "$(cat pid)"
nok "as is its directory" test -e "$(cat dir)"
shell 'pass a; sleep 100 & pid=$!; at_exit '"'kill -KILL \"\$pid\"'"'; done_testing'
is "$(outcome case.t)" PASS "what is to be done at exit sees the test's variables"
# A grandchild that the test does not know of holds prove's pipe, and would hold it for ever.
shell 'plan 1; pass a; (sleep 100 & echo $! >"'"$TMP"'/pid")'
is "$(outcome case.t)" FAIL "a process left behind fails"
like "$(cat err)" "left behind: $(cat pid): sleep 100" "and is named"
nok "and ended" grep -q "^State:.[DIRST]" "/proc/$(cat pid)/status"

# --- a lane --------------------------------------------------------------------------------------

if unshare --mount --uts --ipc --net ip link set lo up 2>/dev/null; then
	export HOST_UTS HOST_FILE=/tmp/of-the-host.$$
	HOST_UTS=$(readlink /proc/self/ns/uts)
	at_exit "rm -f '$HOST_FILE'"
	touch "$HOST_FILE"
	mkdir -p b/tests/unit/daemon
	# What it does to the host name and to /mnt would be the host's without a lane.
	cat >b/tests/unit/daemon/test_lane <<-'END'
		#!/bin/bash
		[ "$(readlink /proc/self/ns/uts)" != "$HOST_UTS" ] || { echo "not ok 1 - no lane"; exit 1; }
		{ ip -br link show up | wc -l; ls "$HOST_FILE"; } >"${0%/*}/seen" 2>/dev/null
		touch /tmp/of-a-lane && hostname of-a-lane && mount -t tmpfs none /mnt && touch /mnt/of-a-lane
		echo "ok 1 - $?"
		echo 1..1
	END
	chmod 755 b/tests/unit/daemon/test_lane
	lane() # the outcome of a test in a lane
	{
		(cd "$TOP" && BUILD=$TMP/b prove -e tests/run.sh "$TMP/b/tests/unit/daemon/$1") >out 2>err
		sed -n 's/^Result: //p' out
	}
	is "$(lane test_lane)" PASS "a test has a /tmp, mounts and a name of the host in a lane"
	is "$(cat b/tests/unit/daemon/seen)" 1 "where loopback alone is up, and the host's /tmp is not seen"
	is "$(ls /tmp/of-a-lane /mnt/of-a-lane 2>/dev/null; hostname | grep -x of-a-lane)" "" "and nothing of it stays"
	printf '%s\n' '#!/bin/sh' 'mkdir /tmp/spoor-test.left; echo ok 1 - a; echo 1..1' >b/tests/unit/daemon/test_leaves
	chmod 755 b/tests/unit/daemon/test_leaves
	is "$(lane test_leaves)" FAIL "what a test leaves in the /tmp of its lane fails it"
	like "$(cat err)" 'left behind: in /tmp: spoor-test\.left' "and is named"
else
	skip "a lane needs root, and namespaces" 5
fi

# --- the tiers, their budgets, and what is left behind ------------------------------------------

tier() # TIER BUDGET BODY: the outcome of a test of this tier with this budget
{
	printf '# @budget %ss\n. "%s/tests/lib.sh"\n%s\n' "$2" "$TOP" "$3" >case.t
	TEST_TIER=$1 limit=60 outcome case.t
}
# Until it has used a second and a half of CPU time in user mode.
spend='while read -r s </proc/$$/stat; set -- ${s##*) }; [ ${12} -lt 150 ]; do for ((i = 0; i < 20000; i++)); do :; done; done; plan 1; pass a'
is "$(tier fast 0 "$spend")" FAIL "more than four times the budget fails in the fast tier"
like "$(cat err)" 'over its budget: .*/case\.t took [0-9]+ s of CPU time in user mode, four times the budget is 0 s' "and is named"
is "$(tier full 0 "$spend")" PASS "the full tier has no budget"
is "$(tier fast 60 "$spend")" PASS "nor has it an effect within"

# --- what a change can have broken ---------------------------------------------------------------

mkdir -p tree/tests/read tree/tests/loads tree/tests/oracles tree/b tree/docs
cp "$TOP/tests/changed.sh" tree/tests
(
	cd tree || exit
	echo 'int a(void);' >a.h
	printf '#include "a.h"\nint a(void) { return 1; }\n' >a.c
	echo 'int b(void) { return 2; }' >b.c
	echo 'int c(void) { return 3; }' >c.c
	printf 'int a(void);\nint main(void) { return a() - 1; }\n' >test_a.c
	printf 'int b(void);\nint main(void) { return b() - 2; }\n' >test_b.c
	echo ': oracle.py' >tests/read/x.t
	echo 'need_recordings l' >tests/read/z.t
	echo 'recording l' >tests/read/za.t
	touch tests/loads/l.sh tests/read/y.t tests/oracles/oracle.py docs/page.8
	for source in a b c test_a test_b; do
		"${CC:-cc}" -MMD -c -o b/$source.o $source.c || exit
	done
	"${CC:-cc}" -o b/test_a b/test_a.o b/a.o && "${CC:-cc}" -o b/test_b b/test_b.o b/b.o || exit
	echo b >.gitignore
	git init -q && git add . && git -c user.name=n -c user.email=n@localhost commit -q -m m
) || bail "no tree"
chosen() # FILE...: the tests for a change of these files
{
	local file

	for file; do
		echo >>"tree/$file"
	done
	(cd tree && BUILD=b tests/changed.sh 1 b/test_a b/test_b 2>../said | xargs)
	git -C tree checkout -q . && git -C tree clean -fdq
}
is "$(chosen)" "" "CHANGED=1: no change, no test"
is "$(chosen b.c)" "b/test_b" "a source: what is linked of it"
is "$(chosen a.h)" "b/test_a" "a header: what includes it"
is "$(chosen a.h b.c)" "b/test_a b/test_b" "both"
is "$(chosen test_a.c)" "b/test_a" "a unit program itself"
is "$(chosen tests/read/y.t tests/read/new.t)" "tests/read/new.t tests/read/y.t" "shell tests, new ones too"
is "$(chosen tests/oracles/oracle.py docs/page.8)" "tests/meta/docs.t tests/read/x.t" "an oracle, a manual page"
is "$(chosen tests/loads/l.sh)" "tests/read/z.t tests/read/za.t" "a load: what may read its recording"
is "$(chosen c.c)" "" "what no unit program has"
like "$(cat said)" '^c\.c: in no unit program: make check has its tests$' "is said"
rm -rf tree/.git
nok "not without a repository" env BUILD=b tree/tests/changed.sh 1 tree/b/test_a
like "$(cat .ok)" ': no git repository that has the revision HEAD$' "which is said"

# --- the run of a tier ---------------------------------------------------------------------------

suite() # FILE...: tests/suite.sh of the fast tier; its output is in "out"
{
	(cd "$TOP" && tests/suite.sh fast "$@") >out 2>err
}
shell 'plan 1; pass a'
ok "the suite passes" suite "$TMP/case.t"
like "$(cat out)" "^ +[0-9.]+ +[0-9.]+  .*/case\.t\$" "and ends with the slowest"
mkdir -p b/tests/unit/daemon && ln -sf "$TMP/unit1" b/tests/unit/daemon/test_bad
nok "a unit program that fails beside others fails the suite" suite "$TMP/b/tests/unit/daemon/test_bad" "$TMP/case.t"
like "$(cat out)" '^Result: FAIL$' "when it has run alone, too"
shell 'plan 1; pass a; mkdir "$TMP.left"'
nok "what a test leaves in /tmp fails the suite" suite "$TMP/case.t"
like "$(cat out)" '^> file .*/spoor-test\..*\.left$' "and is named"
rmdir "${TMPDIR:-/tmp}"/spoor-test.*.left
if [ "$(id -u)" -eq 0 ]; then
	shell 'plan 1; pass a; mkdir '"$TMP"'/mnt; mount -t tmpfs none '"$TMP"'/mnt'
	nok "a mount that is left fails the suite" suite "$TMP/case.t"
	like "$(cat out)" "^> mount $TMP/mnt tmpfs\$" "and is named"
	umount "$TMP/mnt" 2>/dev/null # it is gone where the suite had a mount namespace of its own
else
	skip "mounting needs root" 2
fi

done_testing
