#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# Programs that run for the same part of each second, or of each tick, each at a moment of its own, have the same part of the
# samples: by spoor record, a capture and the daemon's stream, at frequencies that divide a second and at others. A clock
# of 1/19 s would see three of twenty.
#
# How much of a program's time is sampled depends on the length of its bursts: a sample that is due while interrupts are
# off, in a switch, comes after it, and may be another program's. That takes 4 to 8 us of each burst. So what is compared is
# how samples are shared among programs, with how their CPU time is, and no burst is shorter than 160 us.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq
need_record_all

# By chance alone one of 100,000 is larger, with one degree of freedom less than there are programs. There are 28 in a run.
chi_bound=([5]=28.5 [10]=39.3 [20]=56.5)
frequencies="19 99 997 999 1000"

cat >spoord.conf <<-END
	archive_directory = $TMP/archive
	control_socket = $socket
	max_use = 64M
	keep_free = 1
	frequency = 19
	cpu_budget = 100%
	memory_budget = 0
END

# Prints how many of the programs have samples, and the chi-square of their shares.
compared() # TICKS RECORDING
{
	"$SPOOR" report -q -s comm -F comm,sample,period -t , -i "$2" 2>/dev/null |
		awk -F, -v ticks="$1" '
		{ gsub(/ /, "", $1); samples[$1] = $2; period[$1] = $3 }
		END {
			while ((getline line < ticks) > 0) {
				split(line, field, " ")
				used[field[1]] = field[2]
				time += field[2]
				count += samples[field[1]]
				all += period[field[1]]
			}
			for (k in used) {
				wanted = count * used[k] / time
				off = all ? count * period[k] / all - wanted : wanted
				chi += wanted ? off * off / wanted : 0
				seen += samples[k] > 0
			}
			printf "%d %.1f %d\n", seen, chi, count
		}'
}

agree() # TICKS RECORDING NAME PROGRAMS
{
	local seen chi count

	read -r seen chi count < <(compared "$1" "$2")
	diag "$3: $seen programs, $count samples, chi-square $chi"
	is "$seen" "$4" "$3: each program is seen"
	in_range "$chi" 0 "${chi_bound[$4]}" "$3: as often as it ran"
}

recorders=()
begin() # what records
{
	local hz

	recorders=()
	rm -f ./*.spoor
	for hz in $frequencies; do
		background "$SPOOR" record -a -F "$hz" -o "$hz.spoor" 2>"$hz.err"
		recorders+=("$!")
	done
	background ctl capture --duration 10min --frequency 999 -o capture.spoor 2>capture.err
	recorders+=("$!")
	for hz in $frequencies capture; do
		wait_for 20 test -s "$hz.spoor"
	done
	wait_for 20 samples_over 0
}

end()
{
	ctl stop "$(ctl captures --json | jq '.captures[0].id')" >/dev/null
	kill -INT "${recorders[@]}" 2>/dev/null
	wait "${recorders[@]}"
	ctl sync >/dev/null
}

try() # SECONDS HZ PROGRAMS PERCENT
{
	local hz

	begin
	"$FIXTURES/ticks" "$@" >"ticks.$2" || bail "ticks $*"
	end
	for hz in $frequencies; do
		agree "ticks.$2" "$hz.spoor" "programs of $2 Hz, $hz Hz" "$3"
	done
	agree "ticks.$2" capture.spoor "programs of $2 Hz, a capture of 999 Hz" "$3"
	agree "ticks.$2" archive "programs of $2 Hz, the daemon's 19 Hz" "$3"
}

# Prints of how many clocks, one a CPU, the samples after a minute come at another moment of the period, and of how many
# they could have.
moved() # RECORDING
{
	"$SPOOR" export -f csv -i "$1" 2>/dev/null | python3 -c '
import csv, statistics, sys
cpus = {}
for row in csv.DictReader(sys.stdin):
    cpus.setdefault(row["cpu"], []).append((int(row["clock_ns"]), int(row["period"])))
all = moved = 0
for samples in cpus.values():
    samples.sort()
    begin, period = samples[0]
    def moment(some):
        return statistics.median((t - begin + period // 2) % period for t, _ in some)
    early = [s for s in samples if s[0] < begin + 50e9]
    late = [s for s in samples if s[0] > begin + 62e9]
    if len(early) < 20 or len(late) < 20 or len({p for _, p in samples}) != 1:
        continue
    all += 1
    moved += abs(moment(late) - moment(early)) > period / 100
print(moved, all)'
}

mkdir archive
start
wait_for 20 ctl status || bail "the daemon does not start"
# As many samples of a low frequency as chi-square needs.
try 80 1 20 1
all=0 changed=0
for hz in $frequencies; do
	read -r of_one clocks < <(moved "$hz.spoor")
	changed=$((changed + of_one)) all=$((all + clocks))
done
# One of fifty comes back to where it was.
in_range "$all" 5 1000000 "each clock has one period of its own"
in_range "$changed" $((all / 2 + 1)) "$all" "and is at another moment of it after a minute"
try 12 100 20 4
try 12 250 10 8
try 10 1000 5 16
stop
is $? 0 "it stops"
done_testing
