#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Filters that leave no sample: every command says so, and ends with 0, of a recording and of an archive.
. "$(dirname "$0")/../lib.sh"
need_recordings recursion
mkdir archive
cp recursion.spoor archive/

commands=(report 'report --json' 'report -g' tree 'tree --json' 'peek demo' 'peek --json demo' annotate 'annotate demo::leaf'
	timeline 'timeline --json' heatmap 'heatmap -o x.html' 'flamegraph -o x.html' 'flamegraph --svg -o x.svg' dump 'dump --json')
for format in $("$SPOOR" export --help | tr -s ' \n' ' ' | sed 's/.*formats are \(.*\) -o,.*/\1/'); do
	commands+=("export -f $format -o x.out")
done
in_range "${#commands[@]}" 28 1000 "commands that read samples"
for filter in '--comm no-such' '--unit no-such' '--slice no-such' '--since 2001-01-01 --until 2001-01-02'; do
	for input in recursion.spoor archive; do
		for command in "${commands[@]}"; do
			# shellcheck disable=SC2086 # words
			"$SPOOR" $command $filter -i $input >out 2>err || echo "$command: $?"
			# In the heading of a report, or on standard error.
			tr -s '\n# ' ' ' <out | cat - err | grep -qiE 'no sample is|has no samples' || echo "$command: says nothing"
		done >bad
		is "$(cat bad)" "" "$filter of $input"
	done
done
for option in '' --json --folded; do
	# shellcheck disable=SC2086 # nothing, or one
	exits 0 "diff $option" "$SPOOR" diff $option --comm no-such recursion.spoor recursion.spoor
done
exits 0 "a flame graph with a baseline" "$SPOOR" flamegraph --comm no-such --baseline recursion.spoor -o x.html recursion.spoor
exits 0 "a baseline of which nothing is left" "$SPOOR" flamegraph --since 2001-01-01 --until 2001-01-02 \
	--baseline recursion.spoor -o x.html recursion.spoor
exits 0 "top" "$SPOOR" top -n 1 --comm no-such -i recursion.spoor
exits 0 "counters of a time" "$SPOOR" counters --until 2001-01-02 -i recursion.spoor

# What is named by an argument, and no filter, is a failure where it is not there.
exits 1 "a function without samples" "$SPOOR" annotate -i recursion.spoor no-such
exits 1 "a recording without counts" "$SPOOR" counters -i recursion.spoor
done_testing
