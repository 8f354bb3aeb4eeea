#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/suite.sh TIER FILE...: runs tests by prove, and prints the ten slowest. TIER is fast or full;
# tests/run.sh holds the budgets of the fast one. As many tests as there are CPUs run side by side, but
# for those of the whole host (host/), unit programs of the recorder and the daemon, and shell tests that
# have a line "# @alone REASON" at their top: each of these has the machine to itself.
#
# A test of record/ or daemon/ that failed beside another one is told, and runs once more, alone: that
# run counts.
#
# What the tests leave on the host fails the run: host_state below says what is compared.
set -u
cd "$(dirname "$0")/.." || exit 1
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

together=()
beside=()
alone=()
for file; do
	case $file in
	# It looks at what a run leaves, which tests beside it would change.
	tests/meta/harness.t) alone+=("$file") ;;
	*.replay | */unit/format/* | */unit/symbolizer/* | tests/read/* | tests/meta/*) together+=("$file") ;;
	tests/record/* | tests/daemon/*)
		if sed -n 1,12p "$file" | grep -q '^# @alone '; then alone+=("$file"); else beside+=("$file"); fi
		;;
	*) alone+=("$file") ;;
	esac
done

# lib.sh mounts tracefs where it is not: that is no change by a test.
[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
log=$(mktemp) || exit 1
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
	prove --directives --timer -j"$(nproc)" -e tests/run.sh "${beside[@]}" 2>&1 | tee "$log.beside" |
		sed -u -E 's/^(tests.*)\(Wstat: /\1(beside another: /; s/^Result: FAIL$/Result: some run again, alone/; s/^(# failed: |Dubious|Failed [0-9]+\/)/# beside another: \1/'
	cat "$log.beside" >>"$log"
	mapfile -t -O "${#alone[@]}" alone < <(sed -nE 's/^(tests[^ ]*) +\(Wstat: .*/\1/p' "$log.beside" | sort -u)
	grep -q '^Result: ' "$log.beside" || status=1
}

[ ${#together[@]} -eq 0 ] || run -j"$(nproc)" "${together[@]}"
[ ${#beside[@]} -eq 0 ] || run_beside
[ ${#alone[@]} -eq 0 ] || run "${alone[@]}"

# "[TIME] FILE ... ok  5246 ms ( ... = 1.05 CPU)"
slowest=$(sed -nE 's/^\[[0-9:]*\] ([^ ].*[^ .]) \.+ .* ([0-9]+) ms \(.*= *([0-9.]+) CPU\)$/\2 \3 \1/p' "$log" |
	sort -rn | head -n 10 | awk '{ printf "%10.1f %8.1f  %s\n", $1 / 1000, $2, substr($0, length($1) + length($2) + 3) }')
[ -z "$slowest" ] || printf 'The slowest files, by seconds of time, with seconds of CPU time:\n%s\n' "$slowest"

# What is on its way out may take a moment.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	host_state >"$log.after"
	cmp -s "$log.before" "$log.after" && exit $status
	sleep 0.5
done
echo "The tests left the host other than it was:"
diff "$log.before" "$log.after" | grep '^[<>]'
exit 1
