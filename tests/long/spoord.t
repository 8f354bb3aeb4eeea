#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon's tests of `make check`, at length: 500 kills, 50 rounds of a CPU that goes and comes
# back, five minutes against the archive's bound.
. "$(dirname "$0")/../lib.sh"

run() # NAME TEST VARIABLE=VALUE
{
	ok "$1" env "$3" TEST_TIMEOUT=7200 prove -e "$TOP/tests/run.sh" "$TOP/tests/$2"
	grep '^# ' "$TMP/.ok" >&2
}

run "CPU 1 goes and comes back 50 times" host/spoord_hotplug.t ROUNDS=50
run "five minutes within the bound" daemon/bounds.t BOUNDS_SECONDS=300
run "500 kills" daemon/spoord_kill.t KILLS=500
done_testing
