#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# A disk that answers with errors, under spoord: a sync that fails, writes that fail once, for a
# while, and for as long as the file is this one. It says so, goes on by itself, soon, tells in the
# recording what is missing, and never trusts a descriptor whose sync failed.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq

preload=$PRELOADS/libbadfile.so
archive=$TMP/archive
plan=$TMP/plan
[ -e "$preload" ] || bail "libbadfile.so is not built"
# A sanitizer wants to be loaded first.
sanitizer=$(ldd "$spoord" | awk '/lib[at]san/ { print $3; exit }')
preload=${sanitizer:+$sanitizer:}$preload
mkdir -m 750 "$archive"
# A segment is an hour, as it is by default: nobody waits for the next one.
cat >spoord.conf <<-EOC
	archive_directory = $archive
	control_socket = $socket
	control_group = root
	frequency = 999
	max_use = 64M
	keep_free = 1
	block_age = 1s
	sync_interval = 1s
	cpu_budget = 0
EOC

files() # PATTERN
{
	find "$archive" -maxdepth 1 -name "$1" | wc -l
}

files_are() # COUNT PATTERN
{
	[ "$(files "$2")" -eq "$1" ]
}

said() # PATTERN
{
	grep -Eq -- "$1" log
}

goes_on() # NAME
{
	local before

	ok "$1: writing is resumed, soon and by itself" wait_for 25 suspended false
	before=$(status samples)
	ok "$1: and samples come" wait_for 20 samples_over "$before"
	ok "$1: it is the same process" kill -0 "$pid"
}

background "$FIXTURES/burn" 3600000 1 20 >/dev/null 2>&1
BADFILE_PLAN=$plan LD_PRELOAD=$preload start
ok "it records" wait_for 20 samples_over 100 || diag_file log
is "$(files '*.spoor.active')" 1 "into one segment"

# --- a sync -------------------------------------------------------------------------------------

ln -s "fdatasync 5 once" "$plan"
ok "a sync fails" wait_for 20 said 'not synced: .*Input/output error'
ok "and suspends the writing" wait_for 20 said 'writing is suspended'
goes_on "a failed sync"
ok "into another segment" files_are 1 '*.spoor'
is "$(files '*.spoor.active')" 1 "the only one that is open"
nok "the descriptor was not used again" test -e "$plan.trusted"
in_range "$(status lost.disk_full)" 1 100000000000 "the time is in the ledger"

# --- writes -------------------------------------------------------------------------------------

ln -s "write 5 once" "$plan"
ok "a write fails" wait_for 20 test ! -L "$plan"
goes_on "a failed write"

sealed=$(files '*.spoor')
ln -s "write 5 on" "$plan"
ok "all writes fail" wait_for 20 suspended true
sleep 3
ok "it is there" kill -0 "$pid"
rm "$plan"
goes_on "a disk that comes back"
in_range "$(files '*.spoor')" "$sealed" $((sealed + 2)) "with no segment for every try"

# --- what is left -------------------------------------------------------------------------------

stop
is $? 0 "SIGTERM: exit 0" || diag_file log
lost=0
for file in "$archive"/*.spoor; do
	"$SPOOR" verify "$file" >verify.out 2>&1
	verdict=$?
	"$SPOOR" info --json "$file" >info.json 2>/dev/null
	if [ "$(jq .damaged_blocks info.json)" != 0 ] || [ $verdict -eq 1 ]; then
		fail "$file reads" "verify: exit $verdict" "$(cat verify.out)"
	fi
	lost=$((lost + $(jq '.loss.disk_full // 0' info.json)))
done
in_range $lost 1 100000000000 "the recordings tell the time that is missing"
unlike "$(cat log)" 'Sanitizer|Assertion|set aside' "nothing else to complain about"
nok "no descriptor was used after its sync had failed" test -e "$plan.trusted"
done_testing
