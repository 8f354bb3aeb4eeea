#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor diff of real loads: RUNS (100) pairs of recordings of the same load show nothing in at least 95 of 100; a
# function made 10 % slower is found and comes first in SLOWER (20) of as many. The loads take
# what CPU time they get beside whatever else runs here, so shares are compared (-n total); how it is with
# -n cpu is told, and true of an idle machine alone.
. "$(dirname "$0")/../lib.sh"
need_command jq

runs=${RUNS:-100} slower=${SLOWER:-20} seconds=${SECONDS_EACH:-3}

record() # FILE SECONDS FACTOR
{
	"$SPOOR" record -F 4999 -o "$1" -- "$FIXTURES/shares" "$2" "$3" 2>err || bail "no recording: $(cat err)"
}

alarms_total=0 alarms_cpu=0
for ((i = 0; i < runs; i++)); do
	record a.spoor "$seconds" 1
	record b.spoor "$seconds" 1
	n=$("$SPOOR" diff -n total --json a.spoor b.spoor 2>err | jq '[.events[].about.significant] | add')
	alarms_total=$((alarms_total + (n > 0)))
	[ "$n" = 0 ] || "$SPOOR" diff -n total a.spoor b.spoor 2>&1 | grep '%  ' | head -5 | sed 's/^/# /'
	n=$("$SPOOR" diff -n cpu --json a.spoor b.spoor 2>err | jq '[.events[].about.significant] | add')
	alarms_cpu=$((alarms_cpu + (n > 0)))
done
diag "$runs pairs of the same load: something significant in $alarms_total (-n total), $alarms_cpu (-n cpu)"
ok "the same load shows nothing in 95 of 100" [ $((alarms_total * 100)) -le $((runs * 5)) ]

found=0
for ((i = 0; i < slower; i++)); do
	record a.spoor $((4 * seconds)) 1
	record b.spoor $((4 * seconds)) 1.1
	"$SPOOR" diff -n total --json a.spoor b.spoor 2>err | jq -e '.events[0].rows[0] |
		.symbol == "share_slower" and .significant and .change > 0' >got && found=$((found + 1))
done
diag "$slower pairs with one function 10 % slower: found, and first, in $found"
ok "what is 10 % slower is found first" [ $((found * 10)) -ge $((slower * 9)) ]

done_testing
