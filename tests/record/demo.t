#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# The demo names the hot function of its load in the top row, and leaves no load behind.
. "$(dirname "$0")/../lib.sh"
[ -x "$SPOOR" ] || skip_all "$SPOOR is not built"
need_record_all

mkdir build
ln -s "$SPOOR" build/spoor
export BUILD_HERE=$TMP/build
exits 0 "the demo records and reports" sh -c 'BUILD=$BUILD_HERE DEMO_SECONDS=2 "$TOP/tests/demo.sh" 2>&1'
# On a host that is busy with something hotter it says so, and what the rows of its load are.
top_row() # FILE
{
	sed '1,/busy with something hotter/d' "$1" | grep . || cat "$1"
}
cp out rows
like "$(top_row rows | grep -v '^#' | grep -m 1 '[0-9]%')" 'demo_hot_loop' "its top row is the load's hot function"
if command -v script >/dev/null; then
	script -qec 'stty cols 80 rows 24; BUILD=$BUILD_HERE DEMO_SECONDS=1 NO_COLOR=1 "$TOP/tests/demo.sh"' /dev/null \
		</dev/null | tr -d '\r' >rows
	like "$(top_row rows | grep -v '^#' | grep -m 1 '[0-9]%')" 'demo_hot_loop' "on a terminal, too"
	is "$(grep -v "$TMP" rows | awk 'length > 80')" "" "whose 80 columns it does not overrun"
else
	skip "script is not installed" 2
fi
nok "the load is gone" pgrep -f "^$TMP/build/tests/demo_load"

BUILD="$TMP/build" DEMO_SECONDS=60 setsid "$TOP/tests/demo.sh" >out 2>err &
ok "a second load starts" wait_for 20 pgrep -f "^$TMP/build/tests/demo_load"
kill -INT -- "-$!" 2>/dev/null || kill -TERM -- "-$!"
wait $! 2>/dev/null
ok "an interrupt ends it" wait_for 10 sh -c "! pgrep -f '^$TMP/build/tests/demo_load'"

done_testing
