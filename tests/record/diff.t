#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor diff: what became slower is found and comes first, what did not is noise; rates are of what was
# covered; two times of one recording; --folded is difffolded.pl's. (tests/long/diff.t has a hundred runs.)
. "$(dirname "$0")/../lib.sh"
need_command jq python3 script perf

timed() # COMMAND...: leaves how long it took in $took
{
	local began=$EPOCHREALTIME status

	"$@"
	status=$?
	took=$(awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { print ended - began }')
	return $status
}
timed "$SPOOR" record -g -e cpu-clock:u -F 4999 -o a.spoor -- "$FIXTURES/shares" 3 1 2>err || bail "no recording"
took_a=$took
timed "$SPOOR" record -g -e cpu-clock:u -F 3001 -o b.spoor -- "$FIXTURES/shares" 4 2 2>err || bail "no recording"
took_b=$took

rows() # FILTER FILE: of the one event
{
	jq -r ".events[0].rows[] | $1" "$2"
}

# --- what changed ------------------------------------------------------------------------------
# A function that takes twice as long: 30 of 100 parts become 60 of 130, whatever the rates and times.
"$SPOOR" diff -n total --json a.spoor b.spoor >diff.json 2>err
is "$(rows 'select(.significant) | .symbol' diff.json | head -1)" share_slower "what became slower comes first"
ok "and is told by how much" jq -e '.events[0].rows[0] |
	.relative > 0.4 and .relative < 0.7 and .low > 0 and .high > .change and .p < 0.001' diff.json
is "$(rows 'select(.significant and .change > 0) | .symbol' diff.json)" share_slower "nothing else became slower"
"$SPOOR" diff -n total b.spoor a.spoor >text 2>err
like "$(grep '\[\.\]' text | head -1)" '-[0-9.]*%.*share_slower' "the other way round it became faster"

# The same twice is no change, and each sample weighs what it weighs in a report.
"$SPOOR" diff --percent-limit 0 --json a.spoor a.spoor >same.json 2>err
is "$(rows 'select(.significant or .change != 0) | .symbol' same.json)" "" "a recording and itself: nothing"
"$SPOOR" report -s dso,sym --json a.spoor 2>err | jq -r '.rows[] | "\(.dso) \(.symbol) \(.samples)"' | sort >wanted
exits 2 "an empty key" "$SPOOR" diff --sort comm, a.spoor a.spoor
like "$(cat err)" "--sort comm,: a key is empty" "an empty key is named as in report"
rows '"\(.dso) \(.symbol) \(.new_samples)"' same.json | sort >got
same "the samples of the report" got wanted

# --- normalised --------------------------------------------------------------------------------
"$SPOOR" diff --percent-limit 0 --json a.spoor b.spoor >cpu.json 2>err
"$SPOOR" diff --percent-limit 0 -n none --json a.spoor b.spoor >none.json 2>err
cat >normal.py <<'PY'
"""Sums over rows are the report's periods, over what was covered; which is the time that the program ran."""
import json, subprocess, sys
spoor, took_a, took_b = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
for side, path, seconds, took in (("baseline", "a.spoor", 3, took_a), ("new", "b.spoor", 4, took_b)):
    report = json.loads(subprocess.run([spoor, "report", "--json", path], capture_output=True).stdout)
    cpu, none = json.load(open("cpu.json")), json.load(open("none.json"))
    covered = cpu[side]["covered_s"]
    assert seconds - 0.1 < covered < took, covered
    total = sum(r[side] for r in none["events"][0]["rows"])
    assert abs(total - report["period"] / 1e9) < 1e-6, (total, report["period"])
    rate = sum(r[side] for r in cpu["events"][0]["rows"])
    assert abs(rate * covered - total) < 1e-6, (rate, covered, total)
PY
ok "rates are CPU time over covered time" python3 normal.py "$SPOOR" "$took_a" "$took_b"

# All CPUs cover as much for each second, tasks a second; also what perf recorded, which says so by other means.
tasks() { "$SPOOR" diff --json "$1" "$1" 2>err | jq -r '"\(.new.tasks) \(.new.covered_s / '"$2"' | round)"'; }
if can_record_all; then
	"$SPOOR" record -a -F 99 -o all.spoor --duration 2s 2>err
	is "$(tasks all.spoor 2)" "false $(getconf _NPROCESSORS_ONLN)" "all CPUs"
	perf_record -q -a -F 99 -e cpu-clock -o all.data -- sleep 2 >err 2>&1
	is "$(tasks all.data 2)" "false $(getconf _NPROCESSORS_ONLN)" "all CPUs, by perf"
else
	skip "sampling all CPUs needs rights" 2
fi
in_range "$("$SPOOR" diff --json a.spoor a.spoor 2>err | jq 'select(.new.tasks).new.covered_s')" 2.9 "$took_a" "a command"
# perf tells no begin and no end: the records of its file are what there is, from the first sample to the last at least.
timed perf_record -q -F 999 -e cpu-clock:u -o task.data -- "$FIXTURES/shares" 2 >err 2>&1
covered=$("$SPOOR" diff --json task.data task.data 2>err | jq 'select(.new.tasks).new.covered_s')
span=$(perf script -i task.data -F time 2>err | sed 's/://' | awk 'NR == 1 { first = $1 } { last = $1 } END { print last - first }')
in_range "$span" 0.05 "$took" "perf has samples over some time"
# perf tells microseconds.
in_range "$covered" "$(awk -v s="$span" 'BEGIN { print s - 0.00001 }')" "$took" "a command, by perf"

# --- two times of one --------------------------------------------------------------------------
"$SPOOR" record -e cpu-clock:u -F 4999 -o two.spoor -- sh -c '"$0" 2 1; date +@%s.%N >between; "$0" 2 2' "$FIXTURES/shares" 2>err
"$SPOOR" diff -n total --comm shares --baseline-until "$(cat between)" --since "$(cat between)" --json two.spoor >two.json 2>err
is "$(rows 'select(.significant and .change > 0) | .symbol' two.json)" share_slower "two times of one recording"
exits 2 "one recording, and no time of the baseline" "$SPOOR" diff a.spoor
exits 2 "three recordings" "$SPOOR" diff a.spoor b.spoor a.spoor
exits 2 "--confidence 100" "$SPOOR" diff --confidence 100 a.spoor b.spoor
exits 2 "-s time" "$SPOOR" diff -s time a.spoor b.spoor
exits 2 "-s parent, whose function nobody names" "$SPOOR" diff -s parent a.spoor b.spoor
for option in "-s sym" --children "--confidence 90" "--percent-limit 1" --json; do
	# shellcheck disable=SC2086 # two words
	exits 2 "--folded and $option" "$SPOOR" diff --folded $option a.spoor b.spoor
done
exits 2 "-n x" "$SPOOR" diff -n x a.spoor b.spoor
exits 2 "standard input twice" "$SPOOR" diff - -
exits 1 "one that is not there" "$SPOOR" diff a.spoor nothing.spoor
ok "one side from a pipe" bash -c '"$SPOOR" diff -n total --json a.spoor - <b.spoor | jq -es ".[0].events[0].rows[0].symbol == \"share_slower\""'

# --- children ----------------------------------------------------------------------------------
"$SPOOR" diff --children -n total --json a.spoor b.spoor >children.json 2>err
is "$(rows 'select(.children.significant and .children.change > 0) | .symbol' children.json)" share_slower "--children"
ok "whoever called them has it all, and nobody has less than himself" jq -e '
	([.events[0].rows[].children.baseline] | max) > 0.9 and
	all(.events[0].rows[]; .children.baseline >= .baseline - 1e-9)' children.json

# --- folded ------------------------------------------------------------------------------------
"$SPOOR" diff --folded -n none a.spoor b.spoor >folded 2>err
cat >folded.py <<'PY'
"""The stacks of both exports, each once, and their periods, of which one is what a sample of the new side has."""
import json, subprocess, sys
spoor = sys.argv[1]
def export(path):
    command = [spoor, "export", "-f", "folded", "--weight", "period", path]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return {stack: int(n) for stack, n in (line.rsplit(" ", 1) for line in text.splitlines())}
a, b = export("a.spoor"), export("b.spoor")
report = json.loads(subprocess.run([spoor, "report", "--json", "b.spoor"], capture_output=True).stdout)
one = report["period"] / report["samples"]
got = {}
for line in open("folded"):
    stack, before, after = line.rstrip("\n").rsplit(" ", 2)
    assert stack not in got, stack
    got[stack] = int(before), int(after)
assert set(got) == set(a) | set(b), set(got) ^ (set(a) | set(b))
for stack, (before, after) in got.items():
    assert (before > 0) == (stack in a) and (after > 0) == (stack in b), stack
    assert abs(after - b.get(stack, 0) / one) <= 1, (stack, after)
    assert abs(before - a.get(stack, 0) / one) <= 1, (stack, before)
PY
ok "--folded: both exports" python3 folded.py "$SPOOR"
"$SPOOR" diff --folded --baseline-time 0%-50% --time 50%-100% a.spoor >halves 2>err
ok "halves of one, by percent: each is covered, and each stack is of one of them" awk '
	{ before += $(NF - 1); after += $NF; if ($(NF - 1) + $NF == 0) nothing++ }
	END { exit !(before > 0 && after > 0 && nothing == 0) }' halves

# --- the same work -----------------------------------------------------------------------------
# Functions that run one after another, of which the second takes 55 % longer, and the third is on one side alone. Sums are
# what the program's own clocks say, within three standard deviations of the counts, and a sample in each phase.
"$SPOOR" record -e cpu-clock:u -F 999 -o work_a.spoor -- "$FIXTURES/phased" 1500 1000 0 >clocks_a 2>err || bail "no recording"
"$SPOOR" record -e cpu-clock:u -F 999 -o work_b.spoor -- "$FIXTURES/phased" 1500 1550 200 >clocks_b 2>err || bail "no recording"
"$SPOOR" diff -n none --json work_a.spoor work_b.spoor >work.json 2>err
cat >work.py <<'PY'
"""Sums of a comparison against the program's own clocks: shown, and true."""
import json, sys
rows = {r["symbol"]: r for r in json.load(open("work.json"))["events"][0]["rows"]}
for side, path in (("baseline", "clocks_a"), ("new", "clocks_b")):
    for line in open(path):
        name, true = line.split()
        true = float(true)
        shown = rows[name][side] if name in rows else 0
        within = 3 * (true / 999) ** 0.5 + 2 / 999
        print(f"# {side} {name}: shown {shown:.3f} s, true {true:.3f} s")
        if abs(shown - true) > within:
            sys.exit(f"{side} {name}: {shown}, not {true} within {within}")
PY
ok "sums are the program's own CPU time" python3 work.py
is "$(rows 'select(.significant) | .symbol' work.json | xargs)" "phase_b phase_c" "what became slower, and what is new, come first"
ok "and so they are called" bash -c '"$SPOOR" diff -n none work_a.spoor work_b.spoor | grep "new .*phase_c" && jq -e ".events[0].about.by_counts" work.json'
is "$("$SPOOR" diff -n none --json work_b.spoor work_a.spoor 2>err | jq -r '.events[0].rows[] | select(.significant) | "\(.symbol) \(.new)"' | tail -1)" "phase_c 0" "the other way round it is gone"
ok "noise comes after" jq -e '[.events[0].rows[].significant] | . == (sort | reverse)' work.json
# Twice the work in as much time is half of it for each unit.
ok "--work: per unit of it" bash -c '"$SPOOR" diff --work 10,20 --json work_b.spoor work_b.spoor | jq -es "
	.[0].normalize == \"work\" and (.[0].events[0].rows | map(select(.symbol == \"phase_b\"))[0] |
	.relative == -0.5 and .significant)"'
ok "--work: as much per unit is no change" bash -c '"$SPOOR" diff --work 0.5,0.5 --json work_b.spoor work_b.spoor |
	jq -es ".[0].events[0].about.significant == 0"'
for work in 1 "1," ",1" 0,1 1,-1 1,2,3 1,x nan,1 1,inf; do
	exits 2 "--work $work" "$SPOOR" diff --work "$work" a.spoor b.spoor
done
exits 2 "--work and -n" "$SPOOR" diff --work 1,2 -n none a.spoor b.spoor
# Another name of the object, and the same functions.
cp "$FIXTURES/phased" phased-2
"$SPOOR" record -e cpu-clock:u -F 999 -o work_c.spoor -- ./phased-2 1500 1000 0 >/dev/null 2>err || bail "no recording"
"$SPOOR" diff -n none work_a.spoor work_c.spoor >text 2>err
like "$(tr -s '\n #' ' ' <text)" '2 functions are in phased of the baseline, and in phased-2 of the new side: -s sym' "-s sym is suggested"
"$SPOOR" diff -n none -s sym work_a.spoor work_c.spoor >text 2>err
unlike "$(cat text)" 'functions are in' "and not where it was given"
unlike "$(cat text)" 'new|gone' "which compares them"

# --- text --------------------------------------------------------------------------------------
"$SPOOR" diff a.spoor b.spoor >text 2>err
like "$(tr '\n' ' ' <text)" 'Total Lost Samples.*Covered: .*Total Lost Samples.*Covered: ' "loss and coverage of both come first"
for width in 80 70; do
	script -qec "stty cols $width; NO_COLOR=1 \"\$SPOOR\" --no-pager diff a.spoor b.spoor 2>/dev/null" /dev/null </dev/null 2>&1 | tr -d '\r' >screen
	is "$(python3 -c 'import sys
for line in open("screen", encoding="utf-8"):
    if line.startswith(" ") and len(line.rstrip("\n")) > int(sys.argv[1]): print(line, end="")' $width | head -3)" "" "no row is wider than $width columns"
done

done_testing
