#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which service, which process, which function burned CPU between 03:10 and 03:15? One command each, of an
# archive that spoord wrote: three services of which another one is busy before, then, and after; when
# they, their control groups and their programs are gone. Days are made of seconds by telling spoord
# another time of day.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq gcc
[ -x "$spoord" ] || skip_all "there is no spoord"
need_record_all

# A time of day is of today: all that follows is of one day, here and in Tokyo (15:00).
for midnight in 86400 54000; do
	left=$(((midnight - $(date +%s) % 86400 + 86400) % 86400))
	[ $left -gt 240 ] || sleep $((left + 1))
done

root=$(cgroup_root)
slice=spoortest$$.slice
if [ -z "$root" ] || ! mkdir "$root/$slice" 2>/dev/null; then
	skip_all "no control group can be made here"
fi
at_exit "find '$root/$slice' -depth -type d -exec rmdir {} + 2>/dev/null"

cat >shift.c <<'C'
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);
	const char *by = getenv("SHIFT");
	if (r == 0 && by && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		ret->tv_sec += atol(by);
	return r;
}
C
gcc -shared -fPIC -o shift.so shift.c || bail "no compiler"
for name in web db mail; do
	mkdir "$root/$slice/$name.service"
	cat >$name.c <<C
#include <stdlib.h>
#include <time.h>
volatile unsigned sink;
__attribute__((noinline)) void ${name}_hot(void) { for (unsigned i = 0; i < 100000; i++) sink = sink * 69069u + i; }
int main(int argc, char **argv)
{
	struct timespec t;
	do {
		${name}_hot();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < atol(argv[1]));
	return 0;
}
C
	gcc -O1 -fno-omit-frame-pointer -o ${name}_worker $name.c || bail "no compiler"
done

archive=$TMP/archive
mkdir -m 750 "$archive"
cat >spoord.conf <<C
archive_directory = $archive
control_socket = $socket
events = cpu-clock
frequency = 199
max_use = 1G
keep_free = 1
block_age = 1s
cpu_budget = 0
store_objects = all
C

run() # NAME MILLISECONDS: in its control group; its pid is in $!
{
	(echo "$BASHPID" >"$root/$slice/$1.service/cgroup.procs" && exec "./${1}_worker" "$2") &
}
declare -A workers
night() # TIME BUSY: all three run then, and one of them more
{
	local name

	SHIFT=$(($(date -d "$1" +%s) - $(date +%s)))
	export SHIFT
	LD_PRELOAD=$TMP/shift.so start
	wait_for 20 samples_over -1 || bail "no daemon: $(cat log)"
	for name in web db mail; do
		run $name "$([ $name = "$2" ] && echo 1800 || echo 400)"
		workers[$name]=$!
	done
	wait "${workers[@]}"
	unset SHIFT
	stop || bail "the daemon failed: $(cat log)"
}
night 03:05 web
night 03:12 db
db=${workers[db]}
night 03:20 mail
rm web_worker db_worker mail_worker
find "$root/$slice" -depth -type d -exec rmdir {} + || bail "control groups stay"

# --- the questions

ours() # KEY: rows of these services, most first; a host has a dbus.service, too
{
	jq -r --arg key "$1" '[.rows[] | select(.[$key] | tostring | test("^((web|db|mail)(\\.service|_worker)|'"$db"')$"))] | .[] |
		"\(.[$key]) \(.samples)"'
}
report() { "$SPOOR" report -i "$archive" --json "$@" 2>>err; }

report --since 03:10 --until 03:15 -s unit | ours unit >units
is "$(head -n 1 units | cut -d' ' -f1)" db.service "which service"
is "$(cut -d' ' -f1 units | sort | tr '\n' ' ')" "db.service mail.service web.service " "others were there, too"
in_range "$(head -n 1 units | cut -d' ' -f2)" 240 480 "with as much as it used"
in_range "$(sed -n 2p units | cut -d' ' -f2)" 40 140 "and they with less"
report --since 03:10 --until 03:15 --unit db -s pid | ours pid >pids
is "$(head -n 1 pids | cut -d' ' -f1)" "$db" "which process"
report --since 03:10 --until 03:15 -s comm | ours comm >comms
is "$(head -n 1 comms | cut -d' ' -f1)" db_worker "by its name"
report --since 03:10 --until 03:15 --unit db -s sym | jq -r '.rows[0].symbol' >symbol
is "$(cat symbol)" db_hot "which function"

# Of all services of the slice at once, of other times, and as other users say it.
top_unit() { report --unit "$slice" -s unit "$@" | jq -r '.rows[0].unit'; }
is "$(top_unit --since 03:00 --until 03:10)" web.service "another time"
is "$(top_unit --since 03:15)" mail.service "after it"
is "$(top_unit --since "today 03:10" --until "today 03:15")" db.service "today"
is "$(top_unit --since "$(date +%F) 03:10 UTC" --until "$(date +%F) 03:15:00.5")" db.service "with its day"
is "$(TZ=Asia/Tokyo top_unit --since 12:10 --until 12:15)" "$([ "$(TZ=Asia/Tokyo date +%F)" = "$(date +%F)" ] && echo db.service || echo null)" \
	"somewhere else"
is "$(top_unit --last 3m)" mail.service "--last ends with the archive"
is "$(report --last 1d --unit "$slice" | jq .samples)" "$(report --unit "$slice" | jq .samples)" "and has all of a day"
is "$("$SPOOR" dump --json -i "$archive" --since 03:10 --until 03:15 --unit db 2>>err | jq -s 'map(select(.type == "SAMPLE")) | length')" \
	"$(report --since 03:10 --until 03:15 --unit db | jq .samples)" "a dump has the same samples"
like "$(report --since 03:10 --until 03:15 --unit bd 2>&1; cat err)" 'did you mean db.service' "a name that is not there"
"$SPOOR" report -i "$archive" --since 04:10 --until 04:15 >out 2>&1
like "$(cat out)" '03:05:[0-9]+ to 03:2[0-9]:' "a time that is not there"

done_testing
