#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every software event against what a program knows to have done (tests/fixtures/counted.c), and perf of the same.
. "$(dirname "$0")/../lib.sh"
need_command perf jq python3
need_record_all
[ "$(nproc)" -ge 2 ] || skip_all "moving between CPUs needs two"

counted=$FIXTURES/counted
file=$TMP/file
# What lies in memory is not read again.
if [ "$(stat -f -c %T .)" = tmpfs ]; then
	file=/var/tmp/spoor-software.$$
	at_exit "rm -f $file"
fi

by_spoor() # EVENT FUNCTION|-: samples of the program, or of its function
{
	"$SPOOR" report --json -s event,sym --event "$1" x.spoor 2>/dev/null |
		jq --arg f "$2" '[.rows[] | select($f == "-" or .symbol == $f) | .samples] | add // 0'
}

by_perf() # FUNCTION|-
{
	perf script -i p.data -F event,ip,sym 2>/dev/null | awk -v f="$1" 'f == "-" && NF || $3 == f { n++ } END { print n + 0 }'
}

own() # FILE NUMBER: the number, or for "majors" what the program has printed there
{
	if [ "$2" = majors ]; then
		awk 'END { print $3 ? $3 : "none" }' "$1"
	else
		echo "$2"
	fi
}

# EVENT FUNCTION LOW HIGH COMMAND...: the first three as often as the program did it; moves may begin with one more.
while read -r event function low high command; do
	# shellcheck disable=SC2086 # words of a command
	exits 0 "$event: $command" "$SPOOR" record --call-graph none -e "$event" -c 1 -o x.spoor -- "$FIXTURES"/$command
	in_range "$(by_spoor "$event" "$function")" "$(own out "$low")" "$(own out "$high")" "$event: each"
	[ "$low" != majors ] || in_range "$(own out majors)" 50 200 "$event: most pages are not in memory"
	# shellcheck disable=SC2086
	perf_record -q -B -N -e "$event" -c 1 -o p.data -- "$FIXTURES"/$command >perf.out 2>perf.err || diag_file perf.err
	in_range "$(by_perf "$function")" "$(own perf.out "$low")" "$(own perf.out "$high")" "$event: as with perf"
done <<END
page-faults touch_pages $((150 * $(nproc))) $((150 * $(nproc))) works 150
minor-faults touch_pages $((150 * $(nproc))) $((150 * $(nproc))) works 150
major-faults read_pages majors majors counted majors $file 200
cpu-migrations - 101 110 counted moves 101
context-switches - 100 1000 counted switches 100
END

# The clocks: as long as the program ran, by its own.
begin=$(date +%s%N)
exits 0 "task-clock and cpu-clock" "$SPOOR" record -e task-clock,cpu-clock -c 1000000 -o x.spoor -- "$counted" clock 200
# Time that the host took from the machine is in what they count, and not in what the program tells.
wall=$(($(date +%s%N) - begin))
read -r _ ran _ <out
"$SPOOR" info --json x.spoor >info.json
for event in task-clock cpu-clock; do
	count=$(json info.json '.events[] | select(.name == "'$event'") | .count')
	in_range "$count" 200000000 "$wall" "$event: counts what the program ran, $ran ns by its own clock"
	in_range "$(json info.json '.events[] | select(.name == "'$event'") | .samples')" 1 $((count / 1000000 + 1)) \
		"$event: a sample a millisecond at most"
done

# What no program here has: the event is there, and counts nothing.
never=dummy
[ "$(uname -m)" != x86_64 ] || never=dummy,alignment-faults,emulation-faults
exits 0 "$never" "$SPOOR" record -e "$never" -c 1 -o x.spoor -- "$counted" clock 10
is "$("$SPOOR" info --json x.spoor | jq '[.events[] | .samples, .count // 0] | add')" 0 "$never: nothing"
exits 2 "bpf-output" "$SPOOR" record -e bpf-output -o n.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'bpf-output: .*BPF' "bpf-output: why not is told"

# --- control groups and namespaces ---------------------------------------------------------------------

root=$(cgroup_root)
slice=spoor-software$$.slice
if [ -n "$root" ] && mkdir "$root/$slice" 2>/dev/null && mkdir "$root/$slice/a" "$root/$slice/b"; then
	at_exit "rmdir '$root/$slice/a' '$root/$slice/b' '$root/$slice'"
	cat >pingpong.py <<'END'
import os, sys
def join(group):
    with open(f"{sys.argv[1]}/{group}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))
os.sched_setaffinity(0, {0})
down, up, child = os.pipe(), os.pipe(), os.fork()
join("b" if child == 0 else "a")
for _ in range(200):
    if child:
        os.write(down[1], b"x")
        os.read(up[0], 1)
    else:
        os.read(down[0], 1)
        os.write(up[1], b"x")
if child:
    os.waitpid(child, 0)
END
	exits 0 "cgroup-switches" "$SPOOR" record -C 0 -e cgroup-switches -c 1 -o x.spoor -- python3 pingpong.py "$root/$slice"
	# Each switches to the other or to nothing; the first of the rounds may still be in one group.
	in_range "$("$SPOOR" report --json -s cgroup,event --cgroup "$slice" x.spoor 2>/dev/null | jq .samples)" 398 100000 \
		"cgroup-switches: each time that one goes on in its group"
	cat >in_group.sh <<'END'
echo $$ >"$1" && exec "$2" 150
END
	exits 0 "--cgroup" "$SPOOR" record -G "$slice/a" -e minor-faults -c 1 --call-graph none -o x.spoor -- \
		sh -c 'sh in_group.sh "$1/a/cgroup.procs" "$2" & sh in_group.sh "$1/b/cgroup.procs" "$2" & wait' - \
		"$root/$slice" "$FIXTURES/works"
	is "$(by_spoor minor-faults touch_pages)" $((150 * $(nproc))) "--cgroup: what was done in the group, and not beside it"
else
	skip "no control group can be made here" 4
fi
if [ "$(id -u)" -eq 0 ]; then
	exits 0 "namespaces" "$SPOOR" record -e dummy -o x.spoor -- unshare --mount --uts sh -c \
		'for n in mnt uts net; do readlink /proc/self/ns/$n; done; echo $$'
	want=$(sed 's/.*\[\(.*\)\]/\1/' out | xargs)
	is "$("$SPOOR" dump --json x.spoor | jq -sr '[.[] | select(.type == "NAMESPACES" and .pid == '"${want##* }"')] | last |
		.fields.namespaces | map({(.ns): .inode}) | add | "\(.mnt) \(.uts) \(.net)"')" "${want% *}" \
		"namespaces: those that the program says it is in"
	isnt "${want%% *}" "$(readlink /proc/self/ns/mnt | sed 's/.*\[\(.*\)\]/\1/')" "which are not ours"
fi
done_testing
