#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tracepoints: filters in the kernel, and fields with their names; beside perf, which does the same at
# the same time. The programs that are counted have names that nothing else here has.
. "$(dirname "$0")/../lib.sh"
need_command perf
need_command jq
need_record_all
tracefs=/sys/kernel/tracing
[ -r $tracefs/events/sched/sched_process_exec/id ] || skip_all "no tracepoints here"

exec_event=sched:sched_process_exec
mine="tp_mine_$$"
cp /bin/true "$mine" && cp /bin/true "tp_other_$$"
# shellcheck disable=SC2016 # the shell that is recorded expands it
load=(sh -c 'i=0; while [ $i -lt 25 ]; do "$1"; "$2"; i=$((i + 1)); done' - "$TMP/$mine" "$TMP/tp_other_$$")

fields() # FILE: the fields of each sample, as perf prints them
{
	# Of a pipe it prints call chains as well.
	perf script -F event,trace -i "$1" 2>/dev/null | grep "$exec_event" | sed 's/^ *//; s/ *$//' | sort
}

own_fields() # FILE: the same, as spoor exports them
{
	"$SPOOR" export -f perf-script "$1" 2>/dev/null | sed -n 's/.* \('$exec_event': .*\)$/\1/p' | sort
}

# --- a known number, and perf's words ------------------------------------------------------------

filter="filename ~ \"*/$mine\""
exits 0 "a filter, beside perf" perf_record -q -a -e $exec_event --filter "$filter" -o p.data -- \
	"$SPOOR" record -a -e $exec_event --filter "$filter" -o x.spoor -- "${load[@]}"
is "$("$SPOOR" info --json x.spoor | jq '.samples, .lost' | xargs)" "25 0" "each of those that pass, and no other"
fields p.data >perf.fields
is "$(wc -l <perf.fields | tr -d ' ')" 25 "perf has as many"
own_fields x.spoor >got
same "the fields, as perf script prints them" perf.fields got
for form in perf-data perf-data-file; do
	"$SPOOR" export -f $form -o x.$form x.spoor 2>/dev/null
	fields x.$form >got
	same "$form: perf script prints them of an export" perf.fields got
done
"$SPOOR" import -q p.data -o imported.spoor
own_fields imported.spoor >got
same "imported from perf" perf.fields got
"$SPOOR" import -q x.perf-data -o again.spoor
own_fields again.spoor >got
same "imported from a pipe" perf.fields got
"$SPOOR" export -f perf-data-file -o again.data imported.spoor 2>/dev/null
fields again.data >got
same "imported and exported" perf.fields got
"$SPOOR" dump --json x.spoor | jq -r 'select(.type == "SAMPLE").fields.trace |
	"'$exec_event': filename=\(.filename) pid=\(.pid) old_pid=\(.old_pid)"' | sort >got
same "spoor dump --json: an object" perf.fields got
"$SPOOR" export -f json x.spoor | jq -r '.trace |
	"'$exec_event': filename=\(.filename) pid=\(.pid) old_pid=\(.old_pid)"' | sort >got
same "spoor export -f json: an object" perf.fields got
"$SPOOR" export -f csv x.spoor 2>/dev/null | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["event"] + ": " + row["trace"])' | sort >got
same "spoor export -f csv: a column" perf.fields got
is "$("$SPOOR" dump x.spoor | grep -c " trace={filename=\"$TMP/$mine\" pid=[0-9]* old_pid=[0-9]*}")" 25 "spoor dump"

# --- keys of reports -----------------------------------------------------------------------------

is "$("$SPOOR" report --json -s sched_process_exec.filename x.spoor | jq -c '[.rows[] | [.samples, .trace]]')" \
	"[[25,\"$TMP/$mine\"]]" "a field as the key of a report"
is "$("$SPOOR" report --json -s '*.filename' x.spoor | jq -c '[.rows[].samples]')" "[25]" "of any event"
is "$("$SPOOR" report --json -s trace x.spoor | jq '.rows | length')" 25 "all fields: each has its own pid"
is "$("$SPOOR" report --json -s "$exec_event.filename,$exec_event.pid" x.spoor | jq -r '.rows[].trace' | sort -u |
	grep -c "^filename=$TMP/$mine pid=[0-9]*\$")" 25 "two fields"
is "$("$SPOOR" report --json -s sched_switch.prev_comm x.spoor | jq -c '[.rows[].trace]')" '[""]' \
	"a field of another event"
is "$("$SPOOR" report --json -s '*.filenam,*.pid' x.spoor 2>&1 >/dev/null | grep -v ' loss: ')" \
	"spoor: x.spoor: no tracepoint here has the field *.filenam; did you mean *.filename?" "one that is misspelled is told"
is "$("$SPOOR" report --json -s sched_process_exce.pid x.spoor 2>&1 >/dev/null | grep -v ' loss: ')" \
	"spoor: x.spoor: no tracepoint here has the field sched_process_exce.pid; did you mean sched_process_exec.pid?" "and one of such an event"
pid=$("$SPOOR" dump --json x.spoor | jq -s 'map(select(.type == "SAMPLE"))[7].pid')
is "$("$SPOOR" report --json --trace "sched_process_exec.pid=$pid" -s trace x.spoor | jq -r '.rows[].trace')" \
	"filename=$TMP/$mine pid=$pid old_pid=$pid" "--trace chooses by a field"
is "$("$SPOOR" report --json --trace "*.filename=*/$mine" --trace "$exec_event.pid=$pid" x.spoor | jq .samples)" 1 \
	"two fields: both hold"
is "$("$SPOOR" dump --json --trace "*.pid=$pid" x.spoor | jq -s 'map(select(.type == "SAMPLE").pid) | .[]')" "$pid" \
	"likewise of a dump"
"$SPOOR" export -f perf-data-file --trace "*.pid=$pid" -o one.data x.spoor 2>/dev/null
is "$(fields one.data)" "$exec_event: filename=$TMP/$mine pid=$pid old_pid=$pid" "and of an export to perf"
is "$("$SPOOR" report --json --trace "sched_switch.pid=$pid" x.spoor 2>/dev/null | jq .samples)" 0 "of another event there is none"
exits 2 "--trace without a value" "$SPOOR" report --trace sched_process_exec.pid x.spoor
like "$(cat err)" 'not EVENT.FIELD=NAMES' "is told"
exits 2 "no field" "$SPOOR" report -s .pid x.spoor
like "$(cat err)" "'.pid' is no key" "is told"

# --- system calls, and filters of which both have to hold ------------------------------------------

if [ -r $tracefs/events/syscalls/sys_enter_kill/id ]; then
	# shellcheck disable=SC2016
	exits 0 "two filters of one event" "$SPOOR" record -e syscalls:sys_enter_kill --filter 'sig < 12' \
		--filter 'sig != 0' -o k.spoor -- \
		sh -c 'trap "" USR1; for i in 1 2 3 4 5 6 7; do kill -0 $$; kill -10 $$; kill -28 $$; done'
	is "$("$SPOOR" report --json -s sys_enter_kill.sig k.spoor | jq -c '[.rows[] | [.samples, .trace]]')" \
		'[[7,"10"]]' "leave what passes both"
	exits 0 "filters of two events" "$SPOOR" record -e syscalls:sys_enter_kill --filter 'sig == 10' \
		-e syscalls:sys_exit_kill -o k.spoor -- \
		sh -c 'trap "" USR1; for i in 1 2 3 4 5; do kill -0 $$; kill -10 $$; done'
	is "$("$SPOOR" report --json -s event k.spoor | jq -c '[.rows[] | [.event, .samples]] | sort')" \
		'[["syscalls:sys_enter_kill",5],["syscalls:sys_exit_kill",10]]' "each event has its own"
	is "$("$SPOOR" report --json -s sys_exit_kill.ret --event syscalls:sys_exit_kill k.spoor |
		jq -c '[.rows[].trace]')" '["0"]' "what the call returned"
else
	skip "no tracepoints of system calls" 5
fi

# --- hostile fields --------------------------------------------------------------------------------

evil=$'tp_evil\e[31m\nx "y" 1'
cp /bin/true "$evil"
exits 0 "a program with a hostile name" "$SPOOR" record -e $exec_event --filter 'filename ~ "*tp_evil*"' -o e.spoor -- \
	sh -c '"$1"' - "$TMP/$evil"
for form in perf-script json csv; do
	"$SPOOR" export -f $form e.spoor >e.$form 2>/dev/null
done
"$SPOOR" dump e.spoor >e.dump 2>/dev/null
"$SPOOR" report -s trace e.spoor >e.report 2>/dev/null
is "$(grep -c 'tp_evil' e.perf-script e.json e.csv e.dump e.report | cut -d: -f2 | sort -u | head -n 1)" 1 "is shown"
is "$(cat e.perf-script e.json e.csv e.dump e.report | LC_ALL=C grep -ca $'[\e\x81]')" 0 "and no control character of it"
is "$(jq -r '.trace.filename' e.json)" "$TMP/$evil" "JSON has it as it was"

# --- what is refused -----------------------------------------------------------------------------

rm -f n.spoor
exits 1 "a field that there is not" "$SPOOR" record -e $exec_event --filter 'nosuch == 1' -o n.spoor -- true
like "$(cat err)" "refuses the filter 'nosuch == 1': Field not found, at character 8 .*its fields: .*filename pid old_pid\)" \
	"is told in the kernel's words, with the place and the fields"
exits 1 "an operand that is missing" "$SPOOR" record -e $exec_event --filter 'pid > 1 && (old_pid == 2' -o n.spoor -- true
like "$(cat err)" "$exec_event: the kernel refuses .*: Too many '\(', at character 12" "is told with its place"
ok "and nothing was written" test ! -e n.spoor
is "$(find $tracefs/instances -mindepth 1 -name 'spoor-*' 2>/dev/null | wc -l)" 0 "no instance of tracefs is left"
exits 1 "a dry run with a filter of an unknown field" "$SPOOR" record --dry-run -e sched:sched_switch --filter 'no_field == 1' -- true
like "$(tr -s '\n ' ' ' <err)" "refuses the filter 'no_field == 1': Field not found" "is told as when recording"
exits 0 "a dry run with a filter" "$SPOOR" record --dry-run -e sched:sched_switch --filter 'prev_pid == 1' -- true
exits 1 "a dry run of more descriptors than there may be" \
	bash -c 'ulimit -n 20; exec "$@"' - "$SPOOR" record --dry-run -a -e 'sched:*'
like "$(tr -s '\n ' ' ' <err)" 'need [0-9]+ file descriptors, and the hard limit is 20' "is told"
exits 2 "of what is no tracepoint" "$SPOOR" record -e cpu-clock --filter 'pid > 1' -o n.spoor -- true
like "$(cat err)" 'cpu-clock is no tracepoint: --filter is for those' "is told"
exits 2 "before any event" "$SPOOR" record --filter 'pid > 1' -e $exec_event -o n.spoor -- true
like "$(cat err)" 'the -e before it, and there is none' "is told"
exits 2 "--exclude-perf of what is no tracepoint" "$SPOOR" record -e cpu-clock --exclude-perf -o n.spoor -- true
like "$(cat err)" 'cpu-clock is no tracepoint: --exclude-perf is for those' "is told"

# --- the recorder itself -------------------------------------------------------------------------

own_samples() # OPTION...: how many switches of a recorder's threads it records
{
	local pid tids

	rm -f own.spoor
	"$SPOOR" record -a -e sched:sched_switch "$@" --call-graph none -o own.spoor 2>/dev/null &
	pid=$!
	# It has all its threads, and records with them.
	wait_for 20 test -s own.spoor
	sleep 0.7
	tids=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f,' 2>/dev/null)
	kill -INT $pid || return
	wait $pid
	"$SPOOR" dump --json own.spoor | jq -s --argjson t "[${tids%,}]" \
		'[.[] | select(.type == "SAMPLE" and (.tid as $i | $t | index($i)))] | length'
}
ok "a recorder's threads are switched" test "$(own_samples)" -gt 0
is "$(own_samples --exclude-perf)" 0 "--exclude-perf: and they are not recorded"
ok "but others" test "$("$SPOOR" info --json own.spoor | jq .samples)" -gt 0
is "$(own_samples --filter 'next_pid >= 0' --exclude-perf)" 0 "also beside a filter"
ok "with which others are" test "$("$SPOOR" info --json own.spoor | jq .samples)" -gt 0
# The kernel takes one filter for each event, once.
exits 0 "beside an event with a filter alone" "$SPOOR" record -a -e sched:sched_switch --filter 'next_pid >= 0' --exclude-perf \
	-e $exec_event --filter "$filter" --call-graph none -o own.spoor -- "${load[@]}"
is "$("$SPOOR" report --json -s event --event $exec_event own.spoor | jq .samples)" 25 "which has its own"

done_testing
