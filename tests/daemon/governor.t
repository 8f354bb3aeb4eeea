#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 70s
# @alone it measures what the daemon costs
#
# A budget that the load exceeds: the frequency falls, the status says why, the recording knows, and
# the report's shares are those of a daemon without a budget that sampled the same load meanwhile.
# That the frequency rises again: governor_raise.t.
. "$(dirname "$0")/../lib.sh"

spoord=$BUILD/spoord
need_command jq
need_record_all

# The budget is that of the CPU: a sanitizer takes more than the default one of memory.
config() # NAME LINE...
{
	local name=$1
	shift
	{
		printf 'archive_directory = %s\ncontrol_socket = %s\n' "$TMP/$name" "$TMP/$name.socket"
		printf 'max_use = 256M\nkeep_free = 1\nblock_age = 1s\nfrequency = 1999\n'
		printf 'memory_budget = 0\n'
		printf '%s\n' "$@"
	} >"$name.conf"
}

ctl() # NAME ARGUMENT...
{
	local name=$1
	shift
	"$BUILD/spoorctl" --socket "$TMP/$name.socket" "$@"
}

status() # NAME KEY
{
	ctl "$1" --json status 2>/dev/null | jq -r ".$2"
}

is_status() # NAME KEY VALUE
{
	[ "$(status "$1" "$2")" = "$3" ]
}

is_lowered() # NAME
{
	[ "$(status "$1" frequency_hz)" -lt 1999 ]
}

start() # NAME: returns when it records
{
	"$spoord" -c "$1.conf" 2>>"$1.log" &
	pids[$1]=$!
	background_pids+=("$!")
	wait_for 20 is_status "$1" suspended false
}

stop() # NAME
{
	kill -TERM "${pids[$1]}"
	wait "${pids[$1]}"
}

report() # NAME: of the one segment
{
	"$SPOOR" report --json "$1"/*.spoor* >"$1.json" 2>/dev/null
}

share() # NAME COMM: percent of what was sampled of a and b together, by time
{
	jq "[.rows[]] | ([.[] | select(.comm == \"$2\") | .period] | add // 0) * 100 /
		([.[] | select(.comm == \"$a\" or .comm == \"$b\") | .period] | add // 1)" "$1.json"
}

samples_of() # NAME COMM
{
	jq "[.rows[] | select(.comm == \"$2\") | .samples] | add // 0" "$1.json"
}

load() # NAME SECONDS: so much CPU time under that name, on CPU 0
{
	[ -e "$1" ] || cp "$FIXTURES/burn" "$1"
	taskset -c 0 "./$1" $(($2 * 1000)) >/dev/null
}

# Not the names that another such test on this host may have.
a=a$$ b=b$$
declare -A pids
mkdir free bound

# What it costs here without a budget says which budget makes it fall by a few steps.
config free 'cpu_budget = 0'
ok "it starts without a budget" start free
load warm 25
cost=$(status free cpu_percent)
in_range "$cost" 0.006 50 "sampling has a cost"
config bound "cpu_budget = $(awk -v c="$cost" 'BEGIN { printf "%.3f", c / 2 }')%"
ok "another one starts with half of that" start bound
load "$a" 25 &
job=$!
ok "the frequency falls" wait_for 60 is_lowered bound
is "$(status bound governor)" cpu_budget "which the status explains"
is "$(status bound wanted_frequency_hz)" 1999 "telling what is configured"
like "$(cat bound.log)" 'cpu_budget: sampling at [0-9]+ of 1999 Hz' "the log says so"
wait "$job"
lowered=$(status bound frequency_hz)
in_range "$lowered" 60 1000 "to half or less"
load "$b" 10
is "$(status free frequency_hz)" 1999 "the other one did not fall"
diag "cost $cost %, lowered to $lowered Hz"
ok "it stops" stop free
is "$(ctl bound sync >/dev/null; echo $?)" 0 "what is sampled is synced"

# b was sampled less often for all of its life, a for a part of it: weights must make up for that.
report free
report bound
for name in free bound; do
diag "$name: a $(samples_of $name $a) b $(samples_of $name $b) samples, share $(share $name $a)"
done
in_range "$(samples_of bound $b)" 300 $(($(samples_of free $b) * 6 / 10)) "b has far fewer samples"
in_range "$(share bound $a)" "$(share free $a | awk '{ print $1 - 2 }')" \
	"$(share free $a | awk '{ print $1 + 2 }')" "the share of a is that without a budget"
in_range "$(share bound $a)" $((25 * 100 / 35 - 2)) $((25 * 100 / 35 + 3)) "which is that of its CPU time"

ok "it stops" stop bound
done_testing
