#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# A user has 500,000 maps with long names in 61 processes, and as many captures as there may be begin:
# each has a picture of the host of its own, and all of them have to fit.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

need_attacks
attacked "max_use = 1G"
watch
attack_state
busy calm 1000
all_run() { [ "$(status captures)" = 4 ]; }
capture_four 8s
ok "four captures run" wait_for 10 all_run
before=$pid
busy hit 4000
failed=0
for p in "${captures[@]}"; do
	wait "$p" || failed=$((failed + 1))
done
is $failed 0 "and end in order"
attack_end
hold_watched "with captures"
ok "it is still the same process" kill -0 "$before"
for i in 1 2 3 4; do
	exits 0 "capture $i is whole" "$SPOOR" verify "$i.spoor"
	in_range "$(samples_of "$i.spoor" hit)" 1000 1e9 "and has the program's samples"
done
stop
is $? 0 "it ends in order"
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
