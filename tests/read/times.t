#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans of time: what the key time of spoor report says of each, against a report of that span alone.
. "$(dirname "$0")/../lib.sh"
need_command jq
need_recordings split

seconds=$("$SPOOR" report --json split.spoor | jq '(.end_ns - .start_ns) / 1e9')

spans() # OPTION...: "TIME SAMPLES" of each span
{
	"$SPOOR" report -q -F time,sample "$@" split.spoor | awk '{ print $1, $2 }'
}

exits 0 "spans of time" "$SPOOR" report -s time split.spoor
like "$(cat out)" '^# Overhead  *Time$' "perf's title"
in_range "$(spans | wc -l)" 10 "$(awk -v s="$seconds" 'BEGIN { print int(s * 10) + 2 }')" "of 100 ms each"
like "$(spans | awk '{ print $1 }' | head -n 1)" '^[0-9]+\.[0-9]00000$' "that begin at a multiple of it"
is "$(spans | sort -n)" "$(spans)" "in their order where the time comes first"
is "$(spans | awk '{ n += $2 } END { print n }')" "$("$SPOOR" report --json split.spoor | jq .samples)" \
	"nothing is lost"

wrong=0
while read -r from samples; do
	until=$(awk -v f="$from" 'BEGIN { printf "%.6f", f + 0.25 }')
	alone=$("$SPOOR" report -q -F sample --time "$from,$until" split.spoor)
	[ "${alone// /}" = "$samples" ] || wrong=$((wrong + 1))
done < <(spans --time-quantum 250ms)
is "$wrong" 0 "each span has the samples that --time finds in it"

"$SPOOR" report --json -s time,sym --time-quantum 250ms split.spoor >spans.json
is "$(jq '[.rows[] | .time_ns % 250000000] | unique' -c spans.json)" "[0]" "in JSON: ns of the clock"
is "$(python3 -c 'import json
print(len({r["realtime_ns"] - r["time_ns"] for r in json.load(open("spans.json"))["rows"]}))')" 1 "and of the day"
is "$(jq '[.rows[].samples] | add' spans.json)" "$(jq .samples spans.json)" "besides other keys"

exits 2 "no span" "$SPOOR" report -s time --time-quantum 0 split.spoor
like "$(cat err)" '--time-quantum 0: not a span of time' "is said"

mkdir archive
cp split.spoor archive/20261121T010000.000000Z-abababab-000001.spoor
TZ=Europe/Berlin "$SPOOR" report -q -F time,sample --time-quantum 1s archive >out
like "$(head -n 1 out)" '^ *20[0-9-]+ [0-9]+:[0-9]+:[0-9]+  ' "of an archive, the time of day"
read -r day time samples < <(sed -n 2p out)
is "$(TZ=Europe/Berlin "$SPOOR" report -q -F sample --since "$day $time" \
	--until "$day $time.999999999" archive | tr -d ' ')" "$samples" "which --since takes"

done_testing
