#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor peek has the numbers of go tool pprof -peek on our pprof export; its text fits a terminal, and hostile
# names and expressions do no harm.
. "$(dirname "$0")/../lib.sh"
need_command go jq python3 script
need_record_all # their kernel functions are looked at
need_recordings compiler python storm machine recursion

export PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none
for name in compiler python storm machine; do
	[ $name = machine ] && own=(--comm "bash,g++,cc1plus,as,swapper") || own=()
	"$SPOOR" export --no-inline ${own[@]+"${own[@]}"} -f pprof -o $name.pb.gz $name.spoor 2>/dev/null
	go tool pprof -symbolize=none -sample_index=samples -nodecount=0 -nodefraction=0 -edgefraction=0 \
		-peek 'read|alloc|page|_PyEval|sys_' $name.pb.gz >theirs 2>pprof.err
	"$SPOOR" peek --no-inline ${own[@]+"${own[@]}"} --json 'read|alloc|page|_PyEval|sys_' $name.spoor >ours 2>err
	python3 "$TOP/tests/oracles/peek.py" theirs ours >compared 2>&1
	is "$(tail -n 1 compared)" "enough compared, 0 differ" "$name: callers and callees are pprof's" || diag_file compared
	is "$("$SPOOR" peek --json . $name.spoor 2>/dev/null | jq '.[0] | ([.functions[].self_samples] | add) <= .samples')" true \
		"$name: no sample is in two"
done

# --- a program whose calls are known
"$SPOOR" peek '^demo::recurse$' recursion.spoor >out
like "$(cat out)" '^ +[0-9.]+%  +(9[0-9]|100)\.[0-9]+%  +[0-9]+ +demo::recurse \(split\)$' "a recursive function counts once a stack"
like "$(cat out)" '^ {20} +[0-9]+ +[0-9.]+%    demo::leaf$' "what it called"
unlike "$(cat out)" '    demo::recurse$' "not itself"
is "$("$SPOOR" peek --json '^demo::recurse$' recursion.spoor | jq -r '.[0].functions[0].callees[0].name')" demo::leaf "in JSON"
leaf=$("$SPOOR" report --json --symbol demo::leaf recursion.spoor | jq .samples)
is "$("$SPOOR" peek --json '^demo::leaf$' recursion.spoor | jq -c '.[0].functions[0] | [.samples, .self_samples, (.callers | map(.samples) | add)]')" \
	"[$leaf,$leaf,$leaf]" "samples of the leaf come from its callers"
is "$("$SPOOR" peek --json --symbol demo::leaf '^demo::leaf$' recursion.spoor | jq -c '.[0] | [.samples, .whole_samples > .samples]')" "[$leaf,true]" "filters"
like "$("$SPOOR" peek --symbol demo::leaf demo::leaf recursion.spoor)" '^# Of the whole: .*; shares of functions are of these samples$' "are told"
like "$("$SPOOR" peek --percentage absolute --symbol demo::leaf demo::leaf recursion.spoor)" 'are of the whole$' "--percentage absolute"
is "$("$SPOOR" peek --max 1 --json demo recursion.spoor | jq -c '.[0] | [(.functions | length), .functions_left_out > 0]')" "[1,true]" "--max"
like "$("$SPOOR" peek --max 1 demo recursion.spoor)" '^# [0-9]+ more functions are left out$' "is told"
like "$("$SPOOR" peek --percent-limit 100 . recursion.spoor)" '\([0-9]+ more\)$' "--percent-limit"
is "$("$SPOOR" peek . recursion.spoor | md5sum)" "$("$SPOOR" peek . -i recursion.spoor | md5sum)" "always the same, also with -i"

is "$("$SPOOR" peek recursion.spoor '^demo::' | md5sum)" "$("$SPOOR" peek '^demo::' recursion.spoor | md5sum)" "the file first, as of perf's commands"
(mkdir demo.d && cp recursion.spoor demo.d/demo && cd demo.d && "$SPOOR" peek demo "$TMP/recursion.spoor" | grep -v '^# Rec') >got
is "$(md5sum <got)" "$("$SPOOR" peek demo recursion.spoor | grep -v '^# Rec' | md5sum)" "of two recordings the second one is the file"
for order in "recursion.spoor demo::leaf" "demo::leaf recursion.spoor"; do
	# shellcheck disable=SC2086 # two words
	is "$("$SPOOR" annotate --asm $order | md5sum)" "$("$SPOOR" annotate --asm -i recursion.spoor demo::leaf | md5sum)" "annotate $order"
done
exits 2 "annotate of two functions" "$SPOOR" annotate demo::leaf demo::recurse
exits 1 "a file first that is not there" "$SPOOR" peek nothing.spoor demo
exits 2 "-i and a file first" "$SPOOR" peek -i recursion.spoor recursion.spoor demo

# --- what is not there

exits 0 "no function" "$SPOOR" peek nosuchfunction recursion.spoor
like "$(cat out)" "^# No function has 'nosuchfunction' in its name; the hottest are: demo::" "says what there is"
exits 2 "no expression" "$SPOOR" peek
exits 2 "a bad one" "$SPOOR" peek 'a(' recursion.spoor
like "$(cat err)" '^spoor peek: a\(: ' "says why"
exits 2 "a recording for an expression" "$SPOOR" peek recursion.spoor
like "$(cat err)" "'recursion.spoor' is a recording; which functions of it" "says that it is one"
exits 2 "and for a function" "$SPOOR" annotate recursion.spoor
like "$(cat err)" "'recursion.spoor' is a recording, and no function: use -i" "says how"
exits 2 "one that glibc would never end with" timeout 20 "$SPOOR" peek '((a{1,200}){1,200}){1,200}' recursion.spoor
like "$(cat err)" 'repeats .* too many' "says why"
exits 2 "such a filter" timeout 20 "$SPOOR" report --focus '((a{1,200}){1,200}){1,200}' -i recursion.spoor
like "$(cat err)" 'repeats .* too many' "says why"
exits 2 "an empty key" "$SPOOR" report --sort=comm, -i recursion.spoor
like "$(cat err)" 'a key is empty' "says so"
exits 2 "a file too many" "$SPOOR" peek a recursion.spoor b
exits 1 "no recording" "$SPOOR" peek a nothing.spoor
exits 0 "an expression with an escape" "$SPOOR" peek $'\033[31m[x]' recursion.spoor
unlike "$(cat out)" $'\033' "which does not reach the terminal"

# --- a terminal

for width in 80 60; do
	script -qec "stty cols $width; NO_COLOR=1 \"\$SPOOR\" --no-pager peek . compiler.spoor 2>/dev/null" /dev/null </dev/null 2>&1 | tr -d '\r' >screen
	ok "rows on $width columns" grep -q '%' screen
	is "$(awk -v n=$width 'length > n' screen | head -3)" "" "no line is wider than $width columns"
done
done_testing
