#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# All that has memory at once: the archive, a flight recorder that is dumped, as many captures as there may be, and copies of
# files, while a user has 500,000 maps with long names in 61 processes and others start programs on and on.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

need_attacks
attacked "max_use = 1G" "flight_recorder = 10s @ 499" "store_objects = all"
watch
attack_state
busy calm 1000
all_run() { [ "$(status captures)" = 4 ] && [ -s 1.spoor ] && [ -s 2.spoor ] && [ -s 3.spoor ] && [ -s 4.spoor ]; }
capture_four 10s
ok "four captures run" wait_for 20 all_run
before=$pid
attack_storm
busy hit 4000
exits 0 "the flight recorder is dumped beside them" ask 30 dump
failed=0
for p in "${captures[@]}"; do
	wait "$p" || failed=$((failed + 1))
done
is $failed 0 "captures end in order"
attack_end
watch_end
read -r most _ <watched
in_range "$most" 1 $((memory_max / 1024)) "128 MiB at most, in KiB: $most"
ok "it is still the same process" kill -0 "$before"
is "$(memory_kills)" 0 "none of its processes was killed for memory"
for i in 1 2 3 4; do
	exits 0 "capture $i is whole" "$SPOOR" verify "$i.spoor"
done
dumps=("$archive"/captures/*.spoor)
is ${#dumps[@]} 1 "there is one dump"
for f in "${dumps[@]}"; do
	exits 0 "the dump is whole" "$SPOOR" verify "$f"
done
stop
is $? 0 "it ends in order"
[ "$tests_failed" -eq 0 ] || {
	diag_file log
	for i in 1 2 3 4; do
		diag_file "$i.out"
	done
}
done_testing
