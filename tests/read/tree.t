#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor tree has the stacks of the folded export, added up along the way, from either end; its text is
# that tree, and fits a terminal.
. "$(dirname "$0")/../lib.sh"
need_command jq python3 script
need_recordings compiler events

cat >paths.py <<'PY'
"""Samples of every path of a tree (JSON) or of folded stacks, by names."""
import collections, json, sys
kind, path = sys.argv[1:]
paths = collections.Counter()
if kind == "tree":
    for event in json.load(open(path)):
        way, left, above = [], [], [None]
        for node in event["nodes"]:
            depth = node["depth"]
            assert 1 <= depth <= len(way) + 1
            del way[depth - 1:], left[depth - 1:], above[depth:]
            assert above[depth - 1] is None or node["period"] <= above[depth - 1], "heaviest first"
            above[depth - 1:] = [node["period"], None]
            if depth > 1:
                left[depth - 2] -= node["samples"]
                assert left[depth - 2] >= 0
            way.append(node["name"].replace(";", ":"))
            left.append(node["samples"] - node["self_samples"])
            paths[tuple(way)] += node["samples"]
else:
    for line in open(path):
        stack, n = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        if kind == "inverted":
            frames.reverse()
        for i in range(len(frames)):
            paths[tuple(frames[: i + 1])] += int(n)
for way, n in sorted(paths.items()):
    print(n, ";".join(way))
PY

"$SPOOR" export -f folded compiler.spoor >stacks 2>err
"$SPOOR" tree --percent-limit 0 --json compiler.spoor >tree.json
"$SPOOR" tree -G --percent-limit 0% --json compiler.spoor >inverted.json
python3 paths.py tree tree.json >got && python3 paths.py folded stacks >wanted
same "the paths of folded stacks" got wanted
python3 paths.py tree inverted.json >got && python3 paths.py inverted stacks >wanted
same "-G: those of their callers" got wanted

# --- text --------------------------------------------------------------------------------------
"$SPOOR" tree compiler.spoor >text
is "$(grep -c '^ *[0-9.]*%' text)" "$("$SPOOR" tree --json compiler.spoor | jq '.[].nodes | length')" \
	"a line for each node above the limit"
# Which of two with as many samples is first is not said; that the heaviest is first has been seen above.
is "$(sed -n 's/^ *\([0-9.]*\)%.*%  \([^ │├└].*\)/\2/p' text | sort)" "$("$SPOOR" report -s comm --json compiler.spoor 2>err |
	jq -r --argjson limit 0.5 '.rows[] | select(.overhead >= $limit) | .symbol // .comm' | sort)" "commands are in the first column"
is "$(awk '/^ +[0-9.]+%/ { if ($1 + 0 < 0.5) print }' text)" "" "nothing below the limit"
"$SPOOR" tree --percent-limit 5 compiler.spoor >large
is "$(awk '/^ +[0-9.]+%/ { if ($1 + 0 < 5) print }' large)" "" "--percent-limit 5"
exits 2 "--percent-limit x" "$SPOOR" tree --percent-limit x compiler.spoor

# Filters, as of all answers.
is "$("$SPOOR" tree --comm cc1plus --percent-limit 0 --json compiler.spoor | jq -r '.[].nodes[] | select(.depth == 1).name')" cc1plus "--comm"
# A command that has little of the whole has all of what its filter leaves, and what is below it is there.
few=$("$SPOOR" report -q -s comm -F comm,sample -t , compiler.spoor | sort -t, -k2n | awk -F, '$2 > 3 && $1 ~ /^[a-z0-9]+$/ { print $1; exit }')
"$SPOOR" tree --comm "$few" compiler.spoor >relative
like "$(cat relative)" "^ *100\.00% .* $few$" "--comm: a share of what that leaves"
like "$(cat relative)" '^# Of the whole: .*; shares are of these samples$' "which is said"
"$SPOOR" tree --percentage absolute --comm "$few" compiler.spoor >of-all
unlike "$(cat of-all)" "^ *100" "--percentage absolute: a share of the whole"
in_range "$(grep -vc '^#' relative)" "$(($(grep -vc '^#' of-all) + 1))" 1000000 "of which less is over the limit"
like "$("$SPOOR" tree --comm nobody compiler.spoor 2>&1)" 'no sample|No sample' "a filter that leaves nothing says so"

# --- a terminal --------------------------------------------------------------------------------
for width in 80 40; do
	script -qec "stty cols $width; \"\$SPOOR\" --no-pager tree --percent-limit 0.1 compiler.spoor 2>/dev/null" /dev/null </dev/null 2>&1 | tr -d '\r' >screen
	is "$(python3 -c 'import sys
for line in open("screen", encoding="utf-8"):
    if len(line.rstrip("\n")) > int(sys.argv[1]): print(line, end="")' $width | head -3)" "" "no line is wider than $width columns"
done

# --- events ------------------------------------------------------------------------------------
like "$("$SPOOR" tree --json events.spoor | jq -r '.[].event' | paste -sd' ')" '^cpu-clock(:u)? page-faults(:u)?$' "a tree for each event"

# A stack as deep as a sample can be.
"$SPOOR" tree --json --percent-limit 0 "$TOP/tests/golden/0.1.0/everybody.spoor" >deep.json 2>err
ok "everybody.spoor" jq -e . deep.json

done_testing
