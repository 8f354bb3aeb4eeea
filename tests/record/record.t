#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
# spoor record: every kind of target, what is counted, what is said, and every way to fail.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command jq

burn=$FIXTURES/burn
faults=$FIXTURES/faults

quietly() # COMMAND...: its stderr in $TMP/err, its status
{
	"$@" >"$TMP/out" 2>"$TMP/err"
}

info() # FILE FILTER
{
	"$SPOOR" info --json -i "$1" 2>/dev/null | jq -r "$2"
}

samples() # FILE JQ-CONDITION: how many samples meet it
{
	"$SPOOR" dump --json -i "$1" 2>/dev/null |
		jq -c "select(.type == \"SAMPLE\") | select($2)" | wc -l
}

cpu_ms() # PID [TID]: CPU time it has used
{
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' \
		"/proc/$1/${2:+task/$2/}stat"
}

# Other work on the machine takes CPU time from what is recorded, and /proc knows how much.
as_it_ran() # SAMPLES HZ MS NAME: MS is from before the recording to after it
{
	in_range "$1" "$(awk -v n="$3" -v hz="$2" 'BEGIN { print n * hz / 1000 * 0.4 }')" \
		"$(awk -v n="$3" -v hz="$2" 'BEGIN { print n * hz / 1000 * 1.1 + 10 }')" "$4"
}

dump_tids() # FILE: how many threads have samples
{
	"$SPOOR" dump --json -i "$1" 2>/dev/null | jq 'select(.type == "SAMPLE") | .tid' | sort -u | wc -l
}

online=$(nproc --all)
unprivileged=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)

# --- a command ---------------------------------------------------------------------------------

exits 0 "a command" "$SPOOR" record -F 499 -o c.spoor -- "$burn" 1000
like "$(cat err)" '^\[ spoor record: [0-9]+ samples, 0 lost, 0\.[0-9]+ MB in c\.spoor \]$' "the summary"
used=$(sed -n 2p out)
in_range "$(info c.spoor .samples)" $((used * 499 * 85 / 100000)) $((used * 499 * 105 / 100000)) \
	"as many samples as CPU time x Hz"
is "$(info c.spoor '.records.SAMPLE == .samples')" true "records and samples agree"
is "$(samples c.spoor '.pid == '"$(sed -n 1p out)")" "$(info c.spoor .samples)" "all of that process"
is "$(info c.spoor .closed)" true "closed in order"
is "$(info c.spoor '.records.READ')" "$online" "a count per CPU at the end"
"$SPOOR" report --json -i c.spoor >report.json 2>/dev/null
is "$(jq -r '.rows[0].symbol' report.json)" burn_hot "its hot function on top"
is "$(jq -r '.rows[0].comm' report.json)" burn "under its name"

exits 0 "options after the command are the command's" "$SPOOR" record -o x.spoor echo -a -o -p
is "$(cat out)" "-a -o -p" "it got them"
exits 3 "the command's status" "$SPOOR" record -o x.spoor -- sh -c 'exit 3'
exits 137 "a command that is killed" "$SPOOR" record -o x.spoor -- sh -c 'kill -9 $$'
exits 0 "children are recorded as well" "$SPOOR" record -F 499 -o x.spoor -- sh -c "'$burn' 300 & '$burn' 300; wait"
in_range "$(samples x.spoor true)" 240 330 "both of them"

rm -f n.spoor
exits 127 "a command that does not exist" "$SPOOR" record -o n.spoor -- no-such-command
like "$(cat err)" '^spoor record: cannot execute no-such-command: No such file' "is named"
nok "and no recording of it" test -e n.spoor
touch plain
exits 126 "a command that is no program" "$SPOOR" record -o n.spoor -- ./plain
like "$(cat err)" 'cannot execute ./plain: Permission denied' "is named too"

# --- everything --------------------------------------------------------------------------------

background sh -c "exec '$burn' 60000 $online >/dev/null"
load=$!
exits 0 "all CPUs" "$SPOOR" record -a -F 999 --duration 2s -o a.spoor
per_cpu=$(info a.spoor '.duration_ns / 1e9 * 999')
in_range "$(info a.spoor .samples)" "$(jq -n "$per_cpu * $online * 0.8")" \
	"$(jq -n "$per_cpu * $online * 1.02")" "busy CPUs: duration x Hz x CPUs"
for cpu in $(seq 0 $((online - 1))); do
	in_range "$(samples a.spoor ".cpu == $cpu")" "$(jq -n "$per_cpu * 0.8")" \
		"$(jq -n "$per_cpu * 1.05")" "its share on CPU $cpu"
done
is "$(info a.spoor '.events[0].name')" "$(perf_pmu=$(ls -d /sys/bus/event_source/devices/cpu* 2>/dev/null); \
	[ -n "$perf_pmu" ] && echo cycles:P || echo cpu-clock:I)" "the default event"
is "$(info a.spoor '.frequency_hz_effective // .frequency_hz // 999')" 999 "its frequency"
exits 0 "without a target and a command: all CPUs" "$SPOOR" record --duration 300ms -o x.spoor
in_range "$(info x.spoor .samples)" 100 999999 "they are"
exits 0 "-a and a command" "$SPOOR" record -a -o x.spoor -- sleep 0.3
in_range "$(samples x.spoor ".pid == $load")" 5 999999 "all is recorded while it runs"
exits 0 "one CPU" "$SPOOR" record -C 0 --duration 500ms -o x.spoor
is "$(samples x.spoor '.cpu != 0')" 0 "no sample from another"
# The end of the duration may be late on a busy machine.
in_range "$(samples x.spoor '.cpu == 0')" 200 "$(info x.spoor '.duration_ns / 1e9 * 999 * 1.1 + 20')" "but from this one"

"$SPOOR" record -a -o s.spoor 2>err &
recorder=$!
wait_for 20 test -s s.spoor
sleep 0.5
kill -INT $recorder
wait $recorder
is $? 130 "^C ends a recording, with its status"
is "$(info s.spoor .closed)" true "it is closed"
like "$(cat err)" 'samples, 0 lost' "and summed up"

# --- processes, threads ------------------------------------------------------------------------

before=$(cpu_ms $load)
exits 0 "a process" "$SPOOR" record -p $load -F 499 --duration 1s -o p.spoor
after=$(cpu_ms $load)
is "$(samples p.spoor ".pid != $load")" 0 "only of it"
as_it_ran "$(samples p.spoor true)" 499 $((after - before)) "as often as it ran"
is "$(dump_tids p.spoor)" "$online" "all its threads"
threads=$(printf '%s\n' /proc/$load/task/* | tail -n 1)
before=$(cpu_ms $load)
exits 0 "a process named twice, and by a thread of it" "$SPOOR" record -p "$load,$load,${threads##*/}" -F 499 --duration 1s -o p.spoor
after=$(cpu_ms $load)
as_it_ran "$(samples p.spoor true)" 499 $((after - before)) "is recorded once"
before=$(cpu_ms $load $load)
exits 0 "a thread" "$SPOOR" record -t $load -F 499 --duration 1s -o t.spoor
is "$(samples t.spoor ".tid != $load")" 0 "only of it"
after=$(cpu_ms $load $load)
as_it_ran "$(samples t.spoor true)" 499 $((after - before)) "as often as it ran"
kill $load
wait $load 2>/dev/null

"$burn" 1500 2 >/dev/null &
short=$!
exits 0 "a process that ends" "$SPOOR" record -p $short -o x.spoor
in_range "$(samples x.spoor ".pid == $short")" 300 3100 "ends the recording"
exits 1 "no such process" "$SPOOR" record -p $short -o n.spoor
is "$(cat err)" "spoor record: no such process: $short" "is said"
nok "and leaves nothing" test -e n.spoor
exits 1 "no such thread" "$SPOOR" record -t 2147483646 -o n.spoor
exits 1 "one that is there, one that is not" "$SPOOR" record -p $$,$short --duration 1s -o n.spoor

# --- control groups ----------------------------------------------------------------------------

hierarchy=$(cgroup_root)
if [ -n "$hierarchy" ] && mkdir "$hierarchy/spoor-test.$$" 2>/dev/null; then
	at_exit "rmdir '$hierarchy/spoor-test.$$'"
	background sh -c "echo \$\$ >'$hierarchy/spoor-test.$$/cgroup.procs' && exec '$burn' 20000 >/dev/null"
	inside=$!
	background sh -c "exec '$burn' 20000 >/dev/null"
	outside=$!
	wait_for 10 grep -q $inside "$hierarchy/spoor-test.$$/cgroup.procs"
	before=$(cpu_ms $inside)
	exits 0 "a control group" "$SPOOR" record --cgroup "spoor-test.$$" -F 499 --duration 1s -o g.spoor
	after=$(cpu_ms $inside)
	as_it_ran "$(samples g.spoor ".pid == $inside")" 499 $((after - before)) "what runs in it"
	is "$(samples g.spoor ".pid != $inside")" 0 "and nothing else"
	exits 0 "by its directory" "$SPOOR" record --cgroup "$hierarchy/spoor-test.$$" --duration 200ms -o x.spoor
	kill $inside $outside
	wait $inside $outside 2>/dev/null
else
	skip "no control group can be made here" 4
fi
exits 1 "no such control group" "$SPOOR" record --cgroup no/such/group -o n.spoor
like "$(cat err)" 'no/such/group' "is named"
exits 1 "a directory that is none" "$SPOOR" record --cgroup /tmp -o n.spoor
like "$(cat err)" '/tmp is not a control group' "is named"

# --- events, rates, rings ----------------------------------------------------------------------

exits 0 "two events" "$SPOOR" record -e cpu-clock:u -e page-faults,context-switches -o x.spoor -- "$faults" 20000
is "$(info x.spoor '[.events[].name] | join(" ")')" "cpu-clock:u page-faults context-switches dummy:u" "are in the file"
exits 0 "a period" "$SPOOR" record -e page-faults -c 100 -o x.spoor -- "$faults" 50000
in_range "$(info x.spoor .samples)" 490 520 "one sample each"
exits 0 "no call graph" "$SPOOR" record --call-graph none -o x.spoor -- "$burn" 100
is "$(samples x.spoor '.fields | has("callchain")')" 0 "none is recorded"
is "$(samples c.spoor '.fields | has("callchain") | not')" 0 "as it is otherwise"
if [ "$(uname -m)" = x86_64 ]; then
	exits 0 "DWARF call graph" "$SPOOR" record --call-graph dwarf,4096 -o x.spoor -- "$burn" 100
	in_range "$(samples x.spoor '.size > 4000')" 50 110 "stacks are recorded"
else
	skip "--call-graph dwarf is for x86-64 and arm64" 2
fi

max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
exits 0 "a frequency over the maximum" "$SPOOR" record -F $((max * 2)) -e page-faults -o x.spoor -- true
like "$(cat err)" "^spoor record: frequency lowered from $((max * 2)) to $max Hz: kernel.perf_event_max_sample_rate" "is said"
like "$("$SPOOR" info -i x.spoor)" "lowered from $((max * 2)) to $max" "and recorded"
exits 0 "-F max" "$SPOOR" record -F max -e page-faults -o x.spoor -- true
unlike "$(cat err)" lowered "is what the kernel allows"
exits 0 "-m that is no power of two" "$SPOOR" record -m 3 -o x.spoor -- true
like "$(cat err)" 'rings of 4 pages' "is rounded up"

if "${unprivileged[@]}" true 2>/dev/null; then
	mkdir -m 777 open
	cp "$SPOOR" "$burn" open/ && chmod 755 open/*
	chmod 755 "$TMP"
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	capability=CAP_PERFMON
	[ "$paranoid" -lt 3 ] || capability="CAP_SYS_ADMIN \(CAP_PERFMON, unless the kernel is Debian's\)"
	if [ "$paranoid" -ge 1 ]; then
		exits 1 "no permission for all CPUs" "${unprivileged[@]}" open/spoor record -a -o open/u.spoor
		like "$(cat err)" "perf_event_open: E(ACCES|PERM): .* needs $capability or kernel.perf_event_paranoid < 1 \(it is $paranoid\)" \
			"says what is needed"
	else
		skip "kernel.perf_event_paranoid is $paranoid" 2
	fi
	# Where a user may sample programs, but not the kernel, events lose it, and keep names that -e would take.
	if [ "$paranoid" -eq 2 ]; then
		exits 0 "a breakpoint, without permission for the kernel" "${unprivileged[@]}" \
			open/spoor record -e mem:0x1000:w,cs,cpu-clock:I -o open/u.spoor -- open/burn 10
		is "$("${unprivileged[@]}" open/spoor info --json -i open/u.spoor | jq -r '[.events[].name] | join(" ")')" \
			"mem:0x1000:w:u cs:u cpu-clock:Iu dummy:u" "names are those of what was opened"
		# Linux 7.2, Debian's 6.12 and Ubuntu's 6.8 refuse the kernel's part of call chains as well.
		cp "$FIXTURES/libmachine.so" open/ && chmod 755 open/libmachine.so
		current=(env SPOOR_KERNEL=7.2 LD_PRELOAD="$TMP/open/libmachine.so" "${unprivileged[@]}")
		right="CAP_PERFMON or kernel.perf_event_paranoid < 2 \(it is 2\)"
		for how in cycles cpu-clock:u/dwarf '{cpu-clock,page-faults}:S'; do
			graph=fp event=$how
			[[ $how != */dwarf ]] || graph=dwarf event=${how%/dwarf}
			exits 0 "$how of a user, without call chains of the kernel" "${current[@]}" \
				open/spoor record -e "$event" --call-graph $graph -o open/u.spoor -- open/burn 200
			"${unprivileged[@]}" cat open/u.spoor >u.spoor
			left="no samples of the kernel, and no call chains of it"
			[ "$event" != cpu-clock:u ] || left="no call chains of the kernel"
			like "$(cat err)" "[^ ]+:u[IP]*: $left: that needs $right" "says what is left out"
			like "$(info u.spoor .notes)" "$left: that needs $right" "in the recording, too"
			in_range "$("$SPOOR" export -f folded -i u.spoor 2>/dev/null |
				awk '/;main;(.*;)?burn_hot / { n += $NF } END { print n + 0 }')" 20 220 "has samples with callers"
		done
		exits 0 "deferred call chains of a user" "${current[@]}" \
			open/spoor record --call-graph fp,defer -o open/u.spoor -- open/burn 10
		unlike "$(cat err)" "not deferred" "are not taken for missing where the kernel's part is refused"
	else
		skip "kernel.perf_event_paranoid is $paranoid" 16
	fi
	exits 0 "rings over the mlock quota" prlimit --memlock=65536 "${unprivileged[@]}" \
		open/spoor record -m 8192 -o open/u.spoor -- open/burn 200
	like "$(cat err)" 'rings of [0-9]+ pages instead of 8192: .*mlock' "are made smaller, and that is said"
	in_range "$("${unprivileged[@]}" open/spoor info --json -i open/u.spoor | jq .samples)" 120 220 "and work"
	exits 0 "the quota without -m" prlimit --memlock=8388608 "${unprivileged[@]}" \
		open/spoor record -o open/u.spoor -- open/burn 200
	unlike "$(cat err)" 'rings of' "leaves smaller copies of stacks, of which nothing is said"
	in_range "$("${unprivileged[@]}" open/spoor info --json -i open/u.spoor | jq .samples)" 120 220 "which work, too"
else
	skip "setpriv cannot drop privileges here" 10
fi
# Whatever meets the soft limit of descriptors: an event, what is opened before them, and what is opened behind.
for limit in 10 12 14 16 18 20 22 24 26 28; do
	exits 0 "a soft limit of $limit descriptors" bash -c "ulimit -Sn $limit; exec \"\$@\"" - \
		"$SPOOR" record -e cs,faults,migrations,task-clock -o x.spoor -- bash -c 'ulimit -Sn'
	is "$(cat out)" "$limit" "is the command's own"
done
exits 1 "a hard limit of 30" bash -c 'ulimit -n 30; exec "$@"' - "$SPOOR" record -e cs,faults,migrations -o x.spoor -- true
like "$(tr -s '\n ' ' ' <err)" ' need [0-9]+ file descriptors, and the hard limit is 30: raise it' "is told before anything is opened"
need=$(sed -n 's/.* need \([0-9]*\) file descriptors.*/\1/p' err)
exits 0 "what is needed" bash -c "ulimit -n $need; exec \"\$@\"" - "$SPOOR" record -e cs,faults,migrations -o x.spoor -- true

# --- the output --------------------------------------------------------------------------------

rm -f o.spoor*
"$SPOOR" record -o o.spoor -- true 2>/dev/null
first=$(cksum <o.spoor)
"$SPOOR" record -o o.spoor -- true 2>/dev/null
is "$(cksum <o.spoor.old)" "$first" "an older recording is set aside"
second=$(cksum <o.spoor)
exits 127 "a recording that fails" "$SPOOR" record -o o.spoor -- no-such-command
is "$(cksum <o.spoor)" "$second" "leaves the older one in its place"
is "$(cksum <o.spoor.old)" "$first" "and the one before that"
exits 2 "wrong usage" "$SPOOR" record -e nosuch -o o.spoor -- true
is "$(cksum <o.spoor) $(cksum <o.spoor.old)" "$second $first" "leaves both as well"
is "$(echo o.spoor*)" "o.spoor o.spoor.old" "and nothing beside them"
is "$(stat -c %a o.spoor)" 600 "a recording is its owner's"
ln -s o.spoor link
exits 127 "a recording through a link, that fails" "$SPOOR" record -o link -- no-such-command
is "$(readlink link) $(cksum <o.spoor)" "o.spoor $second" "leaves the link and what it leads to"
exits 0 "a recording through a link" "$SPOOR" record -o link -- true
is "$(readlink link) $(cksum <o.spoor.old)" "o.spoor $second" "sets aside what it leads to"
isnt "$(cksum <o.spoor)" "$second" "and is where it leads to"
: >empty
exits 127 "into an empty file, and fails" "$SPOOR" record -o empty -- no-such-command
is "$(stat -c %s empty)" 0 "leaves it there, and empty"
mkdir read-only
echo older >read-only/x.spoor
chmod 555 read-only
if ! "${unprivileged[@]}" true 2>/dev/null; then
	skip "setpriv cannot drop privileges here" 2
else
	exits 1 "no place for a new recording beside the older one" "${unprivileged[@]}" \
		open/spoor record -o read-only/x.spoor -- true
	is "$(cat read-only/x.spoor)" older "leaves the older one"
fi
(cd "$TMP" && "$SPOOR" record -- true 2>/dev/null)
ok "the default name" test -s recording.spoor
"$SPOOR" record -o - -- true 2>err | cat >pipe.spoor
is "$(info pipe.spoor .closed)" true "into a pipe"
exits 1 "a directory that is not there" "$SPOOR" record -o no/such/x.spoor -- true
like "$(cat err)" 'no/such/x.spoor: No such file' "is named"
exits 1 "a full disk from the start" "$SPOOR" record -o /dev/full -- true
like "$(cat err)" 'cannot write the recording: No space left on device' "is said"

mkdir small
if mount -t tmpfs -o size=256k none small 2>/dev/null; then
	at_exit 'umount "$TMP/small"'
	exits 1 "a disk that fills up" "$SPOOR" record -e page-faults -c 1 -o small/f.spoor -- "$faults" 3000000
	like "$(tr -s '\n ' ' ' <err)" 'small/f.spoor: cannot write the recording: No space left on device' \
		"ends the recording, and that is said of the file"
	like "$(cat err)" "$(info small/f.spoor .samples) samples, [1-9][0-9]* lost" "with what did not get into it"
	in_range "$(info small/f.spoor .samples)" 1000 3000000 "what was written is readable"
	is "$(info small/f.spoor .damaged_blocks)" 0 "and undamaged"
else
	skip "no tmpfs can be mounted here" 4
fi

(
	ulimit -f 8
	exec env --default-signal=XFSZ "$SPOOR" record -e page-faults -c 1 -o limit.spoor -- "$faults" 20000
) >out 2>err
is $? 1 "a limit of the size of files ends a recording, no signal does"
like "$(cat err)" 'cannot write the recording: File too large' "and that is said"
is "$(grep -o '[0-9]* samples' err)" "$(info limit.spoor .samples) samples" "what is summed up is what is in the file"

(
	ulimit -f 1
	exec env --default-signal=XFSZ "$SPOOR" record -o limit.spoor -- true
) >out 2>err
is $? 1 "and so from its first bytes on"

# --- signals and the command --------------------------------------------------------------------

(
	trap '' HUP
	exec "$SPOOR" record -a -o hup.spoor -- sh -c 'kill -HUP $PPID; kill -HUP $$; sleep 0.2; echo on' >out 2>err
)
is "$?:$(cat out)" "0:on" "under nohup a hangup ends neither the recorder nor the command"
start=$(date +%s%N)
exits 0 "a command that has stopped itself" "$SPOOR" record --duration 200ms -o x.spoor -- sh -c 'kill -STOP $$'
in_range $((($(date +%s%N) - start) / 1000000)) 0 2900 "ends with its recording"

# --- how a person ends it ----------------------------------------------------------------------

on_terminal() # OPTION...: what is said on a terminal that nothing but ^C ends
{
	rm -f screen pid
	script -qfec "stty cols 80; echo \$\$ >pid; exec '$SPOOR' record -o tty.spoor $*" /dev/null </dev/null >screen 2>&1 &
	wait_for 20 grep -q '\^C' screen
	kill -INT "$(cat pid)"
	wait $!
	tr -s '\r\n ' ' ' <screen
}
ends='\^C ends that, or --duration 30s after a time'
like "$(on_terminal -a)" "recording what runs; $ends" "record -a says what ends it"
like "$(on_terminal --cgroup /)" "recording what runs in this control group; $ends" "so does one of a control group"
"$FIXTURES/burn" 60000 >/dev/null &
like "$(on_terminal -p $!)" "recording these tasks while they run; $ends" "and one of processes"
kill $! && wait $! 2>/dev/null
script -qec "'$SPOOR' record -a --duration 100ms -o tty.spoor" /dev/null </dev/null >screen 2>&1
unlike "$(cat screen)" 'ends that' "one that ends by itself does not"
# A name that nothing has yet: who writes to it handles signals by then.
"$SPOOR" record -a -o no_tty.spoor 2>err &
wait_for 20 test -s no_tty.spoor
kill -INT $! && wait $!
is $? 130 "^C ends one without a terminal, too"
unlike "$(cat err)" 'ends that' "which says nothing of that"

# --- wrong usage -------------------------------------------------------------------------------

usage() # MESSAGE ARGUMENTS...
{
	local message=$1
	shift
	exits 2 "usage: record $*" "$SPOOR" record -o n.spoor "$@"
	like "$(cat err)" "$message" "says: $message"
}

# --- how it ends --------------------------------------------------------------------------------

exits 143 "a command that is ended by SIGTERM" "$SPOOR" record -o x.spoor -- sh -c 'kill $$'
exits 0 "one that the duration ends is not to blame" "$SPOOR" record --duration 300ms -o x.spoor -- sleep 60
for signal in INT TERM HUP; do
	"$SPOOR" record -o sig.spoor -- sleep 60 2>err &
	recorder=$!
	wait_for 20 test -s sig.spoor
	kill -$signal $recorder
	wait $recorder
	is $? $((128 + $(kill -l $signal))) "SIG$signal while a command runs"
	ok "leaves a whole recording" "$SPOOR" verify sig.spoor
	rm sig.spoor
done

# --- two recorders and one file -----------------------------------------------------------------

"$SPOOR" record -a -o mine.spoor 2>first &
first=$!
wait_for 20 test -s mine.spoor
exits 1 "a second recorder of one file is refused" "$SPOOR" record -a --duration 0.2s -o mine.spoor
is "$(cat err)" "spoor: mine.spoor: another recorder is writing it: give another name with -o" "and told why"
ln -s mine.spoor link.spoor
exits 1 "also by another name" "$SPOOR" record -a --duration 0.2s -o link.spoor
kill -INT $first
wait $first
ok "the first one's is whole" "$SPOOR" verify mine.spoor
is "$(printf '%s\n' mine.spoor*)" mine.spoor "and nothing is beside it"
# Both have begun when the first is settled: there is an older file, so that both are beside it.
racers=()
for i in 1 2 3 4 5 6; do
	"$SPOOR" record -a --duration 60s -o mine.spoor 2>"err$i" &
	racers+=($!)
done
refused() { cat err? | grep -c 'another recorder is writing it'; }
# One that is refused is not stopped on its way out.
one_left()
{
	local i left=0

	for i in "${racers[@]}"; do
		kill -0 "$i" 2>/dev/null && left=$((left + 1))
	done
	[ $left -le 1 ]
}
wait_for 60 one_left
kill -TERM "${racers[@]}" 2>/dev/null
won=0
for i in "${racers[@]}"; do
	wait "$i"
	[ $? -ne 143 ] || won=$((won + 1))
done
is "$won $(refused)" "1 5" "of six at once one wins"
is "$(printf '%s\n' mine.spoor*)" "mine.spoor
mine.spoor.old" "the older one is there, and no other"
ok "the winner's is whole" "$SPOOR" verify mine.spoor

"$SPOOR" record -a -o gone.spoor 2>err &
recorder=$!
wait_for 20 test -s gone.spoor
rm gone.spoor
kill -INT $recorder
wait $recorder
is $? 1 "a recording that is removed is no success"
like "$(cat err)" 'gone.spoor: was removed while it was being written: what was recorded is gone' "and is told"
unlike "$(cat err)" 'samples' "without a sum of what is gone"
# One that had no name before was not removed.
exec 9<>nameless.spoor
rm nameless.spoor
exits 0 "into a file without a name" "$SPOOR" record -o /dev/fd/9 -- "$FIXTURES/burn" 300
exits 0 "it is whole" "$SPOOR" report --json - </proc/self/fd/9
is "$(cat err)" "" "and nothing is missing"
exec 9>&-
"$SPOOR" record -a -o moved.spoor 2>err &
recorder=$!
wait_for 20 test -s moved.spoor
mv moved.spoor there.spoor
kill -INT $recorder
wait $recorder
is $? 130 "one that is moved is there"
like "$(cat err)" 'moved.spoor: was moved away while it was being written' "which is told"
unlike "$(cat err)" ' in moved.spoor' "and not that it is where it was"
exits 1 "one that is cut is no success" "$SPOOR" record -o cut.spoor -- sh -c "truncate -s 0 cut.spoor; sleep 0.2"
like "$(cat err)" 'cut.spoor: was cut while it was being written' "which is told"

# --- when it begins -----------------------------------------------------------------------------

# Reading /proc takes seconds here: a recording begins after that, when its events do.
for i in $(seq 40); do
	background sleep 600
done
background "$burn" 60000 "$online"
exits 0 "a slow look at /proc" env LD_PRELOAD="$PRELOADS/libmachine.so" SPOOR_SLOW_PROC=50 \
	"$SPOOR" record -a --duration 300ms -o x.spoor
first=$("$SPOOR" dump --json x.spoor | jq -n 'first(inputs | select(.type == "SAMPLE")) | .time')
in_range "$(jq -n --argjson first "$first" --argjson start "$(info x.spoor .start_monotonic_ns)" '($first - $start) / 1e9')" \
	-0.1 1.5 "is before the beginning"

# A program that has ended before anybody looks at /proc.
for _ in 1 2 3 4 5 6; do
	"$SPOOR" record -q -e cpu-clock -o x.spoor -- true && "$SPOOR" dump --json x.spoor |
		jq -rn '[inputs | select(.type == "NAMESPACES") | .pid] | length > 0'
done >told 2>&1
is "$(sort told | uniq -c | xargs)" "6 true" "the namespaces of a command, however short it is"

usage "unknown event 'nosuch'" -e nosuch -- true
usage "unknown modifier 'z'" -e cycles:z -- true
usage "no PMU 'nopmu'" -e nopmu/x=1/ -- true
usage "no-such:point" -e no-such:point -- true
usage "unknown option '--bogus'" --bogus
usage "-F 0: too small: from 1 to 2147483647 samples a second, or max" -F 0 -- true
usage "-F 100k: invalid: from 1 to 2147483647 samples a second, or max" -F 100k -- true
usage "-m 100000000: too large: from 1 to 1048576 pages, or a size such as 512K" -m 100000000 -- true
usage "-m 9999G: too large: at most [0-9]+M" -m 9999G -- true
usage "unknown event 'inst_retired.any': see spoor list; .* is given as numbers: rHEX, or PMU/event=" -e inst_retired.any -- true
usage "-F abc:" -F abc -- true
usage "-F and -c exclude" -F 99 -c 10 -- true
usage "-c -1:" -c -1 -- true
usage "exclude each other" -a -p 1
usage "exclude each other" --cgroup x -t 1
usage "'x' is not the number of a process" -p 1,x
usage "'nginx' is not the number of a process; by name: -p \\\$\\(pgrep -d, nginx\\) " -p nginx
usage "'3-1' is not a list of CPUs" -C 3-1 -- true
usage "--call-graph lbr,8" --call-graph lbr,8 -- true
usage "multiple of 8" --call-graph dwarf,1001 -- true
usage "--duration never" --duration never
usage "--duration 5 parsecs" --duration "5 parsecs"
usage "--duration 0" --duration 0
usage "-m 0" -m 0 -- true
exits 1 "a CPU that is not there" "$SPOOR" record -C 4095 -o n.spoor -- true
is "$(cat err)" "spoor record: CPU 4095 is offline or does not exist" "is said"
nok "none of them left a file" test -e n.spoor

done_testing
