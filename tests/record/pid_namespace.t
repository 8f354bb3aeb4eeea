#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recorders inside of a PID namespace, which the kernel tells pid 0 of every process outside of it: these are
# "[other PID namespace]" and have no names nor maps; the idle task stays the idle task, as far as /proc/stat says
# that there was one; and the namespace's own have their names.
. "$(dirname "$0")/../lib.sh"
need_command jq unshare
need_record_all
unshare --pid --fork --mount-proc true 2>/dev/null || skip_all "no PID namespace can be made here"
elsewhere='[other PID namespace]'

cp "$FIXTURES/burn" outside_burn
cp "$FIXTURES/burn" inside_burn

# What runs inside, while it is recorded, until the process outside has run, too. The idle time of all CPUs, in ticks
# of 10 ms, is told before and after.
cat >inside.sh <<'SH'
idle() { awk '$1 == "cpu" { print $5 + $6 }' /proc/stat; }
idle >idle.before
echo >begun
./inside_burn 700 >inside.used
read -r _ <over
idle >idle.after
SH
mkfifo begun over

cpu_ms() # FILE OPTION...: CPU time by cpu-clock of what passes, in ms
{
	"$SPOOR" export -f csv -i "$@" 2>>csv.err | awk -F, 'NR > 1 { n += $8 } END { printf "%.0f\n", n / 1e6 }'
}
samples_of() # FILE OPTION...: how many samples pass
{
	"$SPOOR" export -f csv -i "$@" 2>>csv.err | sed 1d | wc -l
}
dumped() # OPTION...: in how many records
{
	"$SPOOR" dump --json r.spoor "$@" 2>>err | jq -c 'select(.type == "SAMPLE")' | wc -l
}
burnt() # ticks of the process outside
{
	awk '{ print $14 + $15 }' "/proc/$burner/stat"
}
has_burnt() # TICKS
{
	[ "$(burnt)" -ge "$1" ]
}
beside() # the recording: lets the process outside run for half a second of CPU time, tells how long that was
{
	local before
	read -r _ <begun
	before=$(burnt)
	wait_for 60 has_burnt $((before + 50))
	echo $((($(burnt) - before) * 10)) >outside.used
	echo >over
}

background ./outside_burn 600000 >outside.out
burner=$!
for how in "cpu-clock:I" "cpu-clock -g" "cpu-clock"; do
	background beside
	# shellcheck disable=SC2086 # several options
	exits 0 "recorded inside: $how" unshare --pid --fork --mount-proc "$SPOOR" record -a -F 997 -e $how -o r.spoor -- bash inside.sh
	like "$(cat err)" 'inside of a PID namespace' "it is said"
	all=$(cpu_ms r.spoor)
	used=$(tail -n 1 inside.used)
	in_range "$(cpu_ms r.spoor --comm inside_burn)" $((used * 8 / 10)) $((used * 12 / 10)) \
		"the namespace's own process has its name"
	idle=$((($(cat idle.after) - $(cat idle.before)) * 10))
	shown=$(cpu_ms r.spoor --comm swapper)
	case $how in
	*:I) is "$shown" 0 "an event without the idle task has none" ;;
	*) in_range "$shown" $((idle - all / 10)) $((idle + all / 10)) "the idle task has what was idle" ;;
	esac
	"$SPOOR" export -f perf-data-file --comm swapper -i r.spoor -o idle.data 2>>err
	is "$(dumped --comm swapper) $(dumped --pid 0) $(samples_of idle.data)" "$(samples_of r.spoor --comm swapper | sed 's/.*/& & &/')" \
		"records and perf.data have the same samples of it"
	other=$(cpu_ms r.spoor --comm "$elsewhere")
	in_range "$other" $(($(cat outside.used) * 8 / 10)) "$all" "what runs outside is there"
	"$SPOOR" report --json -s comm,pid,dso,sym -i r.spoor >report.json 2>>err
	is "$(json report.json '[.rows[] | select(.comm == "'"$elsewhere"'") | .pid] | unique | tostring')" "[-2]" \
		"by a number of its own"
	is "$(json report.json '[.rows[] | select(.comm == "'"$elsewhere"'" and (.dso | test("^/"))) | .dso] | unique | tostring')" \
		"[]" "and no file of any process is given to it"
	is "$(json report.json '[.rows[].comm | select(test("outside_burn"))] | length')" 0 "nor a name"
done
kill $burner

"$SPOOR" dump r.spoor 2>>err >dumped
is "$(grep -cE ' (COMM|MMAP2?|FORK|EXIT|NAMESPACES)( .*)? pid=0( |$)' dumped)" 0 "no record of theirs is kept"
like "$("$SPOOR" info r.spoor)" 'PID namespace +[0-9]+' "info tells the namespace"
is "$("$SPOOR" info --json r.spoor | jq '.pid_namespace > 0')" true "as JSON, too"
is "$("$SPOOR" export -f perf-script -i r.spoor 2>>err | grep -c '^\[other PID namespace\] ')" \
	"$("$SPOOR" export -f csv -i r.spoor --comm "$elsewhere" 2>>err | sed 1d | wc -l)" "exports of samples have it"

# On the host there is none of it.
exits 0 "recorded on the host" "$SPOOR" record -a -o host.spoor -- "$FIXTURES/burn" 100
unlike "$(cat err)" 'PID namespace' "nothing is said there"
is "$("$SPOOR" info --json host.spoor | jq '.pid_namespace')" null "nor told"
is "$("$SPOOR" export -f csv -i host.spoor --comm "$elsewhere" 2>>err | sed 1d | wc -l)" 0 "nor shown"

exits 1 "/proc of another namespace" unshare --pid --fork "$SPOOR" record -a -o wrong.spoor -- true
like "$(cat err)" '/proc is of another PID namespace.*mount -t proc' "is refused, with what to do"

# The daemon says it, too.
. "$TOP/tests/daemon.sh"
printf 'archive_directory = %s\ncontrol_socket = %s\nmax_use = 64M\nkeep_free = 1\n' \
	"$TMP/archive" "$socket" >spoord.conf
background unshare --pid --fork --kill-child --mount-proc "$spoord" -c spoord.conf --foreground 2>>log
wait_for 20 ctl status
like "$(cat log)" 'recorded inside of a PID namespace' "spoord says it in its log"
done_testing
