#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# CPU 1 goes and comes back under a daemon that records: each time it is sampled again, each time
# the gap is in the archive, and neither descriptors nor memory grow. ROUNDS=50 is the long run.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq

ROUNDS=${ROUNDS:-4}
cpu1=/sys/devices/system/cpu/cpu1/online
if [ ! -w $cpu1 ] || [ "$(cat $cpu1)" != 1 ]; then
	skip_all "CPU 1 cannot be taken offline here"
fi
at_exit "echo 1 >$cpu1"
mkdir -m 750 archive
cat >spoord.conf <<END
archive_directory = $TMP/archive
control_socket = $socket
control_group = root
frequency = 499
max_use = 64M
keep_free = 1
block_age = 1s
cpu_budget = 0
END

online() # COUNT
{
	[ "$(status cpus_online)" = "$1" ]
}

# Busy CPUs: an idle one that was offline once is not sampled by cpu-clock in every VM, whoever asks.
# A process that may run on CPU 1 alone is moved when it goes, so it is started anew each time.
background taskset -c 0 sh -c 'while :; do :; done'
start
wait_for 20 ctl status || { diag_file log; bail "spoord does not come up"; }

round()
{
	echo 0 >$cpu1 2>/dev/null || return 1
	wait_for 10 online 1 || return 1
	sleep 0.2
	echo 1 >$cpu1
	wait_for 10 online 2 || return 1
	taskset -c 1 timeout 0.5 sh -c 'while :; do :; done'
	ctl sync || return 1
}

# What the first ones make it keep is no leak.
{ round && round; } || bail "CPU 1 cannot be taken offline here"
fds=$(descriptors)
rss=$(rss_kib)
done_rounds=2
while [ $done_rounds -lt "$ROUNDS" ]; do
	round || break
	done_rounds=$((done_rounds + 1))
done
is "$done_rounds" "$ROUNDS" "CPU 1 is told to be gone, and to be back, each time"
is "$(descriptors)" "$fds" "as many descriptors as before"
in_range "$(($(rss_kib) - rss))" -100000 4096 "memory as before, in KiB"
is "$(status suspended)" false "it goes on recording"
stop
is $? 0 "and ends in order"

: >records
: >gaps
for f in archive/*.spoor; do
	"$SPOOR" verify "$f" >/dev/null 2>&1 || echo "$f" >>bad
	"$SPOOR" info --json "$f" | jq -c '.gaps[] | select(.cause == "cpu_offline" and .cpu == 1)' >>gaps
	"$SPOOR" dump --json "$f" 2>/dev/null | jq -r 'select(.type == "SAMPLE" and .cpu == 1) | .time' >>records
done
nok "all segments are clean" test -s bad
is "$(grep -c . gaps)" "$ROUNDS" "as many gaps of CPU 1 as rounds"
# After each gap and before the next, the half second of a busy CPU is there; a loaded host gives less.
jq -rs 'map("\(.start_ns) \(.end_ns)")[]' gaps | sort -n | awk '
	NR == FNR { start[NR] = $1; end[NR] = $2; n = NR; next }
	{ for (i = 1; i <= n; i++)
		if ($1 > end[i] && (i == n || $1 < start[i + 1])) count[i]++ }
	END { for (i = 1; i <= n; i++) print count[i] + 0 }' - records >counts
is "$(awk '$1 >= 50' counts | grep -c .)" "$ROUNDS" "CPU 1 is sampled again after each" ||
	diag "samples after each gap: $(tr '\n' ' ' <counts)"
jq -rs 'map("\(.start_ns) \(.end_ns)")[]' gaps | sort -n | awk '
	NR == FNR { start[NR] = $1; end[NR] = $2; n = NR; next }
	{ for (i = 1; i <= n; i++) if ($1 > start[i] && $1 < end[i])
		print $1 - start[i], "ns after the start of a gap of", end[i] - start[i] }' - records >within
is "$(head -3 within)" "" "and never within one"
[ "$tests_failed" -eq 0 ] || diag_file log
diag "$ROUNDS rounds; $fds descriptors; RSS $rss KiB before, $(wc -l <records) samples of CPU 1"
done_testing
