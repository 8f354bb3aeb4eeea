#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Names of code made at run time in an archive: each segment has those of its own samples, also when the
# process has ended and its files are gone.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
[ -x "$spoord" ] || skip_all "there is no spoord"
"$SPOOR" record -a --duration 0.1s -o probe.spoor >/dev/null 2>&1 ||
	skip_all "this user may not sample all CPUs"

archive=$TMP/archive
mkdir -m 750 "$archive"
cat >spoord.conf <<END
archive_directory = $archive
control_socket = $socket
max_use = 64M
keep_free = 1
frequency = 499
cpu_budget = 0
END
start
wait_for 20 samples_over 0

# Thrice a second of it, from before a segment into the next one.
mkfifo go
cat >inside <<'END'
for i in 1 2 3; do
	"$1" map >>numbers
	read -r <&8
done
END
background bash inside "$FIXTURES/jit" 8<>go
has_ended() # HOW_MANY
{
	[ "$(wc -l 2>/dev/null <numbers)" -ge "$1" ]
}
# Per mille of the user samples in "json" that are in named code. The kernel's samples do not count: on a busy machine,
# interrupts and the scheduler may take a tenth of a process's time.
named()
{
	jq '[.rows[] | select(.kernel | not)] | ([.[] | select(.symbol | test("alpha|beta")) | .samples] | add // 0) * 1000 /
		([.[].samples] | add // 1) | floor' json
}
# Its map is read when it has ended. Of the third process, names for the file that ends meanwhile are asked for at
# that end.
has_names() # N
{
	ctl sync && "$SPOOR" report --json -i "$archive" --pid "$(sed -n "$1"p numbers)" 2>/dev/null >json &&
		[ "$(named)" -ge 900 ]
}
await_names() # N
{
	wait_for 60 has_ended "$1"
	wait_for 20 has_names "$1"
	rm "/tmp/perf-$(sed -n "$1"p numbers).map"
}
for i in 1 2; do
	await_names $i
	ok "a segment ends" ctl rotate
	echo >go
done
sleep 0.5 # into the third one's time
ok "a segment ends while code is made" ctl rotate
await_names 3
ok "all is written" ctl sync
stop
is $? 0 "the daemon stops in order"

for n in 1 2 3; do
	"$SPOOR" report --json -i "$archive" --pid "$(sed -n ${n}p numbers)" 2>/dev/null >json
	in_range "$(named)" 900 1000 "names of process $n, over all segments"
done
named=0 unnamed=0
for segment in "$archive"/*.spoor; do
	"$SPOOR" report --json -i "$segment" --comm jit 2>/dev/null >json
	[ "$(jq '[.rows[].samples] | add // 0' json)" -gt 20 ] || continue
	if [ "$("$SPOOR" info --json -i "$segment" | jq .jit_symbols)" -gt 0 ] &&
		[ "$(named)" -ge 900 ]; then
		named=$((named + 1))
	else
		unnamed=$((unnamed + 1))
		diag_file json
	fi
done
is "$((named >= 3)) $unnamed" "1 0" "each segment has the names of its own samples"

done_testing
