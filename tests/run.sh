#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What prove runs for each test: `prove -e tests/run.sh FILE...`. A *.t is a shell test that speaks
# TAP itself; a *.replay is fed its seeds; anything else is a cmocka program, whose TAP is mended:
# cmocka prints one plan per group, calls a skipped test "not ok", and knows no reason, which the
# test prints as "skipped: REASON" before. A test that hangs is ended.
#
# A test has a budget of CPU time in user mode: 20 seconds, or what a line "# @budget 40s" of its source says
# (marks.sh). In the fast tier (TEST_TIER=fast) a test that took more than four times its budget fails: the slowest
# machine seen took 2.5 times as long as the one where the budgets were made. Time in the kernel is not counted: in a
# busy virtual machine the same calls took ten times as long as in a quiet one.
#
# As root, tests of tests/read, tests/record and tests/daemon and unit programs run in a lane: namespaces and a /tmp of
# their own (lane.sh).
#
# Each test has a session of its own. What is still in it when the test has ended is named, killed,
# and fails the test: it would disturb the tests that follow and, holding prove's pipe, keep the
# whole run from ever ending.
set -u
. "${0%/*}/marks.sh"
times=${TEST_TIMES-}
unset MAKEFLAGS MFLAGS MAKELEVEL TEST_TIMES # of the tests of a test, no line is wanted
export LC_ALL=C TZ=UTC CMOCKA_MESSAGE_OUTPUT=TAP
# Tests ask for more memory than there is, and look at the error.
export TSAN_OPTIONS="${TSAN_OPTIONS-allocator_may_return_null=1}"
# A test preloads libraries of its own, before that of the sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS-verify_asan_link_order=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS-print_stacktrace=1}"

lane=()
lane_dir=

# Where no namespace can be made the test runs without a lane.
lane_begin() # FILE
{
	local unshare=(unshare --mount --propagation private --uts --ipc --net)

	# Of this tree and its build: what else lies below /tmp is not seen in a lane.
	case $1 in tests/read/* | tests/record/* | tests/daemon/* | "${BUILD:-build}"/tests/unit/*) ;; *) return ;; esac
	[ "$EUID" -eq 0 ] && "${unshare[@]}" ip link set lo up 2>/dev/null || return
	lane_dir=$(mktemp -d "${TMPDIR:-/tmp}/spoor-test.${SPOOR_SUITE:-0}.lane.XXXXXX") || exit 1
	chmod 1777 "$lane_dir"
	lane=("${unshare[@]}" tests/lane.sh "$lane_dir")
	trap 'rm -rf "$lane_dir"' EXIT
}
lane_begin "$1"

# Seconds. A long test is long whichever way it is run: an hour beside other loads.
case $1 in tests/long/*) limit=7200 ;; *) limit=900 ;; esac

# What a test leaves in the /tmp of its lane is removed, and fails it as on the host.
left_in_lane()
{
	local left path not=()

	[ -n "$lane_dir" ] || return 1
	# Where the tree and the build are in the lane, when they are below /tmp.
	for path in "$(pwd -P)" "$(realpath "${BUILD:-build}")"; do
		case $path in /tmp/*) path=${path#/tmp/} && not+=(! -name "${path%%/*}") ;; esac
	done
	left=$(find "$lane_dir" -mindepth 1 -maxdepth 1 -name 'spoor-test.*' ${not[@]+"${not[@]}"} -printf '%f ')
	[ -n "$left" ] || return 1
	echo "# left behind: in /tmp: $left" >&2
}

# in_session COMMAND...: the exit status is the command's, or 1 if it left processes or files behind.
in_session()
{
	local session status left pid name n

	# A shell's background job would start with SIGINT ignored.
	env --default-signal=INT,QUIT setsid ${lane[@]+"${lane[@]}"} timeout --kill-after=10 "${TEST_TIMEOUT:-$limit}" "$@" &
	session=$!
	trap 'kill -TERM -- "-$session" 2>/dev/null' HUP INT TERM
	wait "$session"
	status=$?
	while kill -0 "$session" 2>/dev/null; do # a signal to us interrupted the wait
		wait "$session"
		status=$?
	done
	trap - HUP INT TERM

	# What was just killed, or sees its parent gone, may still be on its way out: on a busy machine for seconds.
	for ((n = 0; n < 50; n++)); do
		mapfile -t left < <(pgrep --session "$session" --runstates DIRST)
		[ ${#left[@]} -gt 0 ] || break
		sleep 0.1
	done
	for pid in "${left[@]}"; do
		name=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")
		kill -KILL "$pid" 2>/dev/null || continue
		printf '# left behind: %s: %s\n' "$pid" "$name" >&2
		[ "$status" -ne 0 ] || status=1
	done
	! left_in_lane || [ "$status" -ne 0 ] || status=1
	return "$status"
}

# Fails, and says it, if the processes of a test of the fast tier took more than four times its budget. The file of
# TEST_TIMES gets a line "SECONDS CPU-SECONDS FILE".
spent() # FILE
{
	local limit used stat hz

	# Fields 16 and 17 of proc_pid_stat(5): user and system time of the children that were waited for.
	read -r stat </proc/$$/stat
	read -r -a stat <<<"${stat##*) }"
	hz=$(getconf CLK_TCK)
	[ -z "$times" ] || echo "$SECONDS $(((stat[13] + stat[14]) / hz)) $1" >>"$times"
	[ "${TEST_TIER-}" = fast ] || return 0
	limit=$(($(budget_of "$(marks_of "$1")") * 4))
	used=$((stat[13] / hz))
	[ "$used" -gt "$limit" ] || return 0
	echo "# over its budget: $1 took $used s of CPU time in user mode, four times the budget is $limit s" >&2
	return 1
}

case $1 in
*.t)
	in_session bash "$@"
	status=$?
	spent "$1" || [ $status -ne 0 ] || status=1
	exit $status
	;;
*.replay)
	target=$(basename "$1" .replay)
	in_session "$1" "tests/fuzz/seeds/$target"
	exit
	;;
esac

in_session "$@" | awk '
/^1\.\.[0-9]+/ { planned += substr($1, 4); next }
/^skipped: / { why = $0; sub(/^skipped: /, "", why); next }
/^(not )?ok( |$)/ {
	seen++
	skipped = sub(/# *(SKIP|skip)/, "")
	word = ($0 ~ /^not ok/ && !skipped) ? "not ok" : "ok"
	sub(/^(not )?ok *[0-9]*[ -]*/, "")
	sub(/ *$/, "")
	failing = word == "not ok"
	if (failing)
		print "# failed: " seen " - " $0 >"/dev/stderr"
	print word " " seen " - " $0 (skipped ? " # SKIP " (why != "" ? why : "(no reason given)") : "")
	why = ""
	fflush()
	next
}
/^#/ {
	if (failing)
		print >"/dev/stderr"
	print
	next
}
{ print "# " $0 }
END { print "1.." planned + 0 }'
status=${PIPESTATUS[0]}
spent "$1" || [ "$status" -ne 0 ] || status=1
exit "$status"
