#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# perf reads the exports of recordings of every kind: the golden ones, of which some have nothing but
# tracepoints, were cut or damaged, or have no samples.
. "$(dirname "$0")/../lib.sh"
need_command jq perf

golden=$TOP/tests/golden/0.1.0

for recording in "$golden"/*.spoor; do
	name=$(basename "$recording" .spoor)
	samples=$("$SPOOR" info --json "$recording" 2>/dev/null | jq .samples)
	for k in perf-data perf-data-file; do
		# It has a section HOSTNAME that is none, over which perf ends when it reads a pipe.
		[ "$name $k" != "small perf-data" ] || continue
		"$SPOOR" export -f $k "$recording" -o x.$k 2>/dev/null
		is "$(perf script -G -i x.$k -F event 2>/dev/null | grep -c .)" "$samples" \
			"$name, $k: perf script has every sample"
		ok "$name, $k: with all its fields" perf script -i x.$k
		ok "$name, $k: perf report" perf report --stdio -i x.$k
	done
	# perf 6.1 crashes here over every pipe, its own ones as well, and over files that do not
	# tell the kernel's release: these were made by a program.
	[[ " cut header-damaged payload-damaged small verbatim " != *" $name "* ]] || continue
	exits 0 "$name: perf data convert" perf data convert --to-json x.json --force -i x.perf-data-file
	is "$(jq '.samples | length' x.json)" "$samples" "$name: every sample in JSON"
	rm -f x.*
done

# Of a tracepoint perf knows its name, and that its own fields are nobody's.
for k in perf-data perf-data-file; do
	"$SPOOR" export -f $k "$golden/raw.spoor" -o raw.$k 2>/dev/null
	perf script -G -i raw.$k -F event,trace >out 2>err
	is "$(sort -u out | tr -d ' \n')" "sched:sched_switch:" "$k: a tracepoint, and nothing made up"
	is "$(grep -ci 'fail\|error' err)" 0 "$k: without complaint" || diag_file err
	exits 0 "$k: import" "$SPOOR" import -q raw.$k -o again.spoor
	"$SPOOR" export -f $k again.spoor -o again.$k 2>/dev/null
	ok "$k: and it is in the next export" perf script -i again.$k
done

done_testing
