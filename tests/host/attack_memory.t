#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Users have more than the recorder has memory for: hundreds of thousands of maps of a file with a
# path of 3,800 bytes, in processes that made them and in others that inherited them, and control
# groups that come and go under long names.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

need_attacks
attacked ""
history_begin
watch
before=$pid
busy calm 1500
# Some thousands of control groups a second, each with 3,750 bytes of name.
attack_cgroups
busy hit 4000
attack_maps
busy hit 3000
busy calm 1500
hold_watched "during"
ok "it is still the same process" kill -0 "$before"
kill -0 "$before" 2>/dev/null || records 20000
hold_log "${attackers[0]}" "the log says once whose it is"
hold_told "${attackers[0]}" "maps that are too many"
hold_history "spoord"

hold_restart "520,000 maps before" watch
busy hit 1500
ok "it lives" kill -0 "$pid"
hold_watched "maps before"
attack_end

attack_forks
hold_restart "4.6 million maps of 71 processes" watch
busy hit 1500
ok "it lives" kill -0 "$pid"
hold_watched "forks before"
attack_end
stop
is $? 0 "it ends in order"
hold_samples "$archive" "spoord"
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
