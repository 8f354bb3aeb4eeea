#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/fuzz/run.sh SECONDS FUZZER...: runs each libFuzzer program that long, one on each CPU at a time. What
# it finds is kept beside the program and fails the run; new coverage goes to corpus/ there, never into the tree.
set -u

seconds=$1
shift
if [ $# -gt 1 ]; then
	printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "$0" "$seconds"
	exit
fi
fuzzer=$1
name=$(basename "$fuzzer")
dir=$(dirname "$fuzzer")
corpus=$dir/corpus/$name
mkdir -p "$corpus"
arguments=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1
	-artifact_prefix="$dir/$name-")
if [ -f "tests/fuzz/$name.dict" ]; then
	arguments+=(-dict="tests/fuzz/$name.dict")
fi
seeds=()
if [ -d "tests/fuzz/seeds/$name" ]; then
	seeds=("tests/fuzz/seeds/$name")
fi
if ! "$fuzzer" "${arguments[@]}" "$corpus" ${seeds[@]+"${seeds[@]}"} >"$dir/$name.log" 2>&1 </dev/null; then
	echo "fuzz: $name: FAILED; input kept as $dir/$name-*" >&2
	tail -n 60 "$dir/$name.log" >&2
	exit 1
fi
echo "fuzz: $name: clean after $(sed -n 's/^stat::number_of_executed_units: //p' "$dir/$name.log") inputs in $seconds s"
