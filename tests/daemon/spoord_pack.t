#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# What names a recording stays with it: copies of programs with what spoorctl keep keeps, and what spoorctl capture
# --pack puts into its file.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq readelf unshare chroot
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
objects_share = 20%
block_age = 1s
END
store=archive/spoor-objects
program() # NAME: of its own; static, so that it runs in an empty root
{
	echo "const char pad_$1[2000 * 1024] = { 1 };" >pad.c
	"${CC:-gcc}" -static -g -O2 -o "$1" "$TOP/tests/fixtures/deep.c" pad.c || bail "no compiler"
}
copy_of() # PROGRAM
{
	local id

	id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	echo "$store/.build-id/${id:0:2}/${id:2}.debug"
}
copies() # how many are stored
{
	find "$store" -name '*.debug' | wc -l
}

# --- kept, and the others go ---------------------------------------------------------------------

program kept
program other
start
wait_for 20 samples_over 10 || bail "no daemon"
ok "a container's program is stored" container_until_stored kept "$(copy_of kept)"
ctl rotate >/dev/null
# In the segment that is kept there is only the first one.
ok "what was recorded is kept" ctl keep 1h --label mine
ok "so is another one's" container_until_stored other "$(copy_of other)"
kept_copy=$(copy_of kept) other_copy=$(copy_of other)
is "$(stat -c %h "$kept_copy")" 2 "a copy that names what is kept is linked there"
is "$(stat -c %h "$other_copy")" 1 "another one is not"
ctl rotate >/dev/null
"$SPOOR" report -i archive/kept/mine --comm kept --no-pager >before 2>err
rm kept other
# From here on no more copies come, and how many there are is known.
ok "it stops" stop
echo 'store_objects = none' >>spoord.conf
start
wait_for 20 samples_over 10 || bail "no daemon"
before=$(copies)
ctl vacuum --max-use 1 >vacuumed 2>err
like "$(cat vacuumed)" '^[0-9]+ recordings? and [0-9]+ cop(y|ies) of programs deleted, [0-9.]+ ' "vacuum says what went"
is "$(sed -n 's/.* and \([0-9]*\) cop.*/\1/p' vacuumed)" "$((before - $(copies)))" "as many copies as are gone"
ok "the copy that names what is kept is there" test -f "$kept_copy"
nok "that of what is not kept is gone" test -f "$other_copy"
"$SPOOR" report -i archive/kept/mine --comm kept --no-pager >after 2>err
like "$(cat after)" '\[\.\] deep_leaf' "what is kept has names, though the program is gone"
same "and all that it had before" before after
is "$(status objects_bytes)" "$(find "$store" -type f -printf '%b\n' | awk '{ n += $1 * 512 } END { print n }')" "status counts what is left"
is "$("$SPOOR" info --json -i archive/kept/mine | jq -s 'length > 0')" true "links are no recordings"

# As one file it is read on another host, by copies of what is gone here.
mkdir cage
cp "$(readlink -f "$SPOOR")" cage/spoor
ldd "$SPOOR" | grep -o '/[^ ]*' | while read -r lib; do
	mkdir -p "cage/$(dirname "$lib")" && cp -L "$lib" "cage/$lib"
done
elsewhere() # OPTION...: spoor in the cage; under a sanitizer a program needs a /proc
{
	mkdir -p cage/proc
	HOME=/nowhere unshare --mount --pid --fork --propagation private \
		sh -c 'mount -t proc proc cage/proc && exec chroot cage /spoor "$@"' - "$@"
}
named() # of dso, function and line: the rows of what is kept, without the input's name
{
	"$@" --comm kept --no-pager -s dso,sym,srcline 2>err | grep -v '^# Recording'
}
exits 0 "a kept range is packed" "$SPOOR" pack archive/kept/mine -o cage/range.spoor
named "$SPOOR" report -i archive/kept/mine >at_home
named elsewhere report -i range.spoor >away
like "$(cat away)" '\[\.\] deep_leaf' "it has names on another host"
same "the same as here" at_home away
rm -r archive/kept/mine
ctl vacuum --max-use 1 >vacuumed 2>err
nok "without the label it goes" test -f "$kept_copy"

# --- a capture with what names it ----------------------------------------------------------------

program packed
background ./packed 60000
exits 0 "a capture is packed" ctl capture --duration 1s --call-graph fp -p $! -o cage/x.spoor --pack
like "$(cat err)" 'spoor pack: [0-9]+ objects' "which is told"
"$SPOOR" report -i cage/x.spoor --no-pager -s sym,srcline 2>&1 | grep -v '^# Recording' >at_home
rm packed
elsewhere report -i x.spoor --no-pager -s sym,srcline 2>&1 | grep -v '^# Recording' >away
like "$(cat away)" 'deep_leaf +deep\.c:[0-9]+' "it has names and lines on another host"
same "the same as at home" at_home away
exits 2 "without a name there is nothing to pack into" ctl capture --duration 1s --pack
exits 2 "nor on standard output" ctl capture --duration 1s --pack -o -
ok "it stops" stop
done_testing
