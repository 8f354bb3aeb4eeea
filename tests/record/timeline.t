#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor timeline and spoor heatmap: three loads in three control groups that run one after another,
# each in its cells, after the groups are gone; the same sums as spoor report has of the same times.
. "$(dirname "$0")/../lib.sh"
need_command jq script
need_record_all

root=$(cgroup_root)
top=spoor$$.slice
if [ -z "$root" ] || ! mkdir "$root/$top" 2>/dev/null; then
	skip_all "no control group can be made here"
fi
at_exit "find '$root/$top' -depth -type d -exec rmdir {} + 2>/dev/null"
burn=$FIXTURES/burn
cat >load.sh <<'SH'
in_group() # GROUP MILLISECONDS
{
	(echo "$BASHPID" >"$1/cgroup.procs" && exec "$burn" "$2" >/dev/null)
}
groups=("$root/$top/web.service" "$root/$top/db.service" "$root/$top/docker-$(printf '%064x' 255).scope")
mkdir "${groups[@]}"
for g in "${groups[@]}"; do
	date +%s.%N >>begins
	in_group "$g" 1000
done
date +%s.%N >>begins
rmdir "${groups[@]}"
SH
export root top burn
exits 0 "a recording of three loads" "$SPOOR" record -a -e cpu-clock -F 499 -o g.spoor -- bash load.sh

exits 0 "a timeline" "$SPOOR" timeline g.spoor
cp out text
like "$(cat text)" '^# +CPU s +Share +Peak .*Unit$' "units, where there are control groups"
like "$(cat text)" '^ +(0\.9|1\.0)[0-9] +[0-9.]+% .* web\.service$' "a second of the CPU each"
like "$(cat text)" "^ +(0\\.9|1\\.0)[0-9] .* docker-$(printf '%064x' 255)\\.scope\$" "whole names through a pipe"
unlike "$(cat text)" $'\033' "no colour through a pipe"
share_of() { "$SPOOR" timeline --json --unit web.service "$@" g.spoor 2>err | jq '.events[0] | .rows[0].share, .all.value' | xargs; }
read -r share value < <(share_of)
is "$share" 100 "with a filter, a share is of what that leaves"
whole=$("$SPOOR" timeline --json g.spoor 2>err | jq '.events[0].all.value')
read -r share _ < <(share_of --percentage absolute)
in_range "$share" "$(awk -v v="$value" -v w="$whole" 'BEGIN { print 100 * v / w - 0.01 }')" \
	"$(awk -v v="$value" -v w="$whole" 'BEGIN { print 100 * v / w + 0.01 }')" "--percentage absolute: of the whole"
like "$("$SPOOR" timeline --unit web.service g.spoor 2>err)" 'Of the whole: [0-9.]+%; shares are of these samples' "which the heading says"
exits 2 "--percentage x" "$SPOOR" timeline --percentage x g.spoor

"$SPOOR" timeline --json --bucket 100ms g.spoor >g.json
jq -r '.start_realtime_ns, .width_ns' g.json >/dev/null || fail "JSON"
# Of each load, its samples inside the second in which it ran, in percent.
inside() # NAME NTH
{
	python3 - "$1" "$2" <<'PY'
import json, sys
name, nth = sys.argv[1], int(sys.argv[2])
j = json.load(open("g.json"))
begins = [float(l) * 1e9 for l in open("begins")]
cells = [r for r in j["events"][0]["rows"] if r["name"] == name][0]["samples_at"]
at = lambda i: j["start_realtime_ns"] + i * j["width_ns"]
good = sum(n for i, n in enumerate(cells) if begins[nth] - j["width_ns"] < at(i) < begins[nth + 1])
print(100 * good // sum(cells))
PY
}
is "$(inside web.service 0)" 100 "the first load is in its cells"
is "$(inside db.service 1)" 100 "the second one"
is "$(inside "docker-$(printf '%064x' 255).scope" 2)" 100 "the third one"
is "$(jq '[.events[0].rows[], .events[0].others | .samples] | add' g.json)" "$(jq .samples g.json)" "rows have every sample"
is "$(jq -c '[.events[0].rows[] | (.samples_at | add) == .samples and (.period_at | add) == .period] | unique' g.json)" "[true]" \
	"and so have cells"
is "$(jq -c '.events[0] | .all.samples_at == ([.rows[].samples_at, .others.samples_at] | transpose | map(add))' g.json)" true \
	"columns too"
is "$(jq '.not_recorded | length' g.json)" 0 "nothing is missing"

# --- spoor report says the same of each span of time

wrong=0
while read -r from until samples; do
	got=$("$SPOOR" report --json --cgroup db.service --time "$from,$until" g.spoor 2>/dev/null | jq .samples)
	[ "$got" = "$samples" ] || wrong=$((wrong + 1))
done < <(jq -r '. as $j | .events[0].rows[] | select(.name == "db.service").samples_at | to_entries[] |
	"\($j.start_ns + .key * $j.width_ns) \($j.start_ns + (.key + 1) * $j.width_ns) \(.value)"' g.json |
	awk '{ printf "%.9f %.9f %s\n", $1 / 1e9, $2 / 1e9, $3 }')
is "$wrong" 0 "each cell has the samples that --time and --cgroup find"
# A busy host has more functions than the rows that are shown at most.
for key in comm pid dso sym cpu cgroup; do
	is "$("$SPOOR" timeline --json --by "$key" --max 1000 g.spoor | jq '[.events[0].rows[].samples] | sort' -c)" \
		"$("$SPOOR" report --json -s "$([ "$key" = pid ] && echo pid || echo "$key")" g.spoor |
			jq '[.rows | group_by([.'"$([ "$key" = sym ] && echo symbol || echo "$key")"', .kernel])[] | map(.samples) | add] | sort | .[-1000:]' -c)" \
		"--by $key: rows as the report's"
done
is "$("$SPOOR" timeline --json --comm burn g.spoor | jq '.samples + .filtered')" "$(jq .samples g.json)" "filters choose"
for choice in "-S burn_hot" "--focus burn_hot" "--ignore burn_hot" "--hide burn_hot" --kernel; do
	# shellcheck disable=SC2086 # words
	is "$("$SPOOR" timeline --json --by unit $choice g.spoor | jq .samples)" \
		"$("$SPOOR" report --json $choice g.spoor | jq .samples)" "$choice: as many as the report has"
done
is "$("$SPOOR" timeline --json --max 1 g.spoor | jq -c '[(.events[0].rows | length), .events[0].all.samples]')" \
	"[1,$(jq .samples g.json)]" "--max"

# --- a heatmap

exits 0 "a heatmap" "$SPOOR" heatmap g.spoor
is "$(grep -vc '^#' out)" 50 "in 50 parts"
is "$("$SPOOR" heatmap --json g.spoor | jq -c '[.width_ns, .events[0].all.samples, .by]')" "[20000000,$(jq .samples g.json),\"all\"]" \
	"of 20 ms each, with every sample"
exits 0 "by service" "$SPOOR" heatmap --by unit g.spoor
like "$(cat out)" 'web\.service$' "has rows"

# --- screens

on_terminal() # COLUMNS COMMAND...: its lines
{
	TERM=xterm-256color script -qec "stty cols $1; $(printf '%q ' "${@:2}") --no-pager 2>/dev/null" /dev/null </dev/null | tr -d '\r'
}
widest() # of lines of UTF-8 without colours
{
	sed 's/\x1b\[[0-9;]*m//g' | python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in sys.stdin))'
}
export LC_ALL=C.UTF-8
for columns in 80 200; do
	in_range "$(on_terminal $columns "$SPOOR" timeline g.spoor | widest)" 60 $columns "timeline fits into $columns columns"
	in_range "$(on_terminal $columns "$SPOOR" timeline --by sym g.spoor | widest)" 60 $columns "with long names"
	in_range "$(on_terminal $columns "$SPOOR" heatmap --by pid g.spoor | widest)" 60 $columns "heatmap"
	in_range "$(on_terminal $columns "$SPOOR" heatmap g.spoor | widest)" 20 $columns "in parts"
done
like "$(on_terminal 200 "$SPOOR" timeline g.spoor)" 'docker-000000000000\.scope' "ids of containers are short"
like "$(on_terminal 80 "$SPOOR" heatmap g.spoor)" $'\033\\[38;5;' "in colour"
is "$(on_terminal 80 "$SPOOR" heatmap g.spoor | grep -vc '^#')" 25 "two parts a line"
unlike "$(NO_COLOR=1 on_terminal 80 "$SPOOR" heatmap g.spoor)" $'\033' "unless NO_COLOR is set"
LC_ALL=C "$SPOOR" timeline g.spoor >out
is "$(LC_ALL=C grep -c $'[\x80-\xff]' out)" 0 "ASCII without UTF-8"
LC_ALL=C "$SPOOR" heatmap g.spoor >out
is "$(LC_ALL=C grep -c $'[\x80-\xff]' out)" 0 "likewise of a heatmap"

# --- columns that are narrower than the time between two samples

# Each CPU is busy, whoever keeps it so: each column has them all. Where a sample is late, and its CPU with it, one has more,
# and the one before it less.
cpus=$(getconf _NPROCESSORS_ONLN)
background "$FIXTURES/burn" 3600000 "$cpus" >/dev/null
busy=$!
"$SPOOR" record -a -e cpu-clock -F 19 -o slow.spoor -- sleep 3 >/dev/null 2>&1
kill "$busy"
for command in "heatmap" "timeline --bucket 20ms"; do
	# shellcheck disable=SC2086
	"$SPOOR" $command --json slow.spoor 2>/dev/null >slow.json
	is "$(jq '.width_ns' slow.json)" 20000000 "$command: columns of 20 ms, of 19 Hz"
	busy=$(jq ".events[0] | (.all // .others).period_at[20:-20] | sort | .[length / 2 | floor] / 2e7 * 100 / $cpus | round" slow.json)
	in_range "$busy" 97 103 "$command: half of them have all of the CPUs"
	none=$(jq '.events[0] | (.all // .others).period_at[20:-20] | (map(select(. == 0)) | length) * 100 / length | round' slow.json)
	in_range "$none" 0 10 "$command: and few have nothing"
	is "$(jq '.events[0] | (.all // .others) | (.period_at | add) == .period' slow.json)" true "$command: no time is lost"
done

# --- what cannot be

exits 2 "a key that there is not" "$SPOOR" timeline --by frob g.spoor
like "$(cat err)" '--by frob: is none of unit cgroup comm pid dso sym cpu' "is said, with those there are"
exits 2 "no width" "$SPOOR" timeline --bucket 0 g.spoor
like "$(cat err)" '--bucket 0: not a span of time' "is said"
exits 2 "no rows" "$SPOOR" timeline --max 0 g.spoor
exits 1 "more columns than anybody looks at" "$SPOOR" timeline --bucket 1us g.spoor
like "$(cat err)" '--bucket: that is more than 100000 columns' "is said"
exits 0 "nobody chosen" "$SPOOR" timeline --comm nobody g.spoor
like "$(cat out)" 'o sample is left' "is said"

# --- an archive with a hole

mkdir archive
cp g.spoor archive/20261121T010000.000000Z-abababab-000001.spoor
sleep 2
"$SPOOR" record -a -e cpu-clock -F 499 -o h.spoor -- "$burn" 500 >/dev/null 2>&1
cp h.spoor archive/20261121T020000.000000Z-abababab-000002.spoor
"$SPOOR" timeline --json --bucket 100ms archive >archive.json
is "$(jq .samples archive.json)" "$(($(jq .samples g.json) + $("$SPOOR" report --json h.spoor | jq .samples)))" "an archive has all of its recordings"
between=$(jq -n "($("$SPOOR" info --json h.spoor | jq .start_realtime_ns) - $("$SPOOR" info --json g.spoor |
	jq '.start_realtime_ns + .duration_ns')) / 1e8 | floor")
in_range "$(jq '.not_recorded | length' archive.json)" $((between - 3)) $((between + 3)) "what lies between them is not recorded"
is "$(jq '[.not_recorded[] as $i | .events[0].all.samples_at[$i]] | add' archive.json)" 0 "and has no samples"
like "$("$SPOOR" timeline --bucket 100ms archive)" '×: not recorded' "which is said"
done_testing
