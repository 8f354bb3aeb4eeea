#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The demo names the hot function of its load in the top row, and leaves no load behind.
. "$(dirname "$0")/../lib.sh"
[ -x "$SPOOR" ] || skip_all "$SPOOR is not built"
need_record_all

mkdir build
ln -s "$SPOOR" build/spoor
exits 0 "the demo records and reports" env BUILD="$TMP/build" DEMO_SECONDS=2 "$TOP/tests/demo.sh"
# On a host that is busy with something hotter it says so, and what the rows of its load are.
cp out rows
! grep -q 'busy with something hotter' err || tail -n 3 out >rows
like "$(grep -v '^#' rows | grep -m 1 '[0-9]%')" 'demo_hot_loop' "its top row is the load's hot function"
nok "the load is gone" pgrep -f "^$TMP/build/tests/demo_load"

BUILD="$TMP/build" DEMO_SECONDS=60 setsid "$TOP/tests/demo.sh" >out 2>err &
ok "a second load starts" wait_for 20 pgrep -f "^$TMP/build/tests/demo_load"
kill -INT -- "-$!" 2>/dev/null || kill -TERM -- "-$!"
wait $! 2>/dev/null
ok "an interrupt ends it" wait_for 10 sh -c "! pgrep -f '^$TMP/build/tests/demo_load'"

done_testing
