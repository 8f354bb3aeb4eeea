#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A budget that the load exceeds: the frequency falls, the status says why, the recording knows,
# and shares stay right across a change of frequency.
. "$(dirname "$0")/../lib.sh"

spoord=$BUILD/spoord
[ -x "$spoord" ] || skip_all "there is no spoord"
"$SPOOR" record -a --duration 0.1s -o probe.spoor >/dev/null 2>&1 ||
	skip_all "this user may not sample all CPUs"

mkdir archive
config() # LINE...
{
	{
		printf 'archive_directory = %s\ncontrol_socket = %s\n' "$TMP/archive" "$TMP/socket"
		printf 'max_use = 256M\nkeep_free = 1\nblock_age = 1s\n'
		printf '%s\n' "$@"
	} >spoord.conf
}

status() # KEY
{
	"$BUILD/spoorctl" --socket "$TMP/socket" --json status 2>/dev/null | jq -r ".$1"
}

wait_for() # SECONDS COMMAND...
{
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

is_status() # KEY VALUE
{
	[ "$(status "$1")" = "$2" ]
}

start() # returns when it records
{
	"$spoord" -c spoord.conf 2>>log &
	pid=$!
	background_pids+=("$pid")
	wait_for 20 is_status suspended false
}

stop()
{
	kill -TERM "$pid"
	wait "$pid"
}

share() # COMM: percent of what was sampled of a and b together, by time
{
	jq -s "[.[].rows[]] | ([.[] | select(.comm == \"$1\") | .period] | add // 0) * 100 /
		([.[] | select(.comm == \"a\" or .comm == \"b\") | .period] | add // 1)" report.json
}

samples_of() # COMM
{
	jq -s "[.[].rows[] | select(.comm == \"$1\") | .samples] | add // 0" report.json
}

load() # NAME SECONDS: so much work, under that name, on CPU 0
{
	cp "$FIXTURES/burn" "$1"
	taskset -c 0 "./$1" $(($2 * 1000)) >/dev/null
}

# --- shares across a change of frequency ------------------------------------------------------
config 'frequency = 1999' 'cpu_budget = 0'
ok "it starts" start
load a 4
config 'frequency = 99' 'cpu_budget = 0'
ok "a lower frequency" "$BUILD/spoorctl" --socket "$TMP/socket" reload
ok "is in force" wait_for 10 is_status frequency_hz 99
load b 4
ok "it stops" stop
is "$(find archive -maxdepth 1 -name '*.spoor' | wc -l)" 1 "all in one segment"
"$SPOOR" report --json archive/*.spoor >report.json 2>/dev/null
in_range "$(samples_of a)" $((8 * $(samples_of b))) 1e9 "far more samples of the first half"
in_range "$(share a)" 47 53 "which is still one half of the time"
rm -rf archive/*.spoor

# --- the budget -------------------------------------------------------------------------------
config 'frequency = 1999' 'cpu_budget = 0.02%'
ok "it starts with a small budget" start
taskset -c 0 "$FIXTURES/burn" 3600000 >/dev/null &
background_pids+=("$!")
ok "the frequency falls" wait_for 60 is_status governor cpu_budget
sleep 1.5
in_range "$(status frequency_hz)" 1 1000 "to half or less"
is "$(status wanted_frequency_hz)" 1999 "of what is configured"
like "$(cat log)" 'cpu_budget: sampling at [0-9]+ of 1999 Hz' "the log says so"
config 'frequency = 1999' 'cpu_budget = 100%'
ok "a large budget" "$BUILD/spoorctl" --socket "$TMP/socket" reload
ok "brings it back" wait_for 150 is_status governor ''
sleep 1.5
is "$(status frequency_hz)" 1999 "to what is configured"
ok "it stops" stop
done_testing
