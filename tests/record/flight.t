#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor record --overwrite: the last samples, exactly. They are page faults, each, of a program that touches one
# page after another on one CPU: the address of a sample is its number.
. "$(dirname "$0")/../lib.sh"
need_record_all

PAGES=4096
RING=2097152

record() # OPTION...
{
	timeout 120 "$SPOOR" record -e page-faults -c 1 -d --overwrite -m 2M "$@" >out 2>err
}

# Size and page of each fault of the program's loop, whose instruction most of its faults have.
faults_of() # FILE COMM
{
	"$SPOOR" dump "$1" --comm "$2" 2>/dev/null |
		sed -n 's/.* SAMPLE .* size=\([0-9]*\) .* ip=\(0x[0-9a-f]*\) .*addr=0x\([0-9a-f]*\).*/\1 \2 \3/p' |
		python3 -c '
import collections, sys
rows = [l.split() for l in sys.stdin]
where = collections.Counter(r[1] for r in rows).most_common(1)
for size, ip, addr in rows:
    if ip == where[0][0]:
        print(size, int(addr, 16) // 4096)'
}

# FIRST LAST HOW-MANY BREAKS, of pages from the lowest one on.
series_of() # FILE COMM
{
	faults_of "$1" "$2" | python3 -c '
import sys
rows = [int(l.split()[1]) for l in sys.stdin]
low = min(rows) if rows else 0
n = [r - low for r in rows]
breaks = sum(b != (a + 1) % '$PAGES' for a, b in zip(n, n[1:]))
print(n[0] if n else -1, n[-1] if n else -1, len(n), breaks)'
}

# --- the last ones --------------------------------------------------------------------------------------

record -o last.spoor -- taskset -c 1 sh -c 'exec taskset -c 0 "$1" 100000' - "$FIXTURES/faults"
read -r _ last count breaks <<<"$(series_of last.spoor faults)"
is "$breaks" 0 "the last faults, none of them missing or twice"
is "$last" $((99999 % PAGES)) "up to the last one"
bytes=$(faults_of last.spoor faults | awk '{ n += $1 } END { print n }')
in_range "$bytes" $((RING - 16384)) $RING "and they fill the ring"
in_range "$count" 10000 40000 "which is some thousands"
ok "the file is whole" "$SPOOR" verify last.spoor
in_range "$("$SPOOR" dump last.spoor | sed -n 's/.* READ .*{value=\([0-9]*\) .*/\1/p' | awk '{ n += $1 } END { print n }')" 100000 102000 \
	"while all were counted"
is "$("$SPOOR" info --json last.spoor | jq .lost)" 0 "what is overwritten is not lost"
is "$("$SPOOR" report --json last.spoor --comm faults | jq -r '.rows[0].symbol')" main "they have names"
"$SPOOR" export -f perf-data-file -o last.data last.spoor
is "$(perf script -i last.data -F comm,event 2>/dev/null | awk '/page-faults/ { print $1 }' | sort | uniq -c | xargs)" \
	"$("$SPOOR" report --json --sort comm last.spoor | jq -r '.rows[] | "\(.samples) \(.comm)"' | sort -k 2 | xargs)" \
	"perf script gives the samples of the export the same names: who had another before kept that"
record -o all.spoor -- taskset -c 0 "$FIXTURES/faults" 3000
is "$(series_of all.spoor faults)" "0 2999 3000 0" "a ring that never was full: all of them"

# --- who is gone has a name -------------------------------------------------------------------------------

mkdir many
for i in $(seq 20); do cp "$FIXTURES/faults" "many/gone$i"; done
cat >many.sh <<'EOF'
taskset -cp 0 $$ >/dev/null
for i in $(seq 20); do many/gone$i 500; done
EOF
record -m 8M -o many.spoor -- bash many.sh
"$SPOOR" report --json --sort comm,dso,sym many.spoor >many.json
is "$(jq -r '.rows[] | select(.symbol == "main" and .samples >= 500 and .comm as $c | .dso | endswith($c)) | .comm' many.json |
	sort -V | xargs)" "$(seq -f 'gone%g' 20 | xargs)" \
	"20 processes that were gone before: each sample has its own name and file"
cat >wrap.sh <<'EOF'
taskset -cp 0 $$ >/dev/null
for i in $(seq 10); do many/gone$i 30000; done
EOF
record -o wrap.spoor -- bash wrap.sh
read -r _ last _ breaks <<<"$(series_of wrap.spoor gone10)"
is "$last $breaks" "$((29999 % PAGES)) 0" "of ten that each fill the ring the last one is there"
is "$("$SPOOR" dump wrap.spoor --comm gone1 | grep -c ' SAMPLE ')" 0 "and the first one is not"
is "$("$SPOOR" report --json --sort comm,sym wrap.spoor --comm gone10 | jq -r '.rows[0].symbol')" main "with its names"

# --- dumps ----------------------------------------------------------------------------------------------

cat >signals.sh <<'EOF'
taskset -cp 0 $$ >/dev/null
"$1" 50000
kill -USR2 $PPID
until grep -q 'recorded ' err; do sleep 0.05; done
"$1" 3000
EOF
record --switch-output -o s.spoor -- bash signals.sh "$FIXTURES/faults"
files=(s.spoor.*)
is "${#files[@]}" 2 "SIGUSR2 and the end: a file each"
read -r _ last _ breaks <<<"$(series_of "${files[0]}" faults)"
is "$last $breaks" "$((49999 % PAGES)) 0" "the first one ends with what was before the signal"
is "$(series_of "${files[1]}" faults)" "0 2999 3000 0" "the second one has what came after, and nothing twice"
ok "the first is whole" "$SPOOR" verify "${files[0]}"
ok "the second is whole" "$SPOOR" verify "${files[1]}"
is "$("$SPOOR" report --json "${files[1]}" --comm faults | jq -r '.rows[0].symbol')" main "and has names of its own"
record -o n.spoor -- bash signals.sh "$FIXTURES/faults"
files=(n.spoor*)
is "${#files[@]}" 2 "without --switch-output likewise"
is "$(series_of n.spoor faults)" "0 2999 3000 0" "and the last one has the name that was asked for"

mkfifo ctl ack
cat >controls.sh <<'EOF'
taskset -cp 0 $$ >/dev/null
"$1" 3000
echo snapshot >ctl
read -r answer <ack
echo "$answer"
"$1" 2000
EOF
record --control fifo:ctl,ack -o c.spoor -- bash controls.sh "$FIXTURES/faults"
is "$(cat out)" ack "--control: snapshot is answered"
is "$(series_of c.spoor.2* faults)" "0 2999 3000 0" "when all that was before is in the file"
is "$(series_of c.spoor faults)" "0 1999 2000 0" "and what comes after in another"

# --- a trigger ------------------------------------------------------------------------------------------

cp "$FIXTURES/faults" trouble
# Samples are of all processes: another test may have a program of the name "faults".
ours=ours$$
cp "$FIXTURES/faults" $ours
cat >triggers.sh <<'EOF'
taskset -cp 0 $$ >/dev/null
"$1" 3000
./trouble 10
until grep -q 'recorded ' err; do sleep 0.05; done
"$1" 2000
EOF
record -a -m 16M --switch-output-event "uprobe:./trouble:main" -o t.spoor -- bash triggers.sh "./$ours"
files=(t.spoor.*)
is "${#files[@]}" 2 "--switch-output-event: its hit, and the end, a file each"
is "$(series_of "${files[0]}" $ours)" "0 2999 3000 0" "the first one has what led to the hit"
is "$("$SPOOR" dump "${files[0]}" --comm trouble | grep -c ' SAMPLE .*event="uprobe')" 1 "and the hit itself"
is "$(series_of "${files[1]}" $ours)" "0 1999 2000 0" "the second one what came after"
timeout 120 "$SPOOR" record -a -e page-faults -c 1 --switch-output-event "uprobe:./trouble:main" -o w.spoor -- \
	bash triggers.sh "./$ours" >out 2>err
files=(w.spoor.*)
is "${#files[@]}" 2 "without --overwrite: another file at the hit"

# At each Nth of what it counts, however often the rings are looked at meanwhile.
exits 0 "--switch-output-event with a period" timeout 120 "$SPOOR" record -e cpu-clock --switch-output-event cpu-clock/period=100000000/ \
	-o v.spoor -- "$FIXTURES/burn" 400
files=(v.spoor.*)
in_range "${#files[@]}" 3 6 "another file at each of its hits"
exits 2 "a trigger with a frequency" "$SPOOR" record --switch-output-event cpu-clock/freq=9,name=slow/ -o n.spoor -- true
like "$(cat err)" 'slow: freq= .*period=N' "it is told what to give instead"
exits 2 "a trigger that is no event" "$SPOOR" record --overwrite --switch-output-event nothing -o n.spoor -- true

# --- ends -----------------------------------------------------------------------------------------------

timeout 120 "$SPOOR" record -q -e page-faults -c 1 -d --overwrite -m 2M -o - -- \
	taskset -c 0 "$FIXTURES/faults" 3000 2>err | cat >piped.spoor
is "$(series_of piped.spoor faults)" "0 2999 3000 0" "a pipe gets the end"
background "$SPOOR" record -a --overwrite -o k.spoor
wait_for 20 test -s k.spoor || bail "nothing is recorded"
kill -KILL "${background_pids[-1]}"
wait "${background_pids[-1]}" 2>/dev/null
is "$("$SPOOR" info --json k.spoor | jq .samples)" 0 "kill -9: nothing was written, and that can be read"

# --- what cannot be --------------------------------------------------------------------------------------

exits 2 "--overwrite --max-size" "$SPOOR" record --overwrite --max-size 1M -o n.spoor -- true
exits 2 "--overwrite --switch-output=1M" "$SPOOR" record --overwrite --switch-output=1M -o n.spoor -- true
exits 2 "--overwrite --snapshot" "$SPOOR" record --overwrite --snapshot -o n.spoor -- true
like "$(cat err)" '--snapshot are of an event with an AUX area' "which traces: those are refused"
exits 2 "--overwrite --switch-events" "$SPOOR" record --overwrite --switch-events -o n.spoor -- true
exits 1 "a kernel without such rings" env SPOOR_KERNEL=4.4 LD_PRELOAD="$PRELOADS/libmachine.so" \
	"$SPOOR" record --overwrite -o none.spoor -- true
like "$(cat err)" 'write_backward, Linux 4.7' "it is told"
ok "nothing is left" test ! -e none.spoor

done_testing
