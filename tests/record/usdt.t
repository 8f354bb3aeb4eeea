#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usdt:PATH:PROVIDER:NAME and sdt:PROVIDER:NAME: every hit of a static probe of a program of known hits, at each of its
# places, and its semaphore, which is up while it is recorded and 0 otherwise; where they are, by readelf.
. "$(dirname "$0")/../lib.sh"
need_command jq readelf strip "${CC:-cc}"
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "probes need root"
[ -e /sys/bus/event_source/devices/uprobe/format/ref_ctr_offset ] || skip_all "this kernel counts no semaphores (Linux 4.20)"

program=$FIXTURES/static_probed
counts() # FILE: NAME SAMPLES of each event, without the path
{
	"$SPOOR" info --json -i "$1" | jq -r '.events[] | select(.name != "dummy:u") | "\(.name) \(.samples)"' |
		sed 's,:/[^:]*/,:,' | sort | xargs
}

is "$("$program" 100)" "0 up, semaphore 0" "a program whose probe is off when nothing records"
exits 0 "its probes while it is recorded" "$SPOOR" record -g -o hits.spoor -e sdt:lab:plain:u,sdt:lab:guarded -e sdt:lab:never \
	-- "$program" 1501
like "$(cat out)" '^1501 up, semaphore [1-9]' "the semaphore is up"
is "$(counts hits.spoor)" "usdt:static_probed:lab:guarded 3002 usdt:static_probed:lab:never 0 usdt:static_probed:lab:plain:u 1501" \
	"and each hit is counted once, of both places"
is "$("$SPOOR" info --json -i hits.spoor | jq .lost)" 0 "nothing is lost"
is "$("$program" 100)" "0 up, semaphore 0" "later it is off again"
is "$("$SPOOR" report --json -i hits.spoor --event "usdt:$program:lab:guarded" | jq -r '.rows[] | "\(.symbol) \(.samples)"')" \
	"pass_guarded 3002" "hits are where the probe is"
# Pages are moved whole.
noted() # PROGRAM PROBE: the last three digits of its places
{
	readelf -nW "$1" | awk -v probe="$2" '$1 == "Name:" { name = $2 } $1 == "Location:" && name == probe { print substr($2, 16, 3) }' | xargs
}
is "$("$SPOOR" dump -i hits.spoor | grep -o 'lab:guarded" .* ip=0x[0-9a-f]*' | sed 's/.*\(...\)$/\1/' | sort | uniq -c | awk '{ print $2 " " $1 }' | xargs)" \
	"$(for place in $(noted "$program" guarded); do echo "$place 1501"; done | xargs)" "at the places that readelf tells, half each"

exits 0 "with a period, terms and modifiers" "$SPOOR" record -o tenth.spoor -e "usdt:$program:lab:guarded/period=10,call-graph=no/u,cs" \
	-- taskset -c 0 "$program" 500
like "$(counts tenth.spoor)" 'usdt:static_probed:lab:guarded/period=10,call-graph=no/u 100$' "are every tenth hit of each place"
exits 0 "--counters" "$SPOOR" record -o counted.spoor --counters="page-faults,usdt:$program:lab:guarded" -- "$program" 333
is "$("$SPOOR" counters --json counted.spoor | jq -s --arg e "usdt:$program:lab:guarded" '[.[].counts[] | select(.event == $e) | .count] | add')" \
	666 "have the hits of both places"
exits 0 "a group of a probe at one place" "$SPOOR" record -o group.spoor -e "{sdt:lab:plain,page-faults}" -- "$program" 77
like "$(counts group.spoor)" 'usdt:static_probed:lab:plain 77' "has each hit"

# --- whose

exits 0 "on all CPUs" "$SPOOR" record -a -o all.spoor -e "usdt:$program:lab:guarded" -- sh -c '"$1" 40; "$1" 5 fork' - "$program"
like "$(xargs <out)" '^40 up, semaphore [1-9] 5 up, semaphore [1-9]' "programs that begin later, and their children, see the semaphore up"
is "$(counts all.spoor)" "usdt:static_probed:lab:guarded 90" "and each hit is counted"

mkfifo in
waits() # PROGRAM N: in the background, as $waiting
{
	: >said
	background sh -c 'exec "$@" <in >said' - "$@" wait
	waiting=$!
	exec 7>in
}
ended()
{
	exec 7>&-
	wait $waiting
}
lines() # N: has the program said so many?
{
	[ "$(wc -l <said)" -ge "$1" ]
}
go_on() # it passes its probes once more
{
	local had
	had=$(wc -l <said)
	echo >&7
	wait_for 60 lines $((had + 1))
}
waits "$program" 25
ok "a process that waits" wait_for 60 lines 1
cat >pass.sh <<-'END'
	echo >&7
	until [ "$(wc -l <said)" -ge 2 ]; do sleep 0.05; done
END
exits 0 "-p" "$SPOOR" record -o pid.spoor -p $waiting -e sdt:lab:guarded -- sh pass.sh
go_on
like "$(xargs <said)" '^0 up, semaphore 0 25 up, semaphore [1-9] 0 up, semaphore 0$' "the semaphore of a process that runs: up, and 0 again"
is "$(counts pid.spoor)" "usdt:static_probed:lab:guarded 50" "each hit of it is counted"
# Whoever is killed leaves nothing behind.
background "$SPOOR" record -q -a -o killed.spoor -e "usdt:$program:lab:guarded"
recorder=$!
up()
{
	go_on && tail -n 1 said | grep -q 'semaphore [1-9]'
}
ok "a recorder of all CPUs raises it as well" wait_for 60 up
kill -KILL $recorder
wait $recorder 2>/dev/null
down()
{
	go_on && tail -n 1 said | grep -q '^0 up, semaphore 0'
}
ok "and it is 0 when that was killed" wait_for 60 down
ended

# --- other files

source=$TOP/tests/fixtures/static_probed.c
strip -o stripped "$program"
ok "one that is not moved" "${CC:-cc}" -O2 -no-pie -fno-pie -o fixed "$source"
ok "a library" "${CC:-cc}" -O2 -shared -fPIC -Dmain=lab_main -o liblab.so "$source"
for file in stripped fixed; do
	exits 0 "$file" "$SPOOR" record -o other.spoor -e "sdt:lab:plain,usdt:$file:lab:guarded" -- ./$file 61
	is "$(counts other.spoor)" "usdt:$file:lab:guarded 122 usdt:$file:lab:plain 61" "each hit is counted"
done
cat >uses.c <<-'END'
	int lab_main(int argc, char **argv);
	int main(int argc, char **argv) { return lab_main(argc, argv); }
END
ok "a program of it" "${CC:-cc}" -o uses uses.c -L. -llab -Wl,-rpath,"$TMP"
exits 0 "a probe of a library" "$SPOOR" record -o library.spoor -e usdt:liblab.so:lab:guarded -- ./uses 31
is "$(counts library.spoor)" "usdt:liblab.so:lab:guarded 62" "is found there"
waits ./uses 9
ok "a process of it" wait_for 60 lines 1
exits 0 "and by -p in what the process has mapped" "$SPOOR" record -o mapped.spoor -p $waiting -e sdt:lab:plain,sdt:lab:guarded -- sh pass.sh
is "$(counts mapped.spoor)" "usdt:liblab.so:lab:guarded 18 usdt:liblab.so:lab:plain 9" "each hit of it is counted"
ended

# --- by numbers, and refused

place() # the first place, and that of the semaphore: in the file, as segments have them
{
	local location semaphore
	read -r location semaphore < <(readelf -nW "$program" | awk '$1 == "Name:" { name = $2 } $1 == "Location:" && name == "guarded" {
		gsub(",", ""); print $2, $6; exit }')
	readelf -lW "$program" | awk '$1 == "LOAD" { print $2, $3, $5 }' | while read -r offset start size; do
		for at in $location $semaphore; do
			[ $((at)) -lt $((start)) ] || [ $((at)) -ge $((start + size)) ] || printf '0x%x ' $((at - start + offset))
		done
	done
}
read -r code semaphore < <(place)
exits 0 "a place with its semaphore" "$SPOOR" record -o number.spoor -e "uprobe:$program:here=$code($semaphore)" -- "$program" 19
is "$(counts number.spoor)" "uprobe:static_probed:here 19" "is of each hit, and turns the probe on"
exits 0 "and one without" "$SPOOR" record -o off.spoor -e "uprobe:$program:$code" -- "$program" 19
is "$(counts off.spoor)" "uprobe:static_probed:$code 0" "is never reached"

refused() # EVENT CHARACTER SAID [OPTION...]
{
	local event=$1 at=$2 said=$3
	shift 3
	exits 2 "$event" "$SPOOR" record -e "$event" -o x.spoor "${@:---}" "$program"
	like "$(cat err)" "at character $at: .*$said" "is told"
}
refused cs,usdt:stripped:lab:none 18 "no such probe: readelf -n lists"
refused usdt:/bin/true:lab:plain 16 "no static probes"
refused usdt:nofile:lab:plain 6 "No such file"
refused usdt:uses.c:lab:plain 13 "neither a program nor a library"
refused usdt:stripped:lab 15 "PATH:PROVIDER:NAME"
refused usdt:stripped 6 "PATH:PROVIDER:NAME"
refused usdt:stripped:lab: 15 "PATH:PROVIDER:NAME"
refused sdt:lab 5 "PROVIDER:NAME"
refused sdt:lab:none 5 "static_probed has no such probe.*usdt:PATH"
refused "{cs,usdt:stripped:lab:guarded}" 1 "several places is in no group"
refused "uprobe:$program:$code(1" $((${#program} + ${#code} + 10)) "'\)', and nothing more"
refused "uprobe:$program:$code(0x1)" $((${#program} + ${#code} + 10)) "not the place of a semaphore"
refused "uprobe:$program:$code(0x200000000)" $((${#program} + ${#code} + 10)) "so far behind"
exits 2 "of no file" "$SPOOR" record -a -e sdt:lab:plain -o x.spoor
like "$(cat err)" 'name the file otherwise' "is told"
install -m 755 "$TOP/tests/lib.sh" script
exits 2 "of a script" "$SPOOR" record -e sdt:lab:plain -o x.spoor -- ./script
like "$(cat err)" 'usdt:PATH' "is told"
waits ./uses 1
ok "a process that waits" wait_for 60 lines 1
exits 2 "one that no file of it has" "$SPOOR" record -e sdt:lab:none -o x.spoor -p $waiting
like "$(cat err)" 'nothing that the process has mapped' "is told"
ended
LD_PRELOAD=./liblab.so waits "$program" 1
ok "and one with two files that have it" wait_for 60 lines 1
exits 2 "are to be told apart" "$SPOOR" record -e sdt:lab:plain -o x.spoor -p $waiting
like "$(cat err)" "static_probed and .*liblab.so have this probe" "is told"
ended
nok "no recording is left" test -e x.spoor
done_testing
