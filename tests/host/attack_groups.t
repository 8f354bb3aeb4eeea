#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Processes of a user with 65,536 groups, which make each read of their status 20 ms, map new files on
# and on: whose they are has to be known.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

need_attacks
attacked ""
watch
busy calm 2000
attack_groups
busy hit 10000
ok "sync" ask 10 sync
attack_end
hold_watched "with groups"
# They are there before it.
attack_groups
hold_restart "with groups"
busy hit 2000
attack_end
stop
is $? 0 "it ends in order"
hold_samples "$archive" "with groups"
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
