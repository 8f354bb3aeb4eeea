#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/suite.sh TIER FILE...: runs tests by prove, and prints the ten slowest (TEST_TIMES=FILE keeps the times of
# all). TIER is fast or full; tests/run.sh holds the budgets of the fast one. Tests run side by side, those with the
# largest budgets first. Tests of the whole host (host/) and tests that have a line "@alone REASON" at their top have
# the machine to themselves.
#
# A test that records, or has a daemon, may fail beside another one: that is told, and it runs once more,
# alone. That run counts.
#
# What the tests leave on the host fails the run: host_state below says what is compared.
set -u
case ${TEST_TIMES-} in '' | /*) ;; *) TEST_TIMES=$PWD/$TEST_TIMES ;; esac
cd "$(dirname "$0")/.." || exit 1
. tests/marks.sh
# What tests mount is in this run's namespace, and what others mount meanwhile is not.
if [ -z "${SPOOR_MOUNTS-}" ] && unshare --mount true 2>/dev/null; then
	export SPOOR_MOUNTS=own
	exec unshare --mount --propagation private tests/suite.sh "$@"
fi
export TEST_TIER=$1 SPOOR_SUITE=$$
shift

# What a test may change for its own time and has to set back: a line each.
host_state()
{
	local f

	# The kernel itself mounts a tracefs below debugfs when perf looks there.
	awk '$3 != "tracefs" { print "mount", $2, $3 }' /proc/mounts | sort
	awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts | while read -r f; do
		find "$f" -mindepth 1 -type d -path '*spoor*' -printf 'cgroup %p\n' 2>/dev/null
	done | sort
	# Not perf_event_max_sample_rate, which the kernel lowers when an interrupt took long.
	for f in /proc/sys/kernel/{perf_event_paranoid,perf_event_mlock_kb,perf_event_max_stack,perf_cpu_time_max_percent} \
		/proc/sys/kernel/{kptr_restrict,core_pattern,randomize_va_space} /proc/sys/fs/suid_dumpable \
		/sys/devices/system/cpu/online /sys/kernel/tracing/{uprobe_events,kprobe_events}; do
		[ ! -r "$f" ] || printf '%s %s\n' "$f" "$(tr '\n' ' ' <"$f" 2>/dev/null)"
	done
	# The directory belongs to one test of this run: see lib.sh.
	find "${TMPDIR:-/tmp}" -maxdepth 1 -name "spoor-test.$$.*" -printf 'file %p\n'
	# A process that runs what was built here.
	find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$PWD/*" -printf 'process %h %l\n' 2>/dev/null
}

# What is slow begins first: at the end of a run no CPU waits for one test.
by_budget() # FILE...: a line "BUDGET GROUP FILE" each
{
	local file marks group

	for file; do
		marks=$(marks_of "$file")
		case $file in
		tests/host/*) group=alone ;;
		tests/record/* | tests/daemon/* | */unit/recorder/* | */unit/daemon/*) group=beside ;;
		*) group=together ;;
		esac
		! grep -q '^alone ' <<<"$marks" || group=alone
		echo "$(budget_of "$marks") $group $file"
	done | sort -s -rn -k 1,1
}

files=$(by_budget "$@")
for group in together beside alone; do
	mapfile -t $group < <(sed -n "s/^[0-9]* $group //p" <<<"$files")
done

# lib.sh mounts tracefs where it is not: that is no change by a test.
[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
log=$(mktemp) || exit 1
export TEST_TIMES=${TEST_TIMES:-$log.times}
: >"$TEST_TIMES"
trap 'rm -f "$log" "$log".*' EXIT
host_state >"$log.before"
status=0

run() # PROVE-ARGUMENT...
{
	prove --directives --timer -e tests/run.sh "$@" | tee -a "$log"
	[ "${PIPESTATUS[0]}" -eq 0 ] || status=1
}

# Those that fail go into "alone". What prove says of them is no failure of the run yet, and does not look like one.
run_beside()
{
	prove --directives --timer -j$(($(nproc) + 1)) -e tests/run.sh "${beside[@]}" 2>&1 | tee "$log.beside" |
		sed -u -E 's/^([^ ].*)\(Wstat: /\1(beside another: /; s/^Result: FAIL$/Result: some run again, alone/; s/^(# failed: |Dubious|Failed [0-9]+\/)/# beside another: \1/'
	cat "$log.beside" >>"$log"
	mapfile -t -O "${#alone[@]}" alone < <(sed -nE 's/^([^ ].*[^ ]) +\(Wstat: .*/\1/p' "$log.beside" | sort -u)
	grep -q '^Result: ' "$log.beside" || status=1
}

[ ${#together[@]} -eq 0 ] || run -j$(($(nproc) + 1)) "${together[@]}"
[ ${#beside[@]} -eq 0 ] || run_beside
[ ${#alone[@]} -eq 0 ] || run "${alone[@]}"

printf 'The slowest files, by seconds of time, with seconds of CPU time:\n'
sort -rn "$TEST_TIMES" | head -n 10 | awk '{ printf "%10d %8d  %s\n", $1, $2, substr($0, length($1) + length($2) + 3) }'

# What is on its way out may take a moment.
# Control groups and settings may be another run's, and go away with that; the rest is this run's own.
for ((n = 0; n < 60; n++)); do
	host_state >"$log.after"
	new=$(LC_ALL=C comm -13 <(LC_ALL=C sort "$log.before") <(LC_ALL=C sort "$log.after"))
	[ -n "$new" ] || exit $status
	[ $n -lt 10 ] || grep -qvE '^(file|mount|process) ' <<<"$new" || break
	sleep 0.5
done
echo "The tests left the host other than it was:"
printf '%s\n' "$new" | sed 's/^/> /'
exit 1
