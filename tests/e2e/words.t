#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the three programs say, and what they understand: times, lengths of time.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"
need_command jq
spoorctl=$BUILD/spoorctl
spoord=$BUILD/spoord

"$SPOOR" record -e cpu-clock:u -o one.spoor -- "$FIXTURES/burn" 200 >/dev/null 2>record.err ||
	bail "recording failed: $(cat record.err)"

# --- lengths of time, the same everywhere: 2 is wrong usage (of spoord: 1); nobody listens to spoorctl

lengths() # TEXT: what each program thinks of it
{
	local record capture config

	"$SPOOR" record --duration "$1" -o x.spoor -- true >/dev/null 2>&1
	record=$?
	"$spoorctl" --socket "$TMP/nobody" capture --duration "$1" >/dev/null 2>&1
	capture=$?
	printf 'max_capture_time = %s\n' "$1" >x.conf
	"$spoord" -n -c x.conf >/dev/null 2>&1
	config=$?
	echo $record $capture $config
}
for length in 30 30s 1h30m "1 h 30 min" 1.5min .5h+30s 1month 2weeks 5y; do
	is "$(lengths "$length")" "0 1 0" "$length is a length of time"
done
for length in "" x 5x "5 parsecs" -1s 1h-5s 0; do
	is "$(lengths "$length")" "2 2 1" "'$length' is none"
done
printf 'max_capture_time = 1h30m\n' >x.conf
is "$("$spoord" -n -c x.conf | grep max_capture_time)" "max_capture_time = 90m" "read as it is meant"
is "$("$SPOOR" record --duration '0.1s 100ms' -o x.spoor -- sleep 60 2>/dev/null; "$SPOOR" info --json x.spoor |
	jq '.duration_ns < 30e9')" true "and heeded"

# --- points in time

times() # TEXT
{
	local report keep

	"$SPOOR" report --since "$1" one.spoor >/dev/null 2>&1
	report=$?
	"$spoorctl" --socket "$TMP/nobody" keep --since "$1" >/dev/null 2>&1
	keep=$?
	echo $report $keep
}
for time in 10m "1h 30min" -10m "10 min ago" yesterday "2012-11-23 03:12" 2012-11-23T03:12:00+01:00 \
	2012-11-23T02:12:00Z "2012-11-23 03:12 Europe/Berlin" @1353640320; do
	is "$(times "$time")" "0 1" "$time is a time"
done
for time in 10 2026 25:00 "Sun 2012-11-23" "2012-11-23 03:12 Mars/Olympus" -60y; do
	is "$(times "$time")" "2 2" "$time is none"
done
samples() # OPTION...
{
	"$SPOOR" report --json "$@" one.spoor | jq .samples
}
start=$("$SPOOR" info --json one.spoor | jq '.start_realtime_ns / 1e9 | floor')
for since in 10min "$(date -u -d "@$start" +%FT%TZ)" "$(TZ=Asia/Tokyo date -d "@$start" +%FT%T%:z)" \
	"$(TZ=Asia/Tokyo date -d "@$start" '+%F %T Asia/Tokyo')"; do
	is "$(samples --since "$since")" "$(samples)" "--since $since: all of it"
	is "$(samples --until "$since")" 0 "--until $since: nothing"
done

# --- warnings on a terminal of 80 columns

widest()
{
	awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }' "$1"
}
terminal() # COMMAND: what it prints on a terminal
{
	script -qec "stty cols 80 rows 24; $1" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null; then
	dir='a directory that is called by so many words that no line has room for it'
	mkdir "$dir"
	head -c 2000 one.spoor >"$dir/cut.spoor"
	terminal "'$SPOOR' report --since '$dir' '$dir/cut.spoor'; '$SPOOR' export -f folded '$dir/cut.spoor' >/dev/null
		'$SPOOR' record -F 99999999 -e cpu-clock:u -o x.spoor -- true" >terminal
	in_range "$(widest terminal)" 60 80 "no line is wider"
	like "$(tr -s ' \n' ' ' <terminal)" "$dir: no time, such as .* \(spoor report --help says how\)" "wrong usage is whole"
	like "$(tr -s ' \n' ' ' <terminal)" "spoor: $dir/cut.spoor: not closed in order: its end is missing" "so are warnings"
	like "$(tr -s ' \n' ' ' <terminal)" 'record: frequency lowered .* kernel.perf_event_max_sample_rate' "and notes"
	"$SPOOR" report --since "$dir" one.spoor 2>err
	is "$(wc -l <err)" 1 "elsewhere each is one line"
else
	skip "no script(1)" 5
fi

done_testing
