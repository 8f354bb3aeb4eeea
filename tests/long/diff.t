#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor diff of real loads: RUNS (100) pairs of recordings of the same work show nothing in at least 95 of 100; a
# function made 10 % slower is found and comes first in SLOWER (20) of as many: by shares (-n total) and by sums (-n none).
# A recording is of ROUNDS (15,000; 3 s of CPU time) of the load, so that what else runs here makes it longer, and not
# smaller. How it is with -n cpu is told, and true of an idle machine alone.
. "$(dirname "$0")/../lib.sh"
need_command jq

runs=${RUNS:-100} slower=${SLOWER:-20} rounds=${ROUNDS:-15000}

record() # FILE ROUNDS FACTOR
{
	"$SPOOR" record -F 4999 -o "$1" -- "$FIXTURES/shares" 0 "$3" "$2" 2>err || bail "no recording: $(cat err)"
}

declare -A alarms=([total]=0 [none]=0 [cpu]=0) found=([total]=0 [none]=0)
for ((i = 0; i < runs; i++)); do
	record a.spoor "$rounds" 1
	record b.spoor "$rounds" 1
	for per in total none cpu; do
		n=$("$SPOOR" diff -n $per --json a.spoor b.spoor 2>err | jq '[.events[].about.significant] | add')
		[ -n "$n" ] || bail "no answer: $(cat err)"
		alarms[$per]=$((alarms[$per] + (n > 0)))
		[ "$n" = 0 ] || [ $per = cpu ] ||
			"$SPOOR" diff -n $per a.spoor b.spoor 2>&1 | grep '%  ' | head -5 | sed "s/^/# $per /"
	done
done
diag "$runs pairs of the same work: something significant in ${alarms[total]} (-n total), ${alarms[none]} (-n none), ${alarms[cpu]} (-n cpu)"
ok "shares of the same work show nothing in 95 of 100" [ $((alarms[total] * 100)) -le $((runs * 5)) ]
ok "sums of the same work show nothing in 95 of 100" [ $((alarms[none] * 100)) -le $((runs * 5)) ]

for ((i = 0; i < slower; i++)); do
	record a.spoor $((4 * rounds)) 1
	record b.spoor $((4 * rounds)) 1.1
	for per in total none; do
		"$SPOOR" diff -n $per --json a.spoor b.spoor 2>err | jq -es '.[0].events[0].rows[0] |
			.symbol == "share_slower" and .significant and .change > 0' >got && found[$per]=$((found[$per] + 1))
	done
done
diag "$slower pairs with one function 10 % slower: found, and first, in ${found[total]} (-n total), ${found[none]} (-n none)"
ok "what is 10 % slower is found first by its share" [ $((found[total] * 10)) -ge $((slower * 9)) ]
ok "what is 10 % slower is found first by its sum" [ $((found[none] * 10)) -ge $((slower * 9)) ]

done_testing
