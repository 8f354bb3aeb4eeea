#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fault tests of `make check`, at length: 10,000 kills of the writer, every bit of a file
# flipped, a million damaged sectors, insertions, splices and losses of power.
. "$(dirname "$0")/../lib.sh"

run() # NAME PROGRAM [VARIABLE=VALUE]...
{
	local name=$1 program=$BUILD/tests/unit/$2
	shift 2
	[ -x "$program" ] || bail "$program is not built"
	ok "$name" env CMOCKA_MESSAGE_OUTPUT=STDOUT "$@" "$program"
	grep '^# ' "$TMP/.ok" >&2
}

run "kills" format/recording/test_kill KILLS=10000
run "every call" format/recording/test_io_faults FIFTHS=5
run "damage" format/recording/test_damage DAMAGE=60
run "power loss" format/recording/test_power_loss REPLAYS=2000
run "readers beside the writer" format/recording/test_live_reader LIVE_PASSES=300000
ok "disks of every size" env DISK_STEP=4 bash "$TOP/tests/daemon/disk.t"
ok "every allocation of the programs" env NOMEM_STEP=1 bash "$TOP/tests/record/nomem.t"
done_testing
