#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Control groups in reports, dump and exports: groups of known names and loads, which are removed
# before the recording ends; perf report on our export, and our report on what perf recorded, say
# the same.
. "$(dirname "$0")/../lib.sh"
need_command jq perf
need_record_all

root=$(cgroup_root)
top=spoor-test$$.slice
if [ -z "$root" ] || ! mkdir "$root/$top" 2>/dev/null; then
	skip_all "no control group can be made here"
fi
at_exit "find '$root/$top' -depth -type d -exec rmdir {} + 2>/dev/null"
evil=$'e\033[31mvil'
burn=$FIXTURES/burn

cat >load.sh <<'SH'
in_group() # GROUP MILLISECONDS
{
	(echo "$BASHPID" >"$1/cgroup.procs" && exec "$burn" "$2" >/dev/null)
}
mkdir "$root/$top/a.service" "$root/$top/b.service" "$root/$top/b.service/worker" "$root/$top/$evil"
in_group "$root/$top/a.service" 900 &
in_group "$root/$top/b.service" 300 &
in_group "$root/$top/b.service/worker" 300 &
in_group "$root/$top/$evil" 100 &
wait
rmdir "$root/$top/b.service/worker" "$root/$top"/*/
"$burn" 100 >/dev/null
SH
export root top evil burn

exits 0 "a recording of control groups" "$SPOOR" record -a -e cpu-clock -F 499 -o g.spoor -- bash load.sh
is "$(find "$root/$top" -mindepth 1 -type d)" "" "all of them are gone at its end"

of() # FILE [OPTION...]: samples by control group, as "NUMBER PATH" lines
{
	"$SPOOR" report -s cgroup --json "$@" | jq -r '.rows[] | "\(.samples) \(.cgroup)"' | LC_ALL=C sort -k 2
}
sum() # OPTION...: samples that pass
{
	"$SPOOR" report --json "$@" g.spoor | jq .samples
}
of g.spoor >ours
all=$(sum)
is "$(awk '{ n += $1 } END { print n }' ours)" "$all" "rows have every sample"
is "$(cut -d' ' -f2- ours | grep "^/$top/" | tr '\n' ' ')" \
	"/$top/a.service /$top/b.service /$top/b.service/worker /$top/$evil " "groups that were removed have their names"
count() # PATTERN: samples in groups that match an awk pattern
{
	awk -v p="$1" 'substr($0, index($0, " ") + 1) ~ p { n += $1 } END { print n + 0 }' ours
}
in_range "$(count "^/$top/a.service$")" 300 600 "as many samples as they ran"

# --- perf says the same

perf_of() # FILE: as of(), by perf
{
	perf report -i "$1" --no-children -g none --percent-limit 0 --stdio -q -F sample,cgroup -t $'\001' 2>perf.err |
		sed 's/^ *//; s/ *$//; s/ *\x01/ /' | grep . | LC_ALL=C sort -k 2
}
"$SPOOR" export -f perf-data-file -i g.spoor -o g.data
perf_of g.data >theirs
ok "perf report -s cgroup on the export has the same rows" diff ours theirs
perf_record -q -B -N -a -e cpu-clock -F 499 --all-cgroups -o p.data -- bash load.sh 2>/dev/null
perf_of p.data >theirs
like "$(cat theirs)" "^[0-9]+ /$top/b.service/worker$" "perf recorded control groups"
ok "and what perf recorded has here" diff <(of p.data) theirs

# --- units

units() # FILE [OPTION...]: as of(), by unit
{
	"$SPOOR" report -s unit --json "$@" | jq -r '.rows[] | "\(.samples) \(.unit)"' | LC_ALL=C sort -k 2
}
is "$(units g.spoor | awk '{ n += $1 } END { print n }')" "$all" "rows of units have every sample"
is "$(units g.spoor | awk '$2 == "b.service" { print $1 }')" "$(count "^/$top/b.service")" "a unit has what is in groups below"
is "$(units g.spoor | grep -c a.service)" 1 "each is one row"

# --- text

"$SPOOR" report -s cgroup,comm g.spoor >out
like "$(cat out)" '^# Overhead  Cgroup +Command$' "perf's title"
like "$(cat out)" "%  /$top/a.service +burn$" "a row"
like "$(cat out)" "%  /$top/e\\\\033\\[31mvil +burn$" "no escape reaches the terminal"

# --- the filter

is "$(sum --cgroup a.service)" "$(count "^/$top/a.service$")" "--cgroup: the last component"
is "$(sum --cgroup "/$top/a.service")" "$(count "^/$top/a.service$")" "the whole path"
is "$(sum --cgroup "$root/$top/a.service")" "$(count "^/$top/a.service$")" "its directory"
is "$(sum --cgroup "$top/?.serv*")" "$(count "^/$top/..service")" "a pattern of the last two"
is "$(sum --cgroup b.service)" "$(count "^/$top/b.service")" "with what is below"
isnt "$(count "^/$top/b.service$")" "$(count "^/$top/b.service")" "which is more"
is "$(sum --cgroup worker,a.service)" "$(count '/(worker|a.service)$')" "a list"
is "$(sum --cgroup /)" "$(count '^/$')" "the root alone"
is "$(sum --cgroup '/*')" "$all" "everything"
is "$(sum --cgroup service) $(sum --cgroup /a.service)" "0 0" "no part of a component, no end of a path"
is "$(($(sum --cgroup a.service --time 0%-50%) + $(sum --cgroup a.service --time 50%-100%)))" \
	"$(sum --cgroup a.service)" "in a window"
is "$("$SPOOR" export -f folded --cgroup b.service g.spoor | awk '{ n += $NF } END { print n }')" \
	"$(sum --cgroup b.service)" "folded"
dumped() # OPTION...: samples of dump
{
	"$SPOOR" dump --json "$@" g.spoor | jq -s 'map(select(.type == "SAMPLE")) | length'
}
is "$(dumped --cgroup b.service)" "$(sum --cgroup b.service)" "dump"
is "$(dumped --cgroup b.service --time 50%-100%)" "$(sum --cgroup b.service --time 50%-100%)" "dump of a window"
is "$("$SPOOR" dump --cgroup nobody --json g.spoor | jq -s 'map(select(.type == "CGROUP")) | length > 4')" true \
	"with all other records"
"$SPOOR" export -f perf-data-file --cgroup b.service -i g.spoor -o b.data
ok "perf.data" diff <(grep "/$top/b.service" ours) <(perf_of b.data)
is "$("$SPOOR" export -f perf-data --cgroup b.service g.spoor | "$SPOOR" report --json -i - | jq .samples)" \
	"$(sum --cgroup b.service)" "in a pipe"

is "$(sum --slice "${top%.slice}")" "$(count "^/$top")" "--slice: the slice, with what is in it"
is "$(sum --slice "$top" --unit a)" "$(count "^/$top/a.service$")" "of it one unit"
is "$(sum --slice no-such) $(sum --slice a.service)" "0 0" "no other unit is one"
like "$("$SPOOR" report --slice "${top%.slice}x" g.spoor 2>&1)" "no sample; did you mean $top\\?" "a slice like it is told"

# --- without

perf_record -q -B -N -a -e cpu-clock -F 99 -o old.data -- "$burn" 300 >/dev/null 2>&1
is "$(of old.data | cut -d' ' -f2)" "[unknown]" "samples without a control group"
is "$("$SPOOR" report --json --cgroup '[unknown]' old.data | jq .samples)" "$("$SPOOR" report --json old.data | jq .samples)" \
	"are found by that"
is "$("$SPOOR" report --json --cgroup '/*' old.data | jq .samples)" 0 "and by no path"

# --- several control groups, each of the event at its place, as perf record -G

mkdir "$root/$top/web" "$root/$top/db"
cat >faults.sh <<'SH'
for group in web:3000 db:5000; do
	(echo "$BASHPID" >"$root/$top/${group%:*}/cgroup.procs" && exec "$FIXTURES/faults" "${group#*:}" >/dev/null)
done
SH
counted() # NAME
{
	"$SPOOR" info --json -i several.spoor | jq --arg n "$1" '.events[] | select(.name == $n) | .count'
}
exits 0 "two control groups" "$SPOOR" record -c 1000 -e 'faults/name=one/,faults/name=two/,faults/name=other/' \
	-G "$top/web,$root/$top/db" -o several.spoor -- bash faults.sh
in_range "$(counted one)" 3000 3900 "the first event is of the first one"
in_range "$(counted two)" 5000 5900 "the second of the second"
in_range "$(counted other)" "$(($(counted one) + $(counted two)))" 1e9 "one more is of whatever runs"
exits 0 "an empty name" "$SPOOR" record -c 1000 -e 'faults/name=all/,{faults/name=one/,cs/name=two/}' \
	-G ",$top/web,$top/web" -o several.spoor -- bash faults.sh
in_range "$(counted all)" 8000 1e9 "is of no control group"
in_range "$(counted one)" 3000 3900 "beside one that is, of a group of events"
perf stat -x, -a -e faults,faults -G "$top/web,$top/db" -- bash faults.sh 2>stat.csv
in_range "$(awk -F, 'NR == 1 { print $1 }' stat.csv)" 3000 3900 "perf counts likewise"
exits 2 "more control groups than events" "$SPOOR" record -e faults -G "$top/web,$top/db" -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" '2 control groups of 1 events: each is of the event at its place' "are told"
exits 2 "a group of events in two" "$SPOOR" record -e '{faults,cs}' -G "$top/web,$top/db" -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'faults and cs are counted together, but in two control groups' "is told"
exits 2 "an event behind one control group" "$SPOOR" record -e faults -G "$top/web" -a -e cs -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" "-e cs: give -G $top/web behind all -e for all events, or a list \(-G $top/web,\) for the events before" \
	"is told, for perf would have it sample whatever runs"
exits 0 "a list of that one" "$SPOOR" record -e faults -G "$top/web," -a -e cs -o y.spoor -- true
is "$("$SPOOR" info --json -i y.spoor | jq -r '.events[].name' | head -n 2 | tr '\n' ' ')" "faults cs " "has both"
exits 0 "one before all events" "$SPOOR" record --dry-run -G "$top/web" -e faults -e cs
rm -f y.spoor
exits 1 "one that is none" "$SPOOR" record -e faults,cs -G "$top/web,$top/nobody" -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" "control group $top/nobody: No such file" "is named"
nok "nothing is recorded" test -e y.spoor

# --- one unit, by its name

shop=spoor-$$shop
editor=spoor-$$editor
user="$root/$top/user@4000.service/app.slice"
mkdir "$root/$top/$shop.service" "$root/$top/$shop@1.service" "$root/$top/$shop@2.service"
mkdir -p "$user/$shop.service" "$user/$editor.service"
cat >shop.sh <<'SH'
for group in "$root/$top/$shop.service:3000" "$user/$shop.service:5000" "$user/$editor.service:7000"; do
	(echo "$BASHPID" >"${group%:*}/cgroup.procs" && exec "$FIXTURES/faults" "${group##*:}" >/dev/null)
done
SH
export shop editor user
unit_of() # OPTION...: the faults of what it chooses
{
	"$SPOOR" record -q -c 1000 -e faults "$@" -o unit.spoor -- bash shop.sh && "$SPOOR" info --json -i unit.spoor | jq '.events[0].count'
}
in_range "$(unit_of --unit "$shop" 2>err)" 3000 3900 "record --unit"
like "$(tr -s '\n ' ' ' <err)" "/$top/$shop.service, and not /$top/user@4000.service/app.slice/$shop.service" \
	"the host's own, and that of a user is told"
in_range "$(unit_of --unit "$editor.service")" 7000 7900 "a user's"
in_range "$(unit_of --slice "$top")" 15000 1e9 "record --slice, with what is below"
in_range "$(unit_of --unit "$shop" -a 2>/dev/null)" 3000 3900 "with -a"
exits 1 "several of a name" "$SPOOR" record --unit "$shop@" -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" "several are called $shop@\*.service: /$top/$shop@1.service and /$top/$shop@2.service" "are listed"
exits 1 "a mistyped unit" "$SPOOR" record --unit "${shop}p" -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" "--unit: no control group is of ${shop}p.service: .*did you mean $shop.*.service\\?" "is told, with one like it"
exits 1 "--cgroup of a unit's name" "$SPOOR" record --cgroup "$shop" -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" "control group $shop: No such file or directory; that of the unit is /$top/$shop.service \\(--unit $shop\\)" \
	"suggests --unit, and has its path"
exits 1 "--cgroup of an end that several have" "$SPOOR" record --cgroup "$shop.service" -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" "give more of the path: /$top/$shop.service and /$top/user@4000.service/app.slice/$shop.service" "lists them"
exits 2 "--unit twice" "$SPOOR" record --unit "$shop" --unit "$shop" -o y.spoor -- true
exits 2 "--unit and -p" "$SPOOR" record --unit "$editor" -p 1 -o y.spoor -- true
exits 2 "two units" "$SPOOR" record --unit "$shop,a" -o y.spoor -- true
nok "nothing is recorded by these" test -e y.spoor

# --- control groups that are not of the perf_event controller

if mkdir other && mount -t cgroup -o "none,name=spoor$$" none other 2>/dev/null; then
	at_exit "umount '$TMP/other'"
	for run in "" --dry-run; do
		exits 1 "record $run of another hierarchy" "$SPOOR" record ${run:+"$run"} -e cpu-clock -G "$TMP/other" -o y.spoor -- true
		like "$(tr -s '\n ' ' ' <err)" "control group $TMP/other: its hierarchy has no perf_event controller: name a group below $root $" \
			"blames that, and no event"
	done
else
	skip "no named hierarchy here" 4
fi
for without in 'none:perf knows no control groups .CONFIG_CGROUP_PERF.' 'off:.* cgroup_disable=perf_event'; do
	exits 1 "a kernel without: ${without%%:*}" env LD_PRELOAD="$PRELOADS/libmachine.so" SPOOR_CGROUPS="${without%%:*}" \
		"$SPOOR" record -e cpu-clock -G "$top" -o y.spoor -- true
	like "$(tr -s '\n ' ' ' <err)" "control group $top: .*${without#*:}" "is told"
done
nok "nothing is recorded of these" test -e y.spoor

exits 0 "-a -G" "$SPOOR" record --dry-run -a -G /
exits 0 "-G -a" "$SPOOR" record --dry-run -G / -a
exits 2 "-a -G -p" "$SPOOR" record --dry-run -a -G / -p 1
done_testing
