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
# Its own name: all of the host is sampled.
cp "$FIXTURES/faults" delayed$$
record -D 3000 -a -o d.spoor -- sh in_two.sh ./delayed$$
in_range "$(samples_of d.spoor delayed$$)" 1000 1200 "-a -D MS: the same"
record -D -1 -o d.spoor -- "$FIXTURES/faults" 2000
is "$(samples_of d.spoor faults)" 0 "-D -1: nothing without --control"
in_range "$("$SPOOR" dump d.spoor | grep -c ' COMM .*"faults"')" 1 2 "but names, for what comes"
# Nothing is missed of what begins at once: it is on with the command, before any thread of ours runs.
record -o d.spoor -- "$FIXTURES/faults" 2000
whole=$(samples_of d.spoor faults)
for delay in 0 0-60000; do
	record -D $delay -o d.spoor -- "$FIXTURES/faults" 2000
	in_range "$(samples_of d.spoor faults)" $((whole - 5)) $((whole + 5)) "-D $delay: all from the beginning"
	is "$("$SPOOR" info --json -i d.spoor | jq '.gaps | length')" 0 "and no gap"
done
cat >in_window.sh <<'EOF'
until grep -q 'events disabled' err; do sleep 0.05; done
"$1" 2000
grep -q 'events enabled' err && exit 9
until grep -q 'events enabled' err; do sleep 0.05; done
"$1" 1000
EOF
record -D 0-500,4000-60000 -o d.spoor -- bash in_window.sh "$FIXTURES/faults"
in_range "$(samples_of d.spoor faults)" 1000 1200 "-D A-B,C-D: within these times"
for bad in -2 1x 10-5 10-20,15-30 '10-20,' '' "$(for i in {1..33}; do echo -n "${i}0-${i}5,"; done | sed 's/,$//')"; do
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
perf record -q --buildid-mmap -e page-faults -c 1 -D -1 --control fifo:ctl,ack -o p.data -- bash controls.sh "$FIXTURES/faults" >perf.out 2>&1
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
head -c 4096 /dev/zero | tr '\0' x >ctl
printf 'stop\ndisable\n' >ctl
read -r answer <ack
echo "$answer"
"$1" 2000
EOF
record --control fifo:ctl,ack -o c.spoor -- bash odd.sh "$FIXTURES/faults"
is "$(xargs <out)" "ack ack" "what is no command has no answer, and the next one is taken"
like "$(cat err)" "'sideways' is none of enable" "it is told"
is "$(grep -c 'more than 512 bytes' err)" 1 "and a line that is too long, once: its end is no command"
is "$(samples_of c.spoor faults)" 0 "disable, of what began enabled"
# Whoever asks may go: the recording goes on.
(exec 8>&-; record --control fd:7 -o c.spoor -- "$FIXTURES/faults" 2000 7</dev/null)
in_range "$(samples_of c.spoor faults)" 2000 2200 "an end of file asks for nothing"
exec 8>&- 9>&-
# One event by its name, while another one goes on. Nobody else has the FIFOs open: the answer to stop goes with its recorder.
cat >named.sh <<'EOS'
ask() { echo "$1" >ctl; read -r answer <ack; echo "$1: $answer"; }
faults=$1
"$faults" 1000
while read -r command; do
	case $command in
	[0-9]*) "$faults" "$command" ;;
	*) ask "$command" ;;
	esac
done
echo stop >ctl
exec sleep 100
EOS
named() # OPTION...: stdin has commands, and numbers of faults between them
{
	timeout 120 "$SPOOR" record -c 1 "$@" --control fifo:ctl,ack -- bash named.sh "$FIXTURES/faults" >out 2>err
}
of_event() # FILE EVENT: samples of the program
{
	"$SPOOR" dump "$1" --comm faults | grep -c " SAMPLE .*event=\"$2\""
}
notes_of()
{
	"$SPOOR" info --json -i "$1" | jq -r .notes
}
gaps_of()
{
	"$SPOOR" info --json -i "$1" | jq '[.gaps[] | select(.cause == "paused")] | length'
}
two='page-faults,minor-faults'
named -e "$two" -o c.spoor <<'EOS'
disable page-faults
3000
enable page-faults
500
EOS
is "$(xargs <out)" "disable page-faults: ack enable page-faults: ack" "one event by its name: answered"
like "$(xargs <err)" 'event page-faults disabled .*event page-faults enabled' "and told"
in_range "$(of_event c.spoor page-faults)" 1500 1800 "of it there are samples while it is on"
in_range "$(of_event c.spoor minor-faults)" 4500 5000 "of the other one always"
like "$(notes_of c.spoor)" 'asked to be off while others were on: page-faults$' "the file tells that it was off"
is "$(gaps_of c.spoor)" 0 "which is no gap of the recording"
"$SPOOR" dump c.spoor | sed -n 's/.* READ .*event="page-faults" id=\([0-9]*\) .*time_enabled=\([0-9]*\) .*value=\([0-9]*\) .*/\1 \2 \3/p' |
	awk '{ n[$1]++; if (n[$1] == 2 && last[$1] != $2 " " $3) print "counted while off"; last[$1] = $2 " " $3 }
		END { for (id in n) if (n[id] != 3) print id, n[id] }' >odd
is "$(cat odd)" "" "READ records tell its counts as it went off, and the same as it came on"
# Off from the beginning, but for one of them; then none by and by, which is a gap.
named -D -1 -e "$two" -o c.spoor <<'EOS'
enable minor-faults
2000
disable minor-faults
4000
enable
500
EOS
in_range "$(of_event c.spoor page-faults)" 500 700 "-D -1, enable EVENT: not the others"
in_range "$(of_event c.spoor minor-faults)" 2500 2900 "but that one"
is "$(gaps_of c.spoor)" 2 "times when none is on are gaps"
# What is counted beside the samples is no other event that is on: it is on while any is.
counted_of() # FILE EVENT
{
	"$SPOOR" counters --json "$1" | jq -s --arg e "$2" '[.[].counts[] | select(.event == $e) | .count] | add'
}
named -e page-faults --counters=minor-faults --counter-interval 20ms -o c.spoor <<'EOS'
disable page-faults
3000
enable page-faults
500
EOS
is "$(gaps_of c.spoor) $(notes_of c.spoor)" "1 " "--counters: the only event with samples is off: a gap"
in_range "$(of_event c.spoor page-faults)" 1500 1800 "in which there are none"
in_range "$(counted_of c.spoor minor-faults)" 1500 2900 "and nothing is counted"
named -D -1 -e "$two" --counters=faults -o c.spoor <<'EOS'
enable page-faults
2000
disable page-faults
3000
enable minor-faults
500
disable faults
1000
EOS
in_range "$(counted_of c.spoor faults)" 3500 4900 "-D -1: it is counted as soon as one event is on, whichever"
is "$(gaps_of c.spoor)" 2 "between gaps"
like "$(cat err)" 'faults is counted: .*together with all events' "by its own name it is not turned off"
# Another file has to tell it as well; it needs no time in its name here.
rm -f n.spoor*
named --switch-output -e "$two" -o n.spoor <<'EOS'
disable minor-faults
snapshot
2000
enable minor-faults
EOS
files=(n.spoor.*)
for file in "${files[@]}"; do
	like "$(notes_of "$file")" ': minor-faults$' "each file tells what was off in it"
done
is "$(of_event "${files[1]}" minor-faults)" 0 "as it was in the second one"
# The list, and what is no event, as perf has them.
list='page-faults,{cs,minor-faults}'
cat >asked <<'EOS'
evlist
evlist -F
evlist -g
evlist -x
enable nosuch
disable -v
EOS
named -e "$list" -o c.spoor <asked
grep -v '^spoor: \|^\[' err >listed
cp out answers
perf record -q --buildid-mmap -e "$list" -c 1 --control fifo:ctl,ack -o p.data -- bash named.sh "$FIXTURES/faults" <asked 2>&1 >perf.answers | grep -v Terminated >perf.listed
same "evlist: what perf lists" listed perf.listed
same "and what is answered" answers perf.answers
like "$(cat err)" "no event is called 'nosuch'" "what is no event is told"
like "$(cat err)" "evlist takes -v, -F or -g" "as is what is no list"
named -e "$list" -o c.spoor <<'EOS'
disable minor-faults
evlist -v
EOS
like "$(cat err)" 'minor-faults is in the group of cs' "a member of a group is not turned off alone"
"$SPOOR" record --dry-run -c 1 -e "$list" -- true | grep -v side-band >dry
grep ': type:' err >listed
same "evlist -v: the attrs as --dry-run has them" listed dry
named -e page-faults --off-cpu -o c.spoor <<'EOS'
disable off-cpu
EOS
like "$(cat err)" 'off-cpu goes on and off only together with all events' "nor is off-cpu"
named -e page-faults -o c.spoor <<EOS
enable $(printf '\033')[31mred
EOS
like "$(cat -v err)" 'no event is called .\\033\[31mred' "whoever writes to the FIFO writes on no terminal"
# 3 to 9 are not given to it, and some of them it has opened meanwhile itself: the recording, for one.
for bad in ctl fd: fd:x fd:987 fd:0,3 fd:0,4 fd:0,5 fd:0,6 fd:0,7 fd:0,8 fifo:/nowhere/at/all; do
	nok "--control $bad" "$SPOOR" record --control $bad -o n.spoor -- true 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-
	ok "--control $bad: nothing is left" test ! -e n.spoor
done

# --- --max-size, --switch-output ------------------------------------------------------------------------

record --max-size 100K -o m.spoor -- "$FIXTURES/faults" 1000000000
in_range "$(stat -c %s m.spoor)" 102400 20000000 "--max-size: the file ends about there, and the command with it"
like "$(cat err)" 'max-size' "it is told"
ok "and is whole" "$SPOOR" verify m.spoor
is "$(for size in 5000000000B 5000000000 8589934591G 8589934592G; do "$SPOOR" record --max-size $size --dry-run -- true >/dev/null 2>&1; echo -n "$? "; done)" \
	"0 0 0 2 " "sizes, to what 63 bits hold"
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
