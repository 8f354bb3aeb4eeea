#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# perf report on our perf.data, and spoor report: row by row the same shares, with and without
# children, the same callers of --parent, and below the rows the same call graphs; of a compiler, of Python, and of
# processes that come and go.
. "$(dirname "$0")/../lib.sh"
need_command perf jq python3
need_record_all # their kernel functions are looked at
need_recordings compiler python storm

# perf takes the files of a task that still runs, and has another root, from there.
one_perf()
{
	if [ "$(id -u)" -eq 0 ]; then
		unshare --pid --fork --mount-proc perf "$@"
	else
		perf "$@"
	fi
}
# Some perfs demangle by libstdc++, with parameters, and inlined calls are perf's after DWARF of its own.
# Aborts of perf 6.1, which a file of any process here may be the reason of, are not what is tested.
# Of 127 frames and more it takes the outer ones alone.
perf_report() # FILE OPTION...
{
	local file=$1
	shift
	for _ in 1 2 3; do
		one_perf report -i "$file" --stdio --max-stack 2000 --percent-limit 0 --no-inline --no-demangle "$@" 2>perf.err && return
	done
	diag_file perf.err
	return 1
}
spoor_report()
{
	local file=$1
	shift
	"$SPOOR" report --no-inline --no-demangle "$@" "$file" 2>spoor.err
}
agree() # WHAT OPTION...: theirs and ours
{
	local name=$1
	shift
	python3 "$TOP/tests/oracles/report_perf.py" "$@" >compared 2>&1
	is "$(tail -n 1 compared)" "${enough:-enough} compared, 0 differ" "$name" || { diag_file compared; diag_file perf.err; }
}

for name in compiler python storm; do
	"$SPOOR" export -f perf-data-file -o $name.data $name.spoor 2>/dev/null
	# By them the oracle knows which stacks perf drops, and why.
	one_perf script --max-stack 2000 -i $name.data -F comm,tid,time,ip,sym,symoff --no-inline >script.theirs 2>perf.err || diag_file perf.err
	"$SPOOR" dump --json $name.spoor | jq -r 'select(.type == "SAMPLE" and any(.fields.callchain[]?; startswith("CONTEXT"))) |
		"\(.tid) \(.time)"' >marks
	"$SPOOR" export -f perf-script --no-inline --no-demangle $name.spoor >script.ours 2>/dev/null
	for how in no-children children; do
		perf_report $name.data --$how -g none -s comm,dso,sym -t $'\001' >theirs ||
			{ skip "perf report fails" && continue; }
		spoor_report $name.spoor --$how --json >ours
		agree "$name: rows, --$how" rows theirs ours $how script.theirs script.ours marks
	done
	# Samples of each way, to the last one.
	for how in "--no-children -g caller" "--no-children -g callee" "--children -g callee"; do
		fields=sample
		[[ $how != --children* ]] || fields=overhead_children,sample
		# shellcheck disable=SC2086
		perf_report $name.data $how,0,count -F $fields -s comm,dso,sym >theirs ||
			{ skip "perf report fails" && continue; }
		# shellcheck disable=SC2086
		spoor_report $name.spoor $how,0,count --json >ours
		agree "$name: call graphs, $how" graphs theirs ours script.theirs script.ours
	done
done
done_testing
