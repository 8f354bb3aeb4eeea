#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# A user maps files with long names on and on. Neither what is older in the archive is lost by that,
# nor samples of others.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

need_attacks
attacked ""
busy first 1000
history_begin
watch
busy calm 2000
attack_history
# The frequency would go down after two windows of 5 s.
busy hit 14000
attack_end
busy calm 2000
attack_storm
busy hit 2000
attack_end
hold_watched "spoord"
ok "sync" ask 10 sync
hold_log "${attackers[3]}" "the log says once whose maps are too many"
hold_told "${attackers[3]}" "maps that are too many"
hold_history "spoord"
in_range "$(samples_of "$archive" first)" 70 1e9 "what was sampled before is there"
hold_restart "after it"
stop
is $? 0 "it ends in order"
hold_samples "$archive" "spoord"
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
