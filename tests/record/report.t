#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# spoor report and spoor export on recordings of a program whose split is known (fixtures/split.cc).
# shellcheck disable=SC2016,SC2094
. "$(dirname "$0")/../lib.sh"
need_command jq script c++filt

cp "$FIXTURES/split" split
"$SPOOR" record -e cpu-clock:u -o split.spoor -- ./split 2 2>record.err ||
	"$SPOOR" record -o split.spoor -- ./split 2 2>record.err ||
	bail "recording failed: $(cat record.err)"
"$SPOOR" record -e cpu-clock:u -o recurse.spoor -- ./split 2 recurse 2>/dev/null || bail "recording failed"

row() # N FILE: the Nth row of a text report
{
	grep -v '^#' "$2" | grep . | sed -n "$1p"
}

# --- text

exits 0 "a report" "$SPOOR" report split.spoor
cp out split.txt
is "$(cat err)" "" "nothing is said of a whole recording"
like "$(row 1 split.txt)" '^ +[0-9.]+%  split    split  +\[\.\] demo::Work<int>::heavy$' "the top row is the hot function"
in_range "$(row 1 split.txt | sed 's/%.*//')" 70 80 "with three quarters"
like "$(row 2 split.txt)" '%  split    split  +\[\.\] demo::light$' "then the other one"
in_range "$(row 2 split.txt | sed 's/%.*//')" 20 30 "with one"
like "$(cat split.txt)" '^# Total Lost Samples: 0$' "losses on top"
like "$(cat split.txt)" "^# Samples: [0-9]+ of event 'cpu-clock:u'$" "samples and event on top"
like "$(cat split.txt)" '^# Overhead  Command  Shared Object +Symbol$' "perf's columns"
is "$(grep -c $'[\033]' split.txt)" 0 "no colour in a file"
"$SPOOR" report --no-demangle split.spoor >out
like "$(row 1 out)" '_ZNK4demo4WorkIiE5heavyEv$' "--no-demangle"
"$SPOOR" report -n -s sym,dso split.spoor >out
like "$(cat out)" '^# Overhead +Samples +Symbol +Shared Object$' "-n and --sort choose columns"
"$SPOOR" report --percent-limit 10 split.spoor >out
is "$(grep -v '^#' out | grep -c .)" 2 "--percent-limit"
is "$("$SPOOR" report -i - <split.spoor | grep -v '^#')" "$(grep -v '^#' split.txt)" "from standard input"
is "$("$SPOOR" report -i split.spoor | md5sum)" "$("$SPOOR" report -i split.spoor | md5sum)" "always the same"
cp split.spoor recording.spoor
is "$("$SPOOR" report)" "$("$SPOOR" report split.spoor | sed '1s/split.spoor/recording.spoor/')" "recording.spoor is the default"

# --- perf's spellings

is "$("$SPOOR" report --stdio split.spoor | md5sum)" "$("$SPOOR" report split.spoor | md5sum)" "--stdio"
"$SPOOR" report -q split.spoor >out
is "$(cat out)" "$(grep -v '^#' split.txt | grep .)" "-q: rows alone"
"$SPOOR" report -F sample,sym,period -s dso split.spoor >out
like "$(cat out)" '^# +Samples  Symbol +Period  Shared Object$' "-F: columns in their order, what is sorted by behind them"
"$SPOOR" report -F +period split.spoor >out
like "$(cat out)" '^# Overhead +Period  Command +Shared Object +Symbol$' "-F +: besides the others"
"$SPOOR" report -s +cpu split.spoor >out
like "$(cat out)" '^# Overhead  Command +Shared Object +Symbol +CPU$' "-s +: besides the others"
is "$("$SPOOR" report -q -F period split.spoor | tr -d ' ')" "$("$SPOOR" report --json split.spoor | jq .period)" "without a key all is one row"
"$SPOOR" report -t , --no-demangle split.spoor >out
like "$(cat out)" '^# Overhead,Command,Shared Object,Symbol$' "-t: titles"
like "$(row 1 out)" '^[0-9.]+%,split,split,\[\.\] _ZNK4demo4WorkIiE5heavyEv$' "and rows, without blanks"
is "$("$SPOOR" report -q -t : -s sym split.spoor | head -n 1 | sed 's/.*%//')" ":[.] demo..Work<int>..heavy" "a name has none in it"
is "$("$SPOOR" report -q -t '\t' -s sym,dso split.spoor | head -n 1 | cut -f 3)" split "a tab"
for w in "-w 0,9,12,14" -w0,9,12,14 --column-widths=0,9,12,14 "--column-widths 0,9,12,14"; do
	# shellcheck disable=SC2086
	is "$("$SPOOR" report -q $w split.spoor | head -n 1 | sed 's/.*%//')" "  split      split         [.] de..:heavy" "$w"
done
is "$("$SPOOR" report -q split.spoor -w | md5sum)" "$("$SPOOR" report -q split.spoor | md5sum)" "-w changes nothing in a pipe"

"$SPOOR" report --header split.spoor >out
like "$(cat out)" "^# hostname : $(uname -n)$" "--header: where"
like "$(cat out)" '^# cmdline : .* record -e cpu-clock:u .*split\.spoor -- ./split 2$' "how"
is "$(tail -n "$(wc -l <split.txt)" out)" "$(cat split.txt)" "and the report"
is "$("$SPOOR" report --header -q split.spoor | md5sum)" "$("$SPOOR" report -q split.spoor | md5sum)" "not with -q"
ok "nor with --json" sh -c '"$SPOOR" report --header --json split.spoor | jq .'
exits 1 "the header of what is not there" "$SPOOR" report --header-only nothing.spoor

# --- callers

"$SPOOR" report --children recurse.spoor >children.txt
like "$(cat children.txt)" '^# Children +Self +Command' "perf's columns with --children"
"$SPOOR" report --children --json recurse.spoor >children.json
of() # SYMBOL KEY: of the recursive program's report
{
	json children.json "[.rows[] | select(.symbol == \"$1\") | .$2] | add"
}
in_range "$(of demo::recurse children)" 95 100 "a recursive function counts once a stack"
in_range "$(of demo::recurse overhead)" 40 60 "and has itself half"
in_range "$(of demo::leaf overhead)" 40 60 "as has the leaf"
is "$(json children.json '[.rows[] | select(.children < .overhead)] | length')" 0 "no total is less than its self"

"$SPOOR" report -s sym -p '^demo::l' -q recurse.spoor >out
like "$(row 1 out)" '%  \[\.\] demo::(leaf  +demo::leaf|recurse  +\[other\])$' "-p: a key more, the function itself or its first caller"
is "$("$SPOOR" report -s parent -p 'recurse|main' --json recurse.spoor | jq -r '.rows[0].parent')" demo::recurse "the first"
is "$("$SPOOR" report -s parent,sym --json recurse.spoor | jq -r '[.rows[] | select(.symbol | startswith("demo")).parent] | unique[]')" \
	"[other]" "no parent that is asked for"

# --- call graphs

graph() # OPTION...: below the row of the leaf
{
	"$SPOOR" report -q -s comm,dso,sym "$@" recurse.spoor | sed -n '/demo::leaf$/,/^$/p' | sed 1d
}
graph -g >out
is "$(grep -c 'demo::recurse$' out)" 8 "-g: eight callers"
is "$(sed -n 's/^ *\(.*--\)\{0,1\}//; /./p' out | grep -v '^|$' | paste -sd';')" \
	"$("$SPOOR" export -f folded recurse.spoor | sort -nrk 2 | sed -n 's/^split;\(.*demo::leaf\) .*/\1/p' | head -n 1)" "from the outermost"
graph -g callee >out
is "$(sed -n '2s/.*---//p' out)" "demo::leaf" "-g callee: from the leaf"
is "$(sed -n '3p' out | tr -d ' ')" "demo::recurse" "to its caller"
for g in "-g caller" "-gcaller" "--call-graph caller" "--call-graph=caller" "-G" "--inverted" "-g graph,0.5,caller,function,percent"; do
	# shellcheck disable=SC2086
	is "$(graph $g)" "$(graph -g)" "$g"
done
is "$( (graph -g none; graph -G --no-call-graph; graph) | grep -c -- -- )" 0 "none"
like "$(graph -g folded,callee)" '^[0-9.]+% demo::leaf(;demo::recurse){8};' "-g folded"
like "$(graph -g flat,callee | head -n 3)" $'^ {11}[0-9.]+%\n {16}demo::leaf\n {16}demo::recurse$' "-g flat"
like "$(graph -g callee,count --percent-limit 0)" '---demo::leaf' "-g with other words"
# In a stack of a recursive function there is one way from its row to the root, and one to its leaf.
"$SPOOR" report --children -g callee,0 -s sym --json recurse.spoor >out
is "$(jq -c '[.rows[] | select(.symbol == "demo::recurse") | .call_graph[] | select(.depth == 1) | [.name, .samples]]' out)" \
	"[[\"demo::recurse\",$(jq '.rows[] | select(.symbol == "demo::recurse").children_samples' out)]]" "--children: each stack once"
is "$(jq '[.rows[] | (.call_graph | map(select(.depth == 1).samples) | add) == .children_samples] | unique | .[]' out)" true \
	"a row's graph has all of its samples"
is "$(jq '[.rows[].call_graph | map(.self_samples) | add] | add' out)" "$(jq '[.rows[].children_samples] | add' out)" "to the last one"
"$SPOOR" report -g 2>/dev/null split.spoor >out
like "$(cat out)" '^# Call graphs: from callers to what they called; shares are of what those of rows are of, those below 0.5% are left out$' \
	"what they are is said"
"$SPOOR" report -q -g callee,50 -s sym split.spoor >out
is "$(grep -c -- '---demo' out)" 1 "rows below the least share have none"
"$SPOOR" record -e cpu-clock:u --call-graph none -o alone.spoor -- ./split 0.2 2>/dev/null
like "$("$SPOOR" report -g --no-inline alone.spoor)" '^# No sample has callers' "a recording without callers"
is "$("$SPOOR" report -q -g -s sym --max 1 split.spoor | grep -c '^ *[0-9.]*%')" 1 "--max"
like "$("$SPOOR" report -g --json alone.spoor | jq -c '.rows[0].call_graph | map(.depth)')" '^\[1\]$' "nor has it more in JSON"

# --- the first rows

"$SPOOR" report --max 1 split.spoor >out
# The columns are as wide as what is in them.
is "$(grep -v '^#' out | grep . | tr -s ' ')" "$(row 1 split.txt | tr -s ' ')" "--max: the first row"
like "$(cat out)" "^# $(($(grep -v '^#' split.txt | grep -c .) - 1)) more rows? (is|are) left out$" "and how many more there are"
is "$("$SPOOR" report --max 1 --json split.spoor | jq -c '[(.rows | length), .events[0].rows_left_out]')" \
	"[1,$(("$("$SPOOR" report --json split.spoor | jq '.rows | length')" - 1))]" "in JSON too"
is "$("$SPOOR" report --max 1000 split.spoor)" "$(cat split.txt)" "more than there are"

# --- JSON

"$SPOOR" report --json split.spoor >split.json
is "$(json split.json '[.samples, .lost, .start_ns, .end_ns, (.rows[0] | .overhead, .samples, .period)] | map(type) | unique | join(" ")')" \
	number "numbers are numbers"
is "$(json split.json '.rows[0] | .comm, .dso, .symbol' | paste -sd' ')" "split split demo::Work<int>::heavy" "names"
is "$(json split.json '(.rows | map(.samples) | add) == .samples')" true "rows have every sample"
is "$(json split.json '.rows | map(.overhead) | add | . > 99.99 and . < 100.01')" true "and all of the period"
is "$(json split.json '.samples')" "$("$SPOOR" export -f folded split.spoor | awk '{ n += $NF } END { print n }')" \
	"folded stacks have every sample"

# --- folded

"$SPOOR" export -f folded recurse.spoor >folded
like "$(cat folded)" '^split;(.*;)?main(;demo::recurse){8};demo::leaf [0-9]+$' "stacks with the root first"
is "$(LC_ALL=C sort -c folded 2>&1; awk '{ $NF = ""; print }' folded | sort | uniq -d)" "" "sorted, each once"
chmod 666 recurse.spoor
exits 0 "export into a file" "$SPOOR" export -f folded -o file.folded -i recurse.spoor
ok "is the same" cmp folded file.folded
is "$(stat -c %a file.folded)" "$(printf '%o' $((0666 & ~$(umask))))" "a file like any other"
is "$("$SPOOR" export -f folded --weight period recurse.spoor | awk '{ n += $NF } END { printf "%.0f", n }')" \
	"$("$SPOOR" report --json recurse.spoor | jq .period)" "--weight period"

# --- filters

sum() # OPTION...: samples that pass
{
	"$SPOOR" report --json "$@" split.spoor | jq .samples
}
all=$(sum)
is "$(($(sum --symbol demo::light) + $(sum -S 'demo::Work<int>::heavy')))" \
	"$(sum --symbol 'demo::light,demo::Work<int>::heavy')" "--symbol"
is "$(sum --symbol 'demo::*')" "$(sum --symbol 'demo::light,demo::Work<int>::heavy')" "--symbol with a pattern"
is "$(sum --symbol-filter ::li)" "$(sum --symbol demo::light)" "--symbol-filter: a part"
isnt "$(sum --symbol-filter ::li)" 0 "has samples"
is "$(sum --comms split --dsos split --symbols demo::light)" "$(sum --symbol demo::light)" "--comms, --dsos, --symbols"
is "$(sum --comm split) $(sum -c nobody) $(sum --comm 'sp?it') $(sum --comm 's?it')" "$all 0 $all 0" "--comm"
is "$(($(sum --time 0%-50%) + $(sum --time 50%-100%)))" "$all" "--time: two halves are the whole"
# Of the time; how many samples that is, other programs of the machine decide.
middle=$("$SPOOR" dump --json split.spoor | jq -s '[.[] | select(.type == "SAMPLE").time] |
	(min + (max - min) / 2) as $middle | [.[] | select(. < $middle)] | length')
in_range "$(sum --time 0%-50%)" $((middle - 1)) $((middle + 1)) "each is half of the time"
is "$(sum --cpu 0-4095) $(sum --cpu 4095)" "$all 0" "--cpu"
is "$(sum -d split)" "$(sum --dso "$TMP/split")" "--dso by name and by path"
pid=$("$SPOOR" report -s pid --json split.spoor | jq '.rows[0].pid')
is "$(sum --pid "$pid") $(sum --pid 1)" "$all 0" "--pid"
"$SPOOR" report --comm nobody split.spoor >out
like "$(cat out)" '^# No sample is left' "nothing passes: said"

# --- shares under a filter, as perf report has them

cp split other
"$SPOOR" record -e cpu-clock:u -o both.spoor -- sh -c './split 0.6; ./other 0.3' 2>/dev/null
shares() # OPTION...: "SHARE COMMAND OBJECT"
{
	"$SPOOR" report -s comm,dso "$@" both.spoor | grep -v '^#' | awk '{ print $1, $2, $3 }' | LC_ALL=C sort
}
absolute() # OPTION...
{
	shares --percentage absolute "$@"
}
in_range "$(absolute --comm other | awk '{ n += $1 } END { print n }')" 20 50 "--percentage absolute: shares of the whole"
is "$(absolute --comm other)" "$(shares | grep ' other ')" "rows are as without a filter"
in_range "$(shares --comm other | awk '{ n += $1 } END { print n }')" 99.9 100.1 "with a filter: shares of what is left"
is "$(shares --comm other)" "$(shares --comm other --percentage relative)" "which is --percentage relative"
"$SPOOR" report --comm other both.spoor >out
like "$(cat out)" '^# Of the whole: [0-9.]+% \([0-9]+ of [0-9]+ samples\); shares are of these samples$' "both are told"
"$SPOOR" report --percentage absolute --comm other both.spoor >out
like "$(cat out)" '^# Of the whole: [0-9.]+% \([0-9]+ of [0-9]+ samples\); shares are of the whole$' "both are told"
"$SPOOR" report --json --percentage absolute --comm other both.spoor >out
is "$(jq -c '[.percentage, (.events[0] | .samples < .whole_samples and .period < .whole_period)]' out)" \
	'["absolute",true]' "in JSON too"
is "$(jq '.events[0].whole_samples' out)" "$("$SPOOR" report --json both.spoor | jq .samples)" "the whole is all of it"
is "$(jq '.rows | map(.overhead) | add * 1000 | round' out)" \
	"$(jq '.events[0] | .period / .whole_period * 100000 | round' out)" "and rows are shares of that"
if command -v perf >/dev/null; then
	"$SPOOR" export -f perf-data-file -i both.spoor -o both.data
	perf_shares() # OPTION...: it leaves out a column that has one value
	{
		perf report -i both.data --no-children -g none --percent-limit 0 --stdio -q -F overhead,comm,dso "$@" \
			2>/dev/null | awk 'NF && !/^#/ { print $1 }' | sort
	}
	for options in "--comm other" "--comm other --percentage relative" "--dso split --percentage relative" \
		"--dso other" "--cpu 0" "--cpu 0 --comm split" "--time 10%-60% --comm split"; do
		# shellcheck disable=SC2086
		is "$(absolute $options | cut -d' ' -f1 | sort)" "$(perf_shares $options)" "$options: as perf"
	done
	fields="-F sample,period,comm,sym --dso split -q -t |"
	# Some perfs demangle by libstdc++, with parameters.
	# shellcheck disable=SC2086
	is "$("$SPOOR" report $fields -s sym both.spoor)" \
		"$(perf report -i both.data --no-children -g none --percent-limit 0 --stdio $fields -s sym 2>/dev/null |
			grep -v '^#' | grep . | sed 's/ *| */|/g; s/([^|]*$//; s/^ *//; s/ *$//')" "-F and -t: as perf"
	perf report -i both.data --header-only 2>/dev/null | grep -E '^# (hostname|os release|arch|nrcpus|cmdline)' |
		sed 's/ *$//' >theirs
	"$SPOOR" report --header-only both.spoor >out
	is "$(grep -Ff theirs -c out)" 6 "--header-only: lines of perf's"
	like "$(cat out)" '^# event : name = cpu-clock:u, type = 1, ' "with its event"
	is "$(grep -vc '^#' out)" 0 "and no row"
else
	skip "perf is not installed" 11
fi

# --- what is not there

"$SPOOR" record -e cpu-clock:u -c 100000000000 -o empty.spoor -- true 2>/dev/null
exits 0 "a recording without samples" "$SPOOR" report empty.spoor
like "$(cat out)" 'has no samples' "says so"
exits 0 "and its folded stacks" "$SPOOR" export -f folded empty.spoor
is "$(cat out)" "" "are none"
exits 1 "no such file" "$SPOOR" report nothing.spoor
like "$(cat err)" 'nothing.spoor: No such file' "named"
is "$(wc -l <err)" 1 "in a line"

mkdir -p symfs/"$TMP" && mv split symfs/"$TMP"/split
"$SPOOR" report split.spoor >out
like "$(row 1 out)" '\[\.\] \[unknown\]$' "the program is gone: [unknown]"
like "$(cat out)" "^# +[0-9.]+%  $TMP/split: .*not on this machine" "explained"
in_range "$("$SPOOR" report --json split.spoor | jq '.unresolved.no_file')" $((all * 9 / 10)) "$all" "counted"
"$SPOOR" report --symfs symfs split.spoor >out
like "$(row 1 out)" 'demo::Work<int>::heavy$' "--symfs has it"
sed 's/heavy/wrong/g' "$TOP/tests/fixtures/split.cc" >split.cc
"${CXX:-g++}" -O1 -g -fno-omit-frame-pointer -o split split.cc || bail "no compiler"
"$SPOOR" report split.spoor >out
is "$(grep -c 'demo::' out)" 0 "another build gives no names"
like "$(cat out)" "^# +[0-9.]+%  $TMP/split: .*another build than the one" "and why"
mv symfs/"$TMP"/split split

# --- hostile names

evil=$'\033[31mx;\n\xff'
cp split "$evil"
"$SPOOR" record -e cpu-clock:u -o evil.spoor -- "./$evil" 0.3 2>/dev/null
"$SPOOR" report evil.spoor >out
is "$(LC_ALL=C grep -c $'[\033\xff]' out)" 0 "no escape reaches the terminal"
like "$(row 1 out)" '^ +[0-9.]+%  \\033\[31mx;\\012\\xff  ' "but is shown"
is "$("$SPOOR" report --json evil.spoor | jq -c '.rows[0].comm')" '"\u001b[31mx;\n\\xff"' "JSON stays JSON"
like "$("$SPOOR" export -f folded evil.spoor | head -n 1)" '^\\033\[31mx:\\012\\xff;' "folded stays folded"

# --- two events

"$SPOOR" record -e cpu-clock:u -e page-faults:u -F 999 -o two.spoor -- ./split 0.3 2>/dev/null
"$SPOOR" report two.spoor >out
is "$(grep -c '^# Samples: .* of event' out)" 2 "a section for each event"
is "$("$SPOOR" report --json two.spoor | jq -r '.events[].event' | paste -sd' ')" "cpu-clock:u page-faults:u" "events"
exits 0 "folded stacks of one of them" "$SPOOR" export -f folded two.spoor
like "$(cat err)" "only event 'cpu-clock:u'" "say which"
is "$("$SPOOR" export -f folded --event page-faults:u two.spoor 2>&1 | awk '{ n += $NF } END { print n }')" \
	"$("$SPOOR" report --json --event page-faults:u two.spoor | jq .samples)" "--event chooses"

# --- usage

usage() # NAME ARGUMENT...
{
	local name=$1
	shift
	exits 2 "$name" "$SPOOR" "$@"
	is "$(wc -l <err) $(wc -c <out)" "1 0" "$name: one line on stderr"
}
usage "no command"
usage "unknown command" reprot
like "$(cat err)" "did you mean 'report'" "suggests"
usage "a command of perf" stat -- true
like "$(cat err)" "^spoor: no command 'stat': spoor record --counters -- COMMAND, then spoor counters" "names what does the same"
usage "help of one" help script
like "$(cat err)" 'spoor export -f perf-script' "likewise"
usage "a command of spoorctl" status
like "$(cat err)" 'spoorctl status' "names it"
# Each command of perf is one of spoor, or is told of; and what is told is a command.
if command -v perf >/dev/null; then
	perf --help 2>&1 | sed -n 's/^   \([a-z0-9-]*\)  .*/\1/p' >theirs
	in_range "$(wc -l <theirs)" 20 1e3 "commands of perf are known"
	while read -r command; do
		"$SPOOR" help "$command" >help 2>&1 || grep "no command '$command': ." help >>instead || echo "$command"
	done <theirs >bad
	is "$(cat bad)" "" "each is a command, or there is one to take instead"
	grep -o 'spoor [a-z]\{3,\}' instead | sort -u | sed 's/spoor //; /^has$/d; /^only$/d' >ours
	while read -r command; do
		"$SPOOR" help "$command" >/dev/null 2>&1 || echo "$command"
	done <ours >bad
	is "$(cat bad)" "" "which there is"
fi
usage "a command cut short" fl
like "$(cat err)" "did you mean 'flamegraph'" "suggests"
usage "unknown option" report --frobnicate
unlike "$(cat err)" 'did you mean' "that is like none"
usage "a mistyped option" report --precentage absolute
like "$(cat err)" "^spoor report: unknown option '--precentage'; did you mean --percentage\?" "suggests"
usage "one of another program" record --callgraph=dwarf
like "$(cat err)" 'did you mean --call-graph\?' "suggests"
usage "one of spoor itself" --no-pgaer report
like "$(cat err)" '^spoor: .*did you mean --no-pager\?' "suggests"
usage "an option cut too short" report --per
like "$(cat err)" "'--per' can be any of --percentage or --percent-limit" "tells which there are"
usage "unknown letter" report -Z
usage "unknown sort key" report --sort comm,parents
like "$(cat err)" 'comm dso sym' "lists the keys"
usage "missing argument" report --sort
usage "argument too many" report --json=1 split.spoor
usage "two files" report split.spoor empty.spoor
usage "bad base of shares" report --percentage half
usage "unknown field" report -F sample,parents
like "$(cat err)" 'overhead overhead_children sample period comm' "lists the fields"
usage "no separator" report -t ''
usage "bad widths" report --column-widths=10,x
usage "too many widths" report -w "$(seq -s, 100)"
usage "bad call graph" report -gsideways
usage "bad call graph, a word of its own" report -g sideways split.spoor
like "$(cat err)" "'sideways' is none of graph" "it is what is named"
usage "bad limit of a call graph" report -g101
usage "bad regular expression" report -p "a("
usage "no number of rows" report --max 0
usage "bad percent" report --percent-limit x
usage "bad time" report --time 5-4
usage "no format" export split.spoor
usage "unknown format" export -f svg split.spoor
for c in record report export info dump verify; do
	exits 0 "$c --help" "$SPOOR" "$c" --help
	cp out help
	exits 0 "help $c" "$SPOOR" help "$c"
	ok "$c: both the same" cmp out help
	is "$(awk 'length > 80' help)" "" "$c: in 80 columns"
done
like "$("$SPOOR" --version)" '^spoor [0-9]' "--version"

# --- where it goes

exits 1 "a full disk" sh -c '"$SPOOR" report split.spoor >/dev/full'
like "$(cat err)" 'No space left' "said"
exits 1 "a full disk for JSON" sh -c '"$SPOOR" report --json split.spoor >/dev/full'
exits 1 "a full disk for an export" "$SPOOR" export -f folded -o /dev/full split.spoor
like "$(cat err)" '/dev/full: No space left' "named"
exits 1 "no directory for an export" "$SPOOR" export -f folded -o no/such/file split.spoor
exits 1 "a closed output" sh -c '"$SPOOR" report split.spoor >&-'
( trap '' PIPE; "$SPOOR" report split.spoor 2>pipe.err; echo $? >pipe.status ) | true
is "$(cat pipe.err)" "" "a reader that is gone is no news"

tty() # COMMAND: its output on a terminal of 60 columns
{
	script -qec "stty cols 60 rows 24; $1 2>/dev/null" /dev/null </dev/null | tr -d '\r'
}
export SPOOR_PAGER="sed 's/^/PAGED /'" TERM=xterm
like "$(tty '"$SPOOR" report split.spoor')" '^PAGED # Overhead' "a terminal has a pager"
unlike "$(tty '"$SPOOR" --no-pager report split.spoor')" 'PAGED' "--no-pager"
unlike "$(tty '"$SPOOR" report --no-pager split.spoor')" 'PAGED' "also after the command"
unlike "$("$SPOOR" report split.spoor)" 'PAGED' "a pipe has none"
unset SPOOR_PAGER
export PAGER=cat
like "$(tty '"$SPOOR" report split.spoor')" $'\033\\[31m' "a terminal has colour"
unlike "$(tty 'NO_COLOR=1 "$SPOOR" report split.spoor')" $'\033' "NO_COLOR"
unlike "$(tty '"$SPOOR" report --color never split.spoor')" $'\033' "--color never"
like "$("$SPOOR" --color always report split.spoor)" $'\033\\[31m' "--color always"
is "$(tty 'NO_COLOR=1 "$SPOOR" report split.spoor' | awk 'length > 60' | wc -l)" 0 "a terminal is not wrapped"

mkdir bin
printf '#!/bin/sh\necho "less $* LESS=$LESS"\ncat\n' >bin/less
chmod +x bin/less
like "$(tty 'unset PAGER; PATH=$PWD/bin:$PATH "$SPOOR" report split.spoor')" '^less -FRSX LESS=FRSX$' \
	"less scrolls sideways"
like "$(tty 'PAGER=less LESS=iM PATH=$PWD/bin:$PATH "$SPOOR" report split.spoor')" '^less +LESS=iM$' \
	"unless told otherwise"

# --- names that begin and end alike, at 80 columns

cat >alike.cc <<'CC'
#include <cstdlib>
template <typename T> struct a_template_of_which_there_is_more_than_one {
	__attribute__((noinline)) static void that_ends_alike(long n)
	{
		for (volatile long i = n; i > 0; i = i - 1)
			;
	}
};
struct first_of_two {};
struct second_of_two {};
int main(int, char **argv)
{
	for (long n = atol(argv[1]); n > 0; n--) {
		a_template_of_which_there_is_more_than_one<first_of_two>::that_ends_alike(4000);
		a_template_of_which_there_is_more_than_one<second_of_two>::that_ends_alike(1000);
	}
}
CC
"${CXX:-g++}" -O1 -o alike alike.cc || bail "no compiler"
"$SPOOR" record -e cpu-clock:u -o alike.spoor -- ./alike 50000 2>/dev/null
screen() # COMMAND: on 80 columns, without colour
{
	script -qec "stty cols 80 rows 24; NO_COLOR=1 $1 2>/dev/null" /dev/null </dev/null | tr -d '\r'
}
screen '"$SPOOR" report alike.spoor' >out
is "$(awk 'length > 80' out)" "" "80 columns are enough"
like "$(screen '"$SPOOR" report -w alike.spoor')" '<first_of_two>::that_ends_alike$' "-w: whole names"
like "$(screen '"$SPOOR" report -w 0,0,0,30 alike.spoor')" '^ +[0-9.]+%  alike    alike +\[\.\] .{26}$' "or of a width"
first=$(row 1 out) second=$(row 2 out)
like "$first" '\[\.\] a_.*\.\..*first' "a long name has its middle left out, but for what differs"
like "$second" '\[\.\] a_.*\.\..*second' "as has the other"
"$SPOOR" report alike.spoor >out
like "$(cat out)" 'a_template_of_which_there_is_more_than_one<first_of_two>::that_ends_alike$' "a pipe gets it whole"
mv alike alike.gone
screen '"$SPOOR" report alike.spoor' >out
is "$(awk 'length > 80' out)" "" "sentences have 80 columns, too"
like "$(tr -s '\n# ' ' ' <out)" "/alike: the file is not on this machine; copy the file here, give --symfs a directory that has it, or try --debuginfod" \
	"and all their words"
is "$("$SPOOR" report alike.spoor | grep -c '^#.*alike: .* that has it, or try --debuginfod (build-id [0-9a-f]*)$')" 1 "in a pipe a line each"

done_testing
