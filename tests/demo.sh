#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make demo`: puts a load on every CPU, records this host for five seconds and prints a report.
# The load ends with this script, however that ends.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
spoor=$BUILD/spoor
recording=$BUILD/demo.spoor
seconds=${DEMO_SECONDS:-5}

say() { printf 'demo: %s\n' "$*" >&2; }

if [ ! -x "$spoor" ]; then
	say "$spoor is not there; run make"
	exit 1
fi

load=$BUILD/tests/demo_load
mkdir -p "$BUILD/tests"
"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -pthread \
	-o "$load" tests/demo_load.c || exit 1

paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo none)
if [ "$paranoid" = none ]; then
	say "this kernel has no perf events: there is no perf_event_paranoid in"
	say "/proc/sys/kernel; a container may hide them: run on the host"
	exit 1
fi

load_pid=
finish()
{
	[ -z "$load_pid" ] || kill "$load_pid" 2>/dev/null
	wait 2>/dev/null
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

"$load" 0 4 16 &
load_pid=$!
say "load: demo_hot_loop on every CPU (pid $load_pid)"
say "$spoor record -a --duration ${seconds}s -o $recording"
if ! "$spoor" record -a --duration "${seconds}s" -o "$recording"; then
	if [ "$(id -u)" -ne 0 ] && [ "$paranoid" -gt 0 ] 2>/dev/null; then
		say "recording all CPUs needs a privilege (perf_event_paranoid is $paranoid), one of:"
		say "  sudo make demo"
		say "  sudo sysctl kernel.perf_event_paranoid=-1          until the next boot"
		if [ "$paranoid" -le 2 ]; then
			say "  sudo setcap cap_perfmon,cap_sys_ptrace=ep $spoor   for it alone"
		fi
	fi
	exit 1
fi
kill "$load_pid" 2>/dev/null
load_pid=

# On a terminal, as wide as that.
say "$spoor report --no-pager --percent-limit 0.5 -i $recording"
"$spoor" report --no-pager --percent-limit 0.5 -i "$recording" || exit 1
"$spoor" report -i "$recording" >"$BUILD/demo.report" 2>/dev/null || exit 1

# hot FILE: is its top row the load's hot function?
hot() { grep -v '^#' "$1" | grep -m 1 '[0-9]%' | grep -q demo_hot_loop; }

if ! hot "$BUILD/demo.report"; then
	"$spoor" report --comm demo_load -i "$recording" >"$BUILD/demo.report" 2>/dev/null
	if ! hot "$BUILD/demo.report"; then
		say "the load's hottest row should have been demo_hot_loop"
		exit 1
	fi
	say "this machine was busy with something hotter than the load,"
	say "whose own rows are:"
	"$spoor" report --no-pager -q --percent-limit 0.5 --comm demo_load -i "$recording"
fi
