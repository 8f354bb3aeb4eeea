#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# spoorctl against a daemon that runs: every command, what it prints, how it exits, and what it
# says when it may not.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq
need_command perf
need_record_all
mkdir archive
chmod 755 "$TMP"

cat >spoord.conf <<-END
	archive_directory = $TMP/archive
	control_socket = $socket
	control_group = daemon
	max_use = 64M
	keep_free = 0
	max_capture_time = 1m
	capture_cpu = 0
END
start
wait_for 20 test -S socket || { diag_file log; bail "spoord does not come up"; }
background "$FIXTURES/burn" 600000 >burn.log
wait_for 10 test -s burn.log
burner=$(cat burn.log)

like "$(cat log)" '^spoord: version [0-9.]+, recording into ' "the daemon says its name once"
exits 0 "status" ctl status
like "$(cat out)" '^sampling +19 Hz on [0-9]+ CPUs?$' "status tells the frequency"
unlike "$(readelf -d "$BUILD/spoorctl")" 'libelf|libdw' "spoorctl links no ELF library"
ctl status --json >status.json
for key in samples frequency_hz cpus_online archive_bytes rss_bytes cpu_percent uptime_s; do
	like "$(json status.json ".$key")" '^[0-9.e-]+$' "status --json has $key"
done
is "$(json status.json '.lost | type')" object "status --json has lost by cause"

# A status that this machine need not come to by itself: a daemon that replies just this.
told() # EDIT: what spoorctl makes of the status above, edited
{
	rm -f told.socket
	jq -c "$1" status.json >told.json
	python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.bind("told.new")
s.listen()
os.rename("told.new", "told.socket")
c = s.accept()[0]
while not c.recv(4096).endswith(b"\0"):
    pass
c.sendall(b"{\"parameters\":" + open("told.json", "rb").read().strip() + b"}\0")' &
	wait_for 10 test -S told.socket
	"$BUILD/spoorctl" --socket told.socket status
	wait $!
}
like "$(told '.frequency_hz = 9 | .governor = "cpu_budget"')" '^sampling +9 Hz on [0-9]+ CPUs?, not 19 Hz: cpu_budget$' \
	"status tells which budget keeps the frequency down"
like "$(told '.frequency_hz = 9')" ', not 19 Hz: kernel.perf_event_max_sample_rate$' "or that the kernel does"
unlike "$(told '.frequency_hz = 0 | .suspended = true')" 'not 19 Hz' "but of a stream that stands still neither"
like "$(told '.cpus_online = 1 | .segments = 1 | .capture_files = 1 | .lost_samples = 1 | .lost = {}' | tr "\n" " ")" \
	'on 1 CPU[^s].*lost +1 sample[^s].* 1 segment, .* 1 capture, ' "one of each is told as one"
like "$(told '.lost_samples = 7 | .lost = { kernel_samples: 7, cpu_offline: 1500000000, throttled: 2 }')" \
	'^lost +7 samples \(kernel_samples 7, cpu_offline 1\.500 s, throttled 2\)$' "what is a time is told in seconds"
told_stacks=$(told '.stacks = { end: 995, cut: 4, busy: 1 } | .stack_cut_bytes = 16384 | .stack_bytes = 32768')
like "$told_stacks" '^stacks +99\.5 % of 1000 copied stacks are whole; 0\.4 % end at the copied 16 KiB \(.*\), 0\.1 % were not unwound in time' \
	"copied stacks are told by shares"
like "$told_stacks" '^ +32\.0 KiB of each stack are copied now$' "with the size of copies"
unlike "$(told .)" 'stack' "but not where none are copied"
like "$(told '.suspended = true')" '^SUSPENDED ' "which it says"
like "$(told '.archive_directory = "/x\u001b[31m"')" '^archive +/x\\033\[31m: ' "and nothing reaches the terminal raw"

# Captures.
used=$(cut -d ' ' -f 14 "/proc/$burner/stat")
exits 0 "capture into a file" ctl capture --duration 2s --frequency 499 --pid "$burner" -o one.spoor
used=$(($(cut -d ' ' -f 14 "/proc/$burner/stat") - used))
like "$(cat err)" '^.?(1\.[5-9]|2\.0) s, [0-9]+ samples, ' "what came of it is told, and how long it recorded"
is "$(stat -c %a one.spoor)" 600 "the file is its owner's"
ok "the file is whole" "$SPOOR" verify one.spoor
"$SPOOR" info --json one.spoor >info.json
# A machine with other work gives the process only a share of the two seconds: ticks of 10 ms, some before and after.
in_range "$(json info.json .samples)" $((used * 499 / 250)) 1100 "at no more than the frequency asked for"
is "$("$SPOOR" report --json one.spoor | jq -r '[.rows[].comm] | unique | join(",")')" burn "of that process alone"
exits 0 "capture again" ctl capture --duration 500ms -o one.spoor
ok "what was there is set aside" "$SPOOR" verify one.spoor.old
exits 0 "capture into the archive" ctl capture --duration 500ms
ok "whose file is named" "$SPOOR" verify "archive/$(cat out)"
ctl capture --duration 500ms -o - | cat >piped.spoor
ok "capture into a pipe" "$SPOOR" verify piped.spoor
is "$(ctl capture --duration 1500ms --json -o /dev/null 2>/dev/null)" '' "a device is refused"
ctl capture --duration 1500ms --json >replies
is "$(jq -s 'map(.capture | select(.elapsed_s > .duration_s)) | length' replies)" 0 \
	"none of which has recorded for longer than it was to"
is "$(jq -s 'map(.capture.running) | [.[0], .[-1]] | join(",")' -r replies)" true,false "replies as JSON"

# ^C ends it in order; a background job of a script would ignore the signal.
set -m
"$BUILD/spoorctl" --socket socket capture -o interrupted.spoor 2>err &
job=$!
set +m
wait_for 10 eval '[ "$(ctl captures --json | jq ".captures | length")" = 1 ]' || fail "it is listed"
kill -INT "$job"
wait "$job"
is $? 0 "an interrupted capture is a good one"
ok "and its file whole" "$SPOOR" verify interrupted.spoor
ctl capture -o stopped.spoor 2>err &
job=$!
wait_for 10 eval '[ "$(ctl captures --json | jq ".captures | length")" = 1 ]'
exits 0 "stop" ctl stop "$(ctl captures --json | jq .captures[0].id)"
ok "it ends" wait "$job"
exits 1 "stop of what is not there" ctl stop 999999
like "$(cat err)" 'no such capture' "says so"
echo old >failed.spoor
exits 1 "a capture that cannot start" ctl capture --duration 1s -e no-such-event -o failed.spoor
is "$(cat failed.spoor)" old "leaves the file as it was"
# 310 bytes, as a list of tracepoints has soon.
exits 0 "many events" ctl capture --duration 200ms -e "$(printf 'page-faults,%.0s' {1..25})page-faults" -o many.spoor
is "$("$SPOOR" info --json -i many.spoor | jq '[.events[] | select(.name == "page-faults")] | length')" 26 "are all sampled"
exits 2 "more than a call may have" ctl capture --duration 200ms -e "$(printf 'page-faults,%.0s' {1..341})cs,cs" -o no.spoor
like "$(tr -s '\n ' ' ' <err)" '-e page-faults,.*: 4097 bytes, and spoord takes 4095 at most' "says what the limit is"
mapfile -t each < <(printf -- '-e\ncs\n%.0s' {1..17})
exits 2 "too many -e" ctl capture --duration 200ms "${each[@]}" -o no.spoor
like "$(tr -s '\n ' ' ' <err)" 'spoord takes 16 -e at most' "says so"
exits 0 "as many as may be" ctl capture --duration 200ms "${each[@]:2}" -o many.spoor
exits 2 "too many control groups" ctl capture --duration 200ms -e cs -G "$(printf 'a,%.0s' {1..16})a" -o no.spoor
like "$(tr -s '\n ' ' ' <err)" 'spoord takes 16 control groups at most' "says so"
nok "nothing is written" test -e no.spoor
# Each allocation in turn is the one that fails, before there is a daemon to be asked.
starved() # AT OPTION...
{
	NOMEM_AT=$1 NOMEM_FOR=1 NOMEM_PROGRAM=spoorctl NOMEM_TOTAL=$TMP/total LD_PRELOAD=$PRELOADS/libnomem.so \
		"$BUILD/spoorctl" --socket "$TMP/nowhere" capture -e cs,faults -F 99 --duration 1s -i \
		-o no.spoor "${@:2}" >/dev/null 2>starved.err
}
for whom in "--pid 1,2" "-G a,b"; do
	read -r -a words <<<"$whom"
	if ldd "$BUILD/spoorctl" | grep -q 'lib[at]san'; then
		skip "a sanitizer has the allocator" 2
		continue
	fi
	starved 4000000000 "${words[@]}"
	total=$(cat total)
	in_range "$total" 20 1000 "allocations of a capture $whom that finds no daemon"
	for ((at = 1, wrong = 0; at <= total; at++)); do
		starved "$at" "${words[@]}"
		[ $? -eq 1 ] && [ -s starved.err ] && ! grep -Eq 'UTF-8|--help' starved.err && continue
		diag "allocation $at: $(cat starved.err)"
		wrong=$((wrong + 1))
	done
	is "$wrong" 0 "none that fails is told as a wrong option, or is not told"
done
rm -f no.spoor
exits 1 "longer than allowed" ctl capture --duration 2m
like "$(cat err)" 'max_capture_time.* 60 s$' "says which limit"
# What was asked for and is not had.
# Not of a clock: an interrupt of a virtual machine can take longer than the time to the next one.
exits 0 "a frequency above the kernel's" ctl capture --duration 200ms -F 1000000 -e page-faults -o fast.spoor
like "$(cat err)" '^spoorctl: frequency lowered from 1000000 to [0-9]+ Hz: kernel.perf_event_max_sample_rate$' \
	"is told which it is, and why"
is "$(grep -c lowered err)" 1 "once"
ctl capture --duration 200ms -F 1000000 -e page-faults --json | tail -n 1 >noted.json
like "$(json noted.json '.capture.notes | join("+")')" '^frequency lowered from 1000000 to [0-9]+ Hz' "and in JSON"
if [ -e /sys/bus/event_source/devices/cpu ] || compgen -G '/sys/bus/event_source/devices/*core*' >/dev/null; then
	skip "this machine counts cycles" 2
else
	exits 0 "a capture by cycles where nothing counts them" ctl capture --duration 200ms -e cycles -o cycles.spoor
	like "$(cat err)" '^spoorctl: cycles: no such counter here: cpu-clock:I instead$' "tells what it is by"
fi
running() # COUNT: so many captures are listed
{
	[ "$(ctl captures --json | jq '.captures | length')" = "$1" ]
}
terminal() # KEYS COMMAND...: what a terminal gets on which KEYS come when the capture has told of its progress
{
	local keys=$1

	shift
	: >terminal.raw
	# shellcheck disable=SC2094 # what is written is looked at meanwhile
	(wait_for 30 grep -q ' samples' terminal.raw; printf '%b' "$keys"; wait_for 30 running 0; sleep 1) |
		script -qec "stty cols 80; $*" /dev/null >terminal.raw
	tr -d '\r\017' <terminal.raw
}
if command -v script >/dev/null; then
	terminal '\003' "'$BUILD/spoorctl' --socket socket capture --duration 50s -o tty.spoor" >screen.txt
	like "$(tail -n 1 screen.txt)" '[0-9.]+ s, [0-9]+ samples, [0-9.]+ [A-Z][A-Za-z]*(, lost: [a-z_]+ [0-9.]+( s)?(, [a-z_]+ [0-9.]+( s)?)*)?'$'\e''\[K$' \
		"after ^C nothing of the progress is left on the line"
else
	skip "no script(1)" 1
fi

# Control groups, in the forms that people have them in.
croot=$(cgroup_root)
group=spoor-ctl-test.$$
if [ -n "$croot" ] && mkdir -p "$croot/$group/inner.$$" 2>/dev/null; then
	at_exit "rmdir '$croot/$group/inner.$$' '$croot/$group'"
	for form in "$group/inner.$$" "/$group/inner.$$" "$croot/$group/inner.$$" "inner.$$"; do
		exits 0 "capture --cgroup $form" ctl capture --duration 200ms --cgroup "$form" -o group.spoor
		exits 0 "spoor record --cgroup $form" "$SPOOR" record --cgroup "$form" --duration 200ms -o group.spoor
	done
	# One for each event, as spoor record has them.
	unit=spoor-ctl-$$unit
	mkdir "$croot/$group/$unit.service" "$croot/$group/$unit.slice"
	exits 0 "capture --unit" ctl capture --duration 200ms -c 1 -e faults --unit "$unit" -o unit.spoor
	exits 0 "capture --slice" ctl capture --duration 200ms -c 1 -e faults --slice "$unit" -o unit.spoor
	exits 1 "capture --unit of none" ctl capture --duration 200ms --unit "${unit}p" -o no.spoor
	like "$(cat err)" "^spoorctl capture: --unit: no control group is of ${unit}p.service: .*did you mean $unit.service\\?" "suggests"
	exits 1 "capture --cgroup of its name" ctl capture --duration 200ms --cgroup "$unit" -o no.spoor
	like "$(cat err)" "that of the unit is /$group/$unit.service \\(--unit $unit\\)" "suggests that"
	exits 2 "--unit beside --cgroup" ctl capture --duration 200ms --unit "$unit" --slice "$unit" -o no.spoor
	nok "nothing is captured by these" test -e no.spoor
	rmdir "$croot/$group/$unit.service" "$croot/$group/$unit.slice"
	mkdir "$croot/$group/other.$$"
	background sh -c "echo \$\$ >'$croot/$group/inner.$$/cgroup.procs' && exec '$FIXTURES/burn' 60000 >/dev/null"
	inner=$!
	exits 0 "a list of them" ctl capture --duration 1s -F 499 -e cpu-clock -e cpu-clock,cpu-clock/name=all/ \
		-G "inner.$$,$croot/$group/other.$$" -o list.spoor
	"$SPOOR" info --json list.spoor >info.json
	is "$(jq -c '[.events[] | select(.name != "dummy:u") | .samples > 0]' info.json)" '[true,false,true]' \
		"each event is of the group at its place, those behind the last one of everything"
	is "$("$SPOOR" dump --json list.spoor 2>/dev/null | jq -s '[.[] | select(.type == "SAMPLE" and .event == "cpu-clock") | .pid] | unique | .[]')" \
		"$inner" "and none has another's samples"
	exits 1 "more groups than events" ctl capture --duration 1s -e cpu-clock -G "inner.$$,other.$$" -o group.spoor
	like "$(cat err)" '2 control groups of 1 events' "are refused"
	exits 1 "a group of a list that is not there" ctl capture --duration 1s -e cs,cs -G "inner.$$,nosuch.$$" -o group.spoor
	like "$(cat err)" "nosuch.$$" "is named"
	kill "$inner" && wait "$inner" 2>/dev/null
	rmdir "$croot/$group/other.$$"
	mkdir "$croot/$group/inner.$$/inner.$$"
	exits 1 "two groups of a name, captured" ctl capture --duration 200ms --cgroup "inner.$$"
	like "$(cat err)" "several control groups are called inner.$$" "are told"
	exits 1 "or recorded" "$SPOOR" record --cgroup "inner.$$" --duration 200ms -o group.spoor
	like "$(cat err)" "several control groups are called inner.$$" "too"
	rmdir "$croot/$group/inner.$$/inner.$$"
else
	skip "no control group can be made here" 27
fi
exits 1 "a cgroup outside" ctl capture --duration 1s --cgroup ../../etc
exits 1 "or one of a list" ctl capture --duration 1s -e cs,cs --cgroup system.slice,../../etc
exits 2 "an event behind one control group" ctl capture --duration 1s -e cs -G a -e faults
like "$(cat err)" '-e faults: give -G a behind all -e' "is told"
exits 2 "two options of them" ctl capture --duration 1s -G a -G b

# The archive.
exits 0 "sync" ctl sync
exits 0 "rotate" ctl rotate
exits 0 "keep" ctl keep 10m --label incident-1
exits 0 "keep more than there is" ctl keep 9000w --label all
exits 2 "what is no label" ctl keep 10m --label a/b
like "$(cat err)" 'a label is 1 to 100 letters' "and what is one"
ok "is kept" test -d archive/kept/incident-1
exits 1 "keep of what never was" ctl keep --since 2001-01-01 --until "2001-01-01 01:00"
exits 0 "list" ctl list
like "$(cat out)" ' kept +kept/incident-1/' "lists what is kept"
exits 0 "vacuum" ctl vacuum --max-use 1
unlike "$(ctl list)" ' capture ' "deletes what is not kept"
ok "but not what is kept" sh -c 'ls archive/kept/incident-1/*.spoor'
echo 'frequency = x' >>spoord.conf
exits 1 "reload of a bad configuration" ctl reload
like "$(cat err)" 'spoord.conf:8' "says where"
unlike "$(cat err)" 'more' "and nothing of others"
echo 'colour = red' >>spoord.conf
exits 1 "reload of a worse one" ctl reload
like "$(cat err)" 'spoord.conf:8: .*and 1 more, which spoord -n lists' "says that there are more"
sed -i '8,$d' spoord.conf
exits 0 "reload" ctl reload
timeout 3 "$BUILD/spoorctl" --socket socket monitor >out
in_range "$(wc -l <out)" 3 5 "monitor: a line a second"

# What the samples have, as of spoor record.
exits 0 "capture --max-stack, --switch-events" ctl capture --duration 700ms -e page-faults -c 1 --max-stack 2 \
	--kernel-callchains --switch-events -o extra.spoor
in_range "$("$SPOOR" dump extra.spoor | grep -c ' SWITCH_CPU_WIDE ')" 1 1e7 "context switches are in it"
evlist=$("$SPOOR" export -f perf-data-file -o extra.data extra.spoor && perf evlist -v -i extra.data)
like "$evlist" 'page-faults: .*exclude_callchain_user: 1.*sample_max_stack: 2' "and the attr has the rest"
exits 2 "capture --max-stack 0" ctl capture --duration 1s --max-stack 0
exits 1 "both sides alone" ctl capture --duration 1s --all-user --all-kernel

# Words.
exits 2 "no command" ctl
exits 2 "no such command" ctl bogus
is "$(cat err)" "spoorctl: no command 'bogus' (spoorctl --help)" "says so"
exits 2 "a mistyped command" ctl captrue --duration 1s
like "$(cat err)" "'captrue'; did you mean 'capture'\?" "suggests"
exits 2 "no such option" ctl status --bogus
is "$(cat err)" "spoorctl status: unknown option '--bogus' (spoorctl status --help)" "says so"
exits 2 "a mistyped option" ctl capture --duraton 1s
like "$(cat err)" "did you mean --duration\?" "suggests"
exits 2 "one of all commands" "$BUILD/spoorctl" --scoket socket status
like "$(cat err)" "^spoorctl: unknown option '--scoket'; did you mean --socket\?" "suggests"
exits 2 "an option without its argument" ctl keep -l
like "$(cat err)" 'spoorctl keep: -l needs an argument' "says so"
exits 2 "a thread by its name" ctl capture --duration 1s -t nginx
like "$(cat err)" "not the number of a thread; by name: -t \\\$\\(pgrep -w -d, nginx\\)" "is told how"
exits 2 "no limit" ctl vacuum
exits 2 "not a duration" ctl keep 10x
for option in --event --cgroup --cpu --call-graph; do
	exits 2 "$option that is no text" ctl capture --duration 1s $option $'\xff'
	like "$(cat err)" 'not UTF-8' "says so"
done
exits 0 "help" ctl --help
exits 0 "help of a command" ctl capture --help
exits 1 "nobody listens" "$BUILD/spoorctl" --socket "$TMP/nowhere" status
like "$(cat err)" 'is spoord running' "says so"

# Rights.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && getent group daemon >/dev/null; then
	member=(setpriv --reuid 65000 --regid 65000 --groups "$(getent group daemon | cut -d: -f3)")
	stranger=(setpriv --reuid 65000 --regid 65000 --clear-groups)
	cp "$BUILD/spoorctl" "$TMP/spoorctl"
	mkdir -m 777 theirs
	exits 1 "a stranger is refused" "${stranger[@]}" ./spoorctl --socket socket status
	like "$(cat err)" 'not a member of group daemon' "and told why"
	exits 0 "a member sees the status" "${member[@]}" ./spoorctl --socket socket status
	# Beside the base stream, which it must not disturb; at the rate of the CPU time that was used.
	ctl rotate
	used=$(cut -d ' ' -f 14 "/proc/$burner/stat")
	exits 0 "a member captures" "${member[@]}" ./spoorctl --socket socket capture --duration 5s \
		--frequency 997 --pid "$burner" -o theirs/x.spoor
	used=$(($(cut -d ' ' -f 14 "/proc/$burner/stat") - used))
	is "$(stat -c %u theirs/x.spoor)" 65000 "into a file of the member's own"
	exits 0 "which is whole" "$SPOOR" verify theirs/x.spoor
	"$SPOOR" info --json theirs/x.spoor >info.json
	# Also while it is opened and closed the process runs: some tenths of a second.
	in_range "$(json info.json .samples)" $(((used - 60) * 997 * 95 / 10000)) \
		$((used * 997 * 105 / 10000)) "at that rate"
	is "$(json info.json .lost)" 0 "and loses nothing"
	ctl rotate
	base=$(find archive -maxdepth 1 -name '*.spoor' | sort | tail -n 1)
	"$SPOOR" info --json "$base" >info.json
	is "$(json info.json .lost)" 0 "nor does the base stream"
	is "$(json info.json '.gaps // [] | length')" 0 "which has no gap"
	in_range "$(json info.json .samples)" 60 1e6 "and went on"
	exits 0 "a member keeps" "${member[@]}" ./spoorctl --socket socket keep 2m --label x
	ctl rotate
	in_range "$(find archive -maxdepth 1 -name '*.spoor' -links 1 | wc -l)" 1 99 "what was then"
	exits 0 "root vacuums" ctl vacuum --max-use 1
	is "$(find archive -maxdepth 1 -name '*.spoor' -links 1 | wc -l)" 0 "all that is not kept"
	base=archive/kept/x/${base##*/}
	exits 0 "what is kept is still whole" "$SPOOR" verify "$base"
	exits 1 "a member cannot vacuum" "${member[@]}" ./spoorctl --socket socket vacuum --max-use 1
	exits 1 "a member cannot reload" "${member[@]}" ./spoorctl --socket socket reload
else
	skip "becoming somebody else needs root" 20
fi
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
