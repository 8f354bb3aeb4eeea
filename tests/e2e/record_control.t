#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What happens to a recording while it runs: --delay, --control, --max-size, --switch-output. Samples are page
# faults, each, of a program that makes a known number of them; the command waits for what it is told.
. "$(dirname "$0")/../lib.sh"
need_command perf
need_record_all

record() # OPTION...
{
	timeout 120 "$SPOOR" record -e page-faults -c 1 "$@" >out 2>err
}

samples_of() # FILE COMM
{
	"$SPOOR" dump "$1" --comm "$2" 2>/dev/null | grep -c ' SAMPLE '
}

# --- --delay ------------------------------------------------------------------------------------------

cat >in_two.sh <<'EOF'
"$1" 2000
until grep -q 'events enabled' err; do sleep 0.05; done
"$1" 1000
EOF
record -D 3000 -o d.spoor -- sh in_two.sh "$FIXTURES/faults"
in_range "$(samples_of d.spoor faults)" 1000 1200 "-D MS: nothing before the delay, all after it"
in_range "$("$SPOOR" dump d.spoor | grep ' READ ' | grep -o 'value=[0-9]*' | awk -F= '{ n += $2 } END { print n }')" 1000 2000 \
	"and no more was counted"
record -D 3000 -a -o d.spoor -- sh in_two.sh "$FIXTURES/faults"
in_range "$(samples_of d.spoor faults)" 1000 1200 "-a -D MS: the same"
record -D -1 -o d.spoor -- "$FIXTURES/faults" 2000
is "$(samples_of d.spoor faults)" 0 "-D -1: nothing without --control"
in_range "$("$SPOOR" dump d.spoor | grep -c ' COMM .*"faults"')" 1 2 "but names, for what comes"
cat >in_window.sh <<'EOF'
until grep -q 'events enabled' err; do sleep 0.05; done
until grep -q 'events disabled' err; do sleep 0.05; done
"$1" 2000
[ "$(grep -c 'events disabled' err)" -eq 1 ] || exit 9
until [ "$(grep -c 'events enabled' err)" -eq 2 ]; do sleep 0.05; done
"$1" 1000
EOF
record -D 0-500,4000-60000 -o d.spoor -- bash in_window.sh "$FIXTURES/faults"
in_range "$(samples_of d.spoor faults)" 1000 1200 "-D A-B,C-D: within these times"
for bad in -2 1x 10-5 10-20,15-30 '10-20,' ''; do
	exits 2 "-D '$bad'" "$SPOOR" record -D "$bad" -o n.spoor -- true
done

# --- --control ----------------------------------------------------------------------------------------

mkfifo ctl ack
cat >controls.sh <<'EOF'
ask() { echo "$1" >ctl; read -r answer <ack; echo "$1: $answer"; }
"$1" 2000
ask ping
ask enable
"$1" 1000
ask disable
"$1" 3000
echo stop >ctl # which ends this as well
exec sleep 100
EOF
record -D -1 --control fifo:ctl,ack -o c.spoor -- bash controls.sh "$FIXTURES/faults"
is "$(xargs <out)" "ping: ack enable: ack disable: ack" "--control fifo: what was asked was answered"
in_range "$(samples_of c.spoor faults)" 1000 1200 "enable, disable: samples between them"
perf record -q -e page-faults -c 1 -D -1 --control fifo:ctl,ack -o p.data -- bash controls.sh "$FIXTURES/faults" >perf.out 2>&1
is "$(grep -c ': ack' perf.out)" 3 "perf answers the same"
in_range "$(perf script -i p.data --comm faults 2>/dev/null -F comm,event | grep -c page-faults)" 1000 1200 "and has as many"
exec 8<>ctl 9<>ack
record -D -1 --control fd:8,9 -o c.spoor -- bash controls.sh "$FIXTURES/faults"
is "$(grep -c ': ack' out)" 3 "--control fd"
in_range "$(samples_of c.spoor faults)" 1000 1200 "samples between enable and disable"
# The answer to stop, which nobody took, is not the next one's.
while read -t 0.2 -r _ <&9; do :; done
cat >odd.sh <<'EOF'
printf 'sideways\nping\0' >ctl
read -r answer <ack
echo "$answer"
head -c 4000 /dev/zero | tr '\0' x >ctl
printf '\ndisable\n' >ctl
read -r answer <ack
echo "$answer"
"$1" 2000
EOF
record --control fifo:ctl,ack -o c.spoor -- bash odd.sh "$FIXTURES/faults"
is "$(xargs <out)" "ack ack" "what is no command has no answer, and the next one is taken"
like "$(cat err)" "'sideways' is none of enable" "it is told"
is "$(samples_of c.spoor faults)" 0 "disable, of what began enabled"
# Whoever asks may go: the recording goes on.
(exec 8>&-; record --control fd:7 -o c.spoor -- "$FIXTURES/faults" 2000 7</dev/null)
in_range "$(samples_of c.spoor faults)" 2000 2200 "an end of file asks for nothing"
exec 8>&- 9>&-
for bad in ctl fd: fd:x fd:987 fifo:/nowhere/at/all; do
	nok "--control $bad" "$SPOOR" record --control $bad -o n.spoor -- true
	ok "--control $bad: nothing is left" test ! -e n.spoor
done

# --- --max-size, --switch-output ------------------------------------------------------------------------

record --max-size 100K -o m.spoor -- "$FIXTURES/faults" 1000000000
in_range "$(stat -c %s m.spoor)" 102400 20000000 "--max-size: the file ends about there, and the command with it"
like "$(cat err)" 'max-size' "it is told"
ok "and is whole" "$SPOOR" verify m.spoor
exits 2 "--max-size 10T" "$SPOOR" record --max-size 10T -o n.spoor -- true

total() # FILE...
{
	local n=0 file

	for file; do
		n=$((n + $("$SPOOR" info --json "$file" | jq .samples)))
	done
	echo $n
}
told()
{
	sed -n 's/^\[ spoor record: \([0-9]*\) samples.*/\1/p' err
}

cat >signals.sh <<'EOF'
"$1" 1000
kill -USR2 $PPID
until ls g.spoor.2* >/dev/null 2>&1; do sleep 0.05; done
until [ -s g.spoor ]; do sleep 0.05; done
"$1" 2000
EOF
record --switch-output -o g.spoor -- bash signals.sh "$FIXTURES/faults"
files=(g.spoor.*)
is "${#files[@]}" 2 "--switch-output: SIGUSR2 began another file"
ok "no file is without its time" test ! -e g.spoor
like "${files[0]}" '^g\.spoor\.20[0-9]{14}$' "names are those of perf"
is "$(total "${files[@]}")" "$(told)" "each sample is in one of them"
in_range "$(samples_of "${files[0]}" faults)" 1000 1200 "what was before is in the first"
in_range "$(samples_of "${files[1]}" faults)" 2000 2200 "what comes after is in the second"
for file in "${files[@]}"; do
	ok "$file is whole" "$SPOOR" verify "$file"
done
record --switch-output=50K -o s.spoor -- "$FIXTURES/faults" 400000
files=(s.spoor.*)
in_range "${#files[@]}" 2 100000 "--switch-output=SIZE: several files"
is "$(total "${files[@]}")" "$(told)" "each sample is in one of them"
record --switch-output=50K --switch-max-files 2 -o l.spoor -- "$FIXTURES/faults" 400000
files=(l.spoor.*)
is "${#files[@]}" 2 "--switch-max-files: the last two"
record --switch-output=1s -o t.spoor -- sh -c "'$FIXTURES/faults' 1000; until ls t.spoor.2*; do sleep 0.1; done; '$FIXTURES/faults' 1000"
files=(t.spoor.*)
in_range "${#files[@]}" 2 100 "--switch-output=TIME: another file by the time"
is "$(total "${files[@]}")" "$(told)" "each sample is in one of them"
record --timestamp-filename -o f.spoor -- true
files=(f.spoor*)
like "${files[*]}" '^f\.spoor\.20[0-9]{14}$' "--timestamp-filename"
exits 2 "a switch at no time" "$SPOOR" record --switch-output=1w -o n.spoor -- true
exits 2 "--switch-max-files alone" "$SPOOR" record --switch-max-files 3 -o n.spoor -- true
exits 2 "--switch-output into a pipe" bash -c '"$1" record --switch-output -o - -- true | cat; exit ${PIPESTATUS[0]}' - "$SPOOR"

done_testing
