#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# spoord keeps copies of what may be gone when its archive is read, within objects_share of max_use.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq readelf unshare
[ "$(id -u)" = 0 ] || skip_all "not root: no containers"
mkdir jail
mount -t tmpfs jail jail 2>/dev/null || skip_all "no tmpfs can be mounted here"
umount jail
at_exit '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null'

cat >spoord.conf <<END
archive_directory = $TMP/archive
control_socket = $socket
frequency = 199
cpu_budget = 0
max_use = 64M
keep_free = 0
objects_share = 50%
block_age = 1s
END
store=archive/spoor-objects
program() # NAME KIB: a program of its own, as large as that
{
	echo "const char pad_$1[$2 * 1024] = { 1 };" >pad.c
	"${CC:-gcc}" -static -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -o "$1" \
		"$TOP/tests/fixtures/deep.c" pad.c || bail "no compiler"
}
object_of() # PROGRAM
{
	local id

	id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	echo "$store/.build-id/${id:0:2}/${id:2}.debug"
}
store_kib()
{
	du -sk "$store/.build-id" | cut -f 1
}
stored_over() # KIB
{
	[ "$(store_kib)" -gt "$1" ]
}

# --- names ---------------------------------------------------------------------------------------

program inside 2000
start
wait_for 20 samples_over 10 || bail "no daemon"
ok "a container's program is stored" container_until_stored inside "$(object_of inside)" || diag_file log
is "$(stat -c %a "$(object_of inside)")" 640 "for whom the archive is"
is "$(stat -c %a "$store")" 750 "in a directory like the archive's"
ctl sync >/dev/null
like "$("$SPOOR" report -i archive --comm inside 2>err)" '% +inside +inside +\[\.\] deep_leaf' "its samples have names"
ctl capture --duration 1s -o taken.spoor >/dev/null 2>&1
ctl keep 1m --label mine >/dev/null 2>&1 || diag "not kept"
kept=$(find archive/kept -name '*.spoor' | head -n 1)
[ -z "$kept" ] || like "$("$SPOOR" report -i "$kept" --comm inside 2>err)" 'deep_leaf' "in what is kept as well"
in_range "$(status objects_bytes)" 1000 33554432 "status tells what copies take"

# --- bounds --------------------------------------------------------------------------------------

# What others build on this machine meanwhile is stored, too: so large a share has room for it, and this one has not.
ok "it stops" stop
rm -rf "$store" && sed -i 's/^objects_share.*/objects_share = 5%/' spoord.conf
start
wait_for 20 samples_over 10 || bail "no daemon"
# Each takes some hundred KiB; together they are more than the share. They live until as much is stored as there is room for.
containers=
for i in $(seq 14); do
	program "many_$i" 100
done
for i in $(seq 14); do
	background "${container[@]}" "many_$i" 600000
	containers+=" $!"
done
ok "copies of many programs are stored" wait_for 60 stored_over 500 || diag_file log
most=0
for _ in {1..24}; do
	now=$(store_kib)
	[ "$now" -le "$most" ] || most=$now
	sleep 0.5
done
# shellcheck disable=SC2086 # several
kill $containers
in_range "$most" 500 3277 "copies take no more than their share at any time"
before=$(status samples)
ok "it still records" wait_for 20 samples_over "$before"
in_range "$(du -sk archive | cut -f 1)" 1 65536 "the archive is within max_use"
# What is kept would keep its copies.
rm -rf archive/kept/mine
ctl vacuum --max-use 1M >/dev/null 2>err || diag_file err
in_range "$(store_kib)" 0 1024 "vacuum takes copies where nothing else is left"

# --- what stands in the way ----------------------------------------------------------------------

ok "it stops" stop
rm -rf "$store" && mkdir victim && ln -s "$TMP/victim" "$store"
start
wait_for 20 samples_over 10 || bail "no daemon"
"${container[@]}" inside 2000
wait_for 20 grep -q 'objects are not stored: ' log
is "$(find victim -mindepth 1 | wc -l)" 0 "a link in the place of the directory is not followed"
like "$(cat log)" 'objects are not stored: ' "and told"
ok "it stops" stop
rm "$store" && sed -i '$a store_objects = none' spoord.conf
start
wait_for 20 samples_over 10 || bail "no daemon"
"${container[@]}" inside 2000
sleep 2
nok "none stores none" test -e "$store"
ok "it stops" stop
exits 1 "another word" "$spoord" -n -c <(sed 's/= none/= some/' spoord.conf)
like "$(cat err)" 'must be ephemeral, all or none' "is refused"

done_testing
