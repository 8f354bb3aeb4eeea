#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The installed service in a booted machine: as user spoor, hardened, recording others'
# processes, restarted when killed or stuck, with every segment readable all the while.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/systemd/machine.sh"

machine_make || skip_all "$machine_why"
machine_install
install -D -m 755 "$FIXTURES/burn" "$machine/home/load/burn"
install -m 755 "$FIXTURES/burn" "$machine/home/load/burn-private"
install -m 755 "$FIXTURES/freeze" "$machine/home/load/freeze"
chmod 700 "$machine/home/load/burn-private"
for program in runtime python3.14; do
	install -D -m 755 "$FIXTURES/runtime" "$machine/opt/$program"
done
for object in libjvm.so none.so; do
	head -c 8192 /dev/zero >"$machine/opt/$object"
done
printf '%s\n' 'frequency = 199' 'block_age = 1s' 'segment_age = 5s' >"$machine/etc/spoor/spoord.conf"

archive=$machine/var/lib/spoor

show() # PROPERTY
{
	machine systemctl show -P "$1" spoord.service
}

more_samples() # THAN
{
	local n
	n=$(status samples)
	[ -n "$n" ] && [ "$n" != null ] && [ "$n" -gt "$1" ]
}

other_pid() # THAN: active again, as another process
{
	local now

	# In one answer: the process may go between two, and 0 is another one than it was.
	now=$(machine systemctl show -p ActiveState -p MainPID spoord.service)
	[[ $now == *ActiveState=active* ]] && [[ $now =~ MainPID=([1-9][0-9]*) ]] &&
		[ "${BASH_REMATCH[1]}" != "$1" ]
}

# All the while: every segment reads, whatever is done to the service. Those of a killed daemon
# lack their end (3), others are whole (0). A file may be renamed or removed under us.
watch_segments()
{
	local f s seen=0 bad=0
	while [ ! -e "$TMP/enough" ]; do
		for f in "$archive"/*.spoor "$archive"/*.spoor.active; do
			[ -s "$f" ] || continue
			"$SPOOR" report "$f" >"$TMP/watch.out" 2>"$TMP/watch.err"
			s=$?
			[ -e "$f" ] || continue
			seen=$((seen + 1))
			[ $s -eq 0 ] && continue
			bad=$((bad + 1))
			{ echo "$f: exit $s"; head -n 5 "$TMP/watch.err"; } >>"$TMP/watch.bad"
		done
		sleep 0.05
	done
	echo "$seen $bad" >"$TMP/watch.counts"
}

# --- files ------------------------------------------------------------------------------------
ok "it boots" machine_boot || exit 1
machine systemd-sysusers
machine systemd-tmpfiles --create
machine useradd --create-home load 2>/dev/null
machine chown -R load: /home/load
like "$(machine getent passwd spoor)" '^spoor:[^:]*:[1-9]' "sysusers makes the user"
is "$(machine systemd-analyze verify spoord.service spoord.socket spoor-names.service spoor-names.timer 2>&1)" "" "systemd-analyze verify is silent"
exposure=$(machine systemd-analyze security --no-pager spoord.service | sed -n 's/.*Overall exposure level[^:]*: \([0-9.]*\).*/\1/p')
in_range "$exposure" 0.1 2.0 "systemd-analyze security: $exposure"

# --- it runs ----------------------------------------------------------------------------------
machine systemctl daemon-reload
ok "enable and start" machine systemctl enable --now spoord.service
is "$(show ActiveState)" active "active"
pid=$(show MainPID)
is "$(machine ps -o user= -p "$pid")" spoor "as user spoor"
want=$(show CapabilityBoundingSet | tr ' ' '\n' | sort | paste -sd' ')
is "$want" "cap_checkpoint_restore cap_dac_read_search cap_perfmon cap_sys_ptrace cap_syslog" \
	"with few capabilities"
# Other settings of a unit take some away, which nobody says.
is "$(machine sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$pid/status")" 0000014400080004 "all of which it has"
is "$(machine stat -c '%U:%G %a' /var/lib/spoor)" "spoor:spoor 750" "the archive is its own"
is "$(machine stat -c '%G %a' /run/spoor/io.spoor.Recorder)" "spoor 660" "the socket is the group's"
like "$(show StatusText)" 'samples' "it tells its status"
is "$(show MemoryMax)" $((256 * 1024 * 1024)) "it may have 256 MiB of memory"

machine systemd-run --quiet --uid=load --unit=load --collect /home/load/burn 3600000
machine systemd-run --quiet --uid=load --unit=load-private --collect /home/load/burn-private 3600000
machine systemd-run --quiet --uid=load --unit=load-kernel --collect \
	dd if=/dev/zero of=/dev/null bs=64k
watch_segments &
watcher=$!
background_pids+=("$watcher")
ok "samples arrive" wait_for 30 more_samples 1000

rows() # FILTER
{
	jq -s "[.[].rows[] | select($1) | .samples] | add // 0" report.json
}
# The segments of a while, read inside the machine, where the binaries are. Programs beside these have the CPUs as well.
enough()
{
	machine spoorctl rotate
	# shellcheck disable=SC2016
	machine sh -c 'for f in /var/lib/spoor/*.spoor; do spoor report --json -i "$f"; done' \
		>report.json 2>report.err
	[ "$(rows '.comm == "burn"')" -ge 100 ] && [ "$(rows '.comm == "burn-private"')" -ge 100 ] &&
		[ "$(rows '.comm == "dd"')" -ge 150 ]
}
ok "of each program" wait_for 120 enough
in_range "$(rows '.comm == "burn" and (.symbol | test("burn_hot"))')" 50 1e9 "another user's frames have names"
in_range "$(rows '.comm == "burn-private" and (.symbol | test("burn_hot"))')" 50 1e9 \
	"also those of a binary that only its owner may read"
in_range "$(rows '.comm == "dd" and (.dso | test("kernel"))')" 50 1e9 "kernel frames of another user's process"
in_range "$(rows '.comm == "dd" and (.dso | test("kernel")) and (.symbol | test("^(0x|\\[unknown)") | not)')" \
	50 1e9 "with names"
diag_file report.err 3

# --- spoor names, of its timer ------------------------------------------------------------------
is "$(machine systemctl is-enabled spoor-names.timer)" disabled "the timer of spoor names is off"
exposure=$(machine systemd-analyze security --no-pager spoor-names.service | sed -n 's/.*Overall exposure level[^:]*: \([0-9.]*\).*/\1/p')
in_range "$exposure" 0.1 3.5 "systemd-analyze security: $exposure"
for unit in jvm:runtime:libjvm.so:no jvm-private:runtime:libjvm.so:yes python:python3.14:none.so:yes; do
	IFS=: read -r name program object private <<<"$unit"
	machine systemd-run --quiet --uid=load --unit="$name" --collect -p PrivateTmp="$private" "/opt/$program" "/opt/$object" jvm
done
wait_for 20 eval 'machine journalctl -o cat -u python -u jvm -u jvm-private | grep -cx "[0-9]*" | grep -qx 3'
ok "its service runs" machine systemctl start spoor-names.service
machine journalctl -o cat -u spoor-names.service >said
is "$(grep -c ' runtime (Java): named: 2 functions' said)" 2 "it asks JVMs, with a /tmp of their own as well" || diag_file said
is "$(grep -c ' python3.14 (Python): named: 2 functions' said)" 1 "and a Python in its namespaces"
machine systemctl stop jvm jvm-private python

# --- what is done to services -----------------------------------------------------------------
before=$pid
ok "restart" machine systemctl restart spoord.service
ok "is another process" other_pid "$before"
ok "which records" wait_for 20 more_samples 100

# Of a service that does not run the pid is 0, and killing that is killing this test.
[ "$(show MainPID)" -gt 0 ] || { fail "spoord runs"; exit 1; }
pid=$(show MainPID)
sed -i 's/199/97/' "$machine/etc/spoor/spoord.conf"
ok "reload" machine systemctl reload spoord.service
is "$(show MainPID)" "$pid" "is the same process"
sleep 1.5
is "$(status frequency_hz)" 97 "with the new frequency"
echo 'nonsense' >>"$machine/etc/spoor/spoord.conf"
nok "reload of nonsense fails" machine systemctl reload spoord.service
sed -i '$d' "$machine/etc/spoor/spoord.conf"
is "$(show ActiveState) $(show MainPID)" "active $pid" "and the service goes on"

machine kill -KILL "$pid"
ok "kill -9: it is restarted" wait_for 20 other_pid "$pid"
ok "and records" wait_for 20 more_samples 100

# The watchdog. A process that is stopped as a whole, then single threads of it.
mkdir -p "$machine/etc/systemd/system/spoord.service.d"
printf '[Service]\nWatchdogSec=5s\n' >"$machine/etc/systemd/system/spoord.service.d/soon.conf"
machine systemctl daemon-reload
ok "with a short watchdog" machine systemctl restart spoord.service

pid=$(show MainPID)
restarts=$(show NRestarts)
machine kill -STOP "$pid"
ok "stopped: the watchdog restarts it" wait_for 60 other_pid "$pid"
is "$(show NRestarts)" $((restarts + 1)) "once"
like "$(journal)" '[Ww]atchdog timeout' "the watchdog did"
ok "and it records" wait_for 20 more_samples 100

for thread in spoord-drain spoor-writer; do
	pid=$(show MainPID)
	machine /home/load/freeze "$pid" $thread >freeze.out &
	background_pids+=("$!")
	wait_for 10 test -s freeze.out || diag "$thread is not frozen"
	ok "thread $thread stopped: the watchdog restarts it" wait_for 90 other_pid "$pid"
	ok "and it records" wait_for 20 more_samples 100
	rm -f freeze.out
done
like "$(journal)" 'a thread is stuck' "it says why"

# To the service all around its directory is read-only.
pid=$(show MainPID)
machine rm -rf /var/lib/spoor
ok "its directory is removed: another process is started" wait_for 20 other_pid "$pid"
ok "and records" wait_for 20 more_samples 100
is "$(machine stat -c '%U:%G %a' /var/lib/spoor)" "spoor:spoor 750" "into a new one"
like "$(journal)" 'is gone, and can only be made again from outside' "it says why"

# --- the end ----------------------------------------------------------------------------------
ok "stop" machine systemctl stop spoord.service
is "$(show Result)" success "in order"
is "$(find "$archive" -name '*.active' | wc -l)" 0 "nothing is left active"
nok "and no helper" machine pgrep -x spoor-helper
touch "$TMP/enough"
wait "$watcher"
read -r seen bad <watch.counts
in_range "$seen" 50 1e9 "segments were read $seen times meanwhile"
is "$bad" 0 "and each time they could be"
[ ! -e watch.bad ] || diag_file watch.bad
unlike "$(journal)" 'Sanitizer|Assertion|dumped core' "the journal has no crash"
done_testing
