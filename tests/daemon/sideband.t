#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 70s
#
# A user who maps files with long names as fast as it goes, and one who forks: what is written for that
# is bounded, the history stays, others keep their names, and it is said whose it is.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq setpriv
need_record_all
[ "$(id -u)" = 0 ] || skip_all "only root can be two users"

cat >spoord.conf <<END
archive_directory = $TMP/archive
control_socket = $socket
max_use = 64M
keep_free = 1
block_age = 1s
frequency = 199
memory_budget = 0
END
mkdir archive flood
chmod 711 "$TMP"
chmod 777 flood
# The name of a program that nobody else's is.
quiet=quiet$$
cp "$FIXTURES/burn" "$quiet"

flood() # SECONDS
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$FIXTURES/mapflood" flood 100 "$1" >maps
}

start
ok "it records" wait_for 20 samples_over 0
"./$quiet" 500 >/dev/null
ok "a segment is closed" ctl rotate
before=$(status archive_bytes)
first=$(find archive -name '*-000001.spoor')
flood 25 &
job=$!
sleep 6
over() { [ "$(status 'sideband_over["65534"]')" -gt 0 ] 2>/dev/null; }
ok "some of the flood is left out meanwhile" wait_for 20 over
"./$quiet" 1500 >/dev/null
wait "$job"
maps=$(cat maps)
diag "$maps maps, $(status lost.sideband_budget) left out, $(status lost.kernel_sideband) lost by the kernel"
in_range "$(status lost.sideband_budget)" 1000 "$maps" "what was left out is in the ledger"
is "$(status 'sideband_over["0"]')" null "nothing of root's"
like "$(ctl status)" 'left out for sideband_share: [0-9]+ records? of user 65534' "status tells people"
is "$(status frequency_hz)" 199 "the frequency is not what is lowered"
is "$(grep -c 'side-band of user 65534 is over its budget' log)" 1 "so does the log, once"
# An hour's share is 32 MiB, and five minutes of it may come at once; besides, there are states.
in_range "$(($(status archive_bytes) - before))" 1 $((16 << 20)) "the archive has grown by little"
ok "the history is there" test -s "$first"

# Processes that do not execute: no more of them is written than fits. One that lives on is found.
user() # COMMAND...: of nobody's, in our place
{
	exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
over_now() { status 'sideband_over["65534"]'; }
over_by() { [ "$(over_now)" -gt $((left_out + 2000)) ]; }
named() # Scans are made no oftener than they are cheap.
{
	timeout 20 "$SPOOR" report --json --sort pid,comm archive 2>/dev/null |
		jq -es "[.[0].rows[] | select(.pid == $(cat lives) and .comm == \"sh\")] != []" >/dev/null
}
left_out=$(over_now)
storm_began=$SECONDS
background user timeout 300 sh -c 'echo $$; while :; do (:); done' >forker
forker=$!
ok "forks are left out" wait_for 60 over_by
background user timeout 300 sh -c '(while :; do :; done) & echo $!; wait' >lives
ok "one that lives on has its name" wait_for 200 named
kill "$forker" "$(cat lives)"
storm=$((SECONDS - storm_began + 1))
ok "it stops" stop

newest=$(find archive -name '*.spoor' | sort | tail -1)
exits 0 "the recording is whole" "$SPOOR" verify "$newest"
exits 0 "a report" "$SPOOR" report --json --comm "$quiet" -s comm,sym "$newest"
in_range "$(jq '[.rows[] | select(.symbol == "burn_hot") | .samples] | add // 0' out)" \
	30 1000 "a program of root's, begun meanwhile, has its names"
"$SPOOR" info --json "$newest" >info.json 2>/dev/null
is "$(jq '.loss.sideband_budget > 0' info.json)" true "the recording knows what it lacks"
like "$(jq -r .notes info.json)" 'side-band of user 65534 is over its budget' "and whose"
diag "states: $(jq -c .blocks.STATE info.json), lost by the kernel: $(jq .loss.kernel_sideband info.json)"
exits 0 "a dump" timeout 120 "$SPOOR" dump --json "$newest"
jq -r --argjson parent "$(cat forker)" --argjson lives "$(cat lives)" '
	(select(.type == "FORK" and .state == null and .fields.pid == $lives) | "it"),
	(select(.type == "FORK" and .fields.ppid == $parent) | "FORK"),
	(select(.type == "EXIT" and .fields.ppid == $parent) | "EXIT")' out >tasks
is "$(grep -c it tasks)" 0 "nothing of its beginning was written"
diag "in $storm s of forks $(grep -c FORK tasks) of them, $(grep -c EXIT tasks) of their ends"
# Half of the rate, 4,660 bytes a second, as for anything of that user's: 12 bytes a record. While a
# scan goes on, which may have seen the task, each EXIT is written.
in_range "$(($(grep -c FORK tasks) * 24))" 0 $(((storm + 10) * 4660)) "of forks no more than fits"
# One at the beginning; what is lost each second does not make one each second. They may take an eighth
# of the 9,300 bytes a second.
in_range "$(jq .blocks.STATE.blocks info.json)" 1 $((3 + SECONDS / 3)) "there are few scans in it"
in_range "$(jq .blocks.STATE.bytes info.json)" 1 $((30000 + SECONDS * 1165)) "and they take little"
done_testing
