#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/luck.sh N FILE...: runs each test N times, beside two hogs a CPU, while programs that were built here are
# stopped (SIGSTOP) at random moments for up to half a second. Prints the output of each run that fails, and nothing
# else: what it prints is an assertion that needs luck, or a fault.
set -u
cd "$(dirname "$0")/.." || exit 1
times=$1
shift

pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -f "$out"' EXIT
trap 'exit 130' INT TERM
out=$(mktemp) || exit 1

for ((n = 2 * $(nproc); n > 0; n--)); do
	bash -c 'while kill -0 $PPID 2>/dev/null; do for ((i = 0; i < 100000; i++)); do :; done; done' &
	pids+=("$!")
done

# The stop of a process that its own test has stopped is not undone here: only what runs or sleeps is chosen. What is on a
# terminal, also one of script(1) or tmux(1), is left alone: an interactive shell and script(1) take a stop for ^Z.
stop_at_random()
{
	local pid victims

	while kill -0 $$ 2>/dev/null; do
		mapfile -t victims < <(find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$PWD/*" -printf '%h\n' 2>/dev/null)
		if [ ${#victims[@]} -gt 0 ]; then
			pid=${victims[RANDOM % ${#victims[@]}]#/proc/}
			if grep -q '^State:.[RS]' "/proc/$pid/status" 2>/dev/null && [ "$(ps -o tty= -p "$pid")" = "?" ] &&
				kill -STOP "$pid" 2>/dev/null; then
				sleep 0.$((RANDOM % 5))
				kill -CONT "$pid" 2>/dev/null
			fi
		fi
		sleep 0.$((1 + RANDOM % 9))
	done
}
stop_at_random &
pids+=("$!")

failed=0
for ((n = 1; n <= times; n++)); do
	for file; do
		if ! prove --directives -v -e tests/run.sh "$file" >"$out" 2>&1; then
			printf '=== %s, run %d of %d\n' "$file" "$n" "$times"
			grep -vE '^ok ' "$out"
			failed=1
		fi
	done
done
exit $failed
