#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# spoor record --store-objects: programs that are gone when the recording is read, and where it was moved to,
# still have names and whole stacks.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command jq python3 gdb readelf unshare
[ "$(id -u)" = 0 ] || skip_all "not root: no containers"
mkdir jail
mount -t tmpfs jail jail 2>/dev/null || skip_all "no tmpfs can be mounted here"
umount jail

# Statically linked, so that it runs in an empty root; large, so that it is not stored whole.
echo 'const char pad[3000000] = { 1 };' >pad.c
"${CC:-gcc}" -static -g -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -o large \
	"$TOP/tests/fixtures/deep.c" pad.c || bail "no compiler"
"${CC:-gcc}" -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -Wl,--build-id=none -o small \
	"$TOP/tests/fixtures/deep.c" || bail "no compiler"

hottest() # COMM RECORDING
{
	"$SPOOR" report --json --comm "$1" --sort dso,sym -i "$2" 2>err | jq -r '.rows[0] | .dso + " " + .symbol'
}
objects() # DIRECTORY
{
	find "$1/spoor-objects" -type f 2>/dev/null | wc -l
}
# Where the copy of a program is.
object_of() # DIRECTORY PROGRAM
{
	local id

	id=$(readelf -n "$2" | sed -n 's/.*Build ID: //p')
	echo "$1/spoor-objects/.build-id/${id:0:2}/${id:2}.debug"
}
# A recording and its objects go where nobody was when it was made.
moved() # DIRECTORY: prints where to
{
	rm -rf elsewhere && mkdir elsewhere && cp -r "$1/." elsewhere && rm -rf "$1"
	echo elsewhere
}
container() # PROGRAM: in a root of its own, that is gone when it ends
{
	unshare --mount --propagation private sh -c '
		mount -t tmpfs jail jail && mkdir jail/bin && cp "$1" jail/bin/program && chroot jail /bin/program 1500' - "$1"
}
want='main;deep_1;deep_2;deep_3;deep_4;deep_5;deep_leaf'
stacks() # RECORDING COMM: share of the samples with all callers, in percent
{
	"$SPOOR" export -f folded -i "$1" --comm "$2" 2>err |
		awk -v want="$want" '{ all += $NF } index($0, want) { good += $NF } END { print int(100 * good / (all ? all : 1)) }'
}

# --- what is stored, and read back --------------------------------------------------------------

for way in kernel file; do
	mkdir a
	background container large
	container=$!
	# Not /bin/sh: a container of another test, or of this host, may have it in a root of its own. Not a program of
	# the test's: what was made just now is stored.
	background perl -e '1 while 1'
	ours=$!
	exits 0 "a container ($way)" "$SPOOR" record -a --build-ids $way --call-graph dwarf --store-objects=ephemeral \
		--duration 4s -o a/x.spoor
	# Now it is gone.
	wait "$container"
	kill "$ours"
	wait "$ours" 2>/dev/null
	object=$(object_of a large)
	ok "its program is stored" test -f "$object"
	in_range "$("$SPOOR" report --json --comm perl -i a/x.spoor 2>/dev/null | jq '[.rows[].samples] | add')" 1 1e9 "one of the host ran"
	nok "but nothing of the host's" test -f "$(object_of a "$(readlink -f "$(command -v perl)")")"
	in_range "$(du -k --apparent-size "$object" | cut -f 1)" 100 3800 "as it is loaded"
	in_range "$(du -k "$object" | cut -f 1)" 10 700 "without what nobody needs"
	is "$(stat -c %a "$object")" 640 "for the group"
	is "$(readelf -aW "$object" 2>&1 >/dev/null)" "" "readelf has nothing to complain of"
	unlike "$(readelf -SW "$object")" 'debug_info +PROGBITS' "and finds no debug information"
	to=$(moved a)
	is "$(hottest program "$to/x.spoor")" "program deep_leaf" "it has names"
	in_range "$(stacks "$to/x.spoor" program)" 95 100 "and callers"
	printf 'set debug-file-directory %s\nfile stripped\ninfo line deep_leaf\ninfo symbol deep_leaf\n' "$PWD/$to/spoor-objects" >cmd
	strip -o stripped large
	like "$(gdb -nx -batch -x cmd 2>&1)" 'deep_leaf in section .text' "gdb finds them, too"
	rm -r "$to/spoor-objects"
	isnt "$(hottest program "$to/x.spoor")" "program deep_leaf" "which the program has not without"
done

mkdir a && cp small gone
(./gone 2500 & sleep 1 && rm gone && wait) &
exits 0 "a program that is deleted while it runs" "$SPOOR" record -a --store-objects=ephemeral --duration 3s -o a/x.spoor
wait $!
to=$(moved a)
is "$(hottest gone "$to/x.spoor")" "gone deep_leaf" "has names, also without a build-id"
mkdir b && (cd "$to" && tar -cf - .) | tar -C b -xf -
is "$(hottest gone b/x.spoor)" "gone deep_leaf" "and after tar"
chmod o-r small && cp small gone && mkdir a && rm -r b
(./gone 2500 & sleep 1 && rm gone && wait) &
exits 0 "one that not anybody may read" "$SPOOR" record -a --store-objects=ephemeral --duration 3s -o a/x.spoor
wait $!
object=$(grep -rl --include='*.debug' deep_leaf a/spoor-objects)
is "$(readelf -SW "$object" | grep -c '\.text .*NOBITS')" 1 "has no code stored"
is "$(hottest gone a/x.spoor)" "gone deep_leaf" "and names"
rm -r a

cat >memory.py <<'E2'
import os
fd = os.memfd_create("unseen")
os.write(fd, open("large", "rb").read())
os.execv("/proc/self/fd/%d" % fd, ["unseen", "2000"])
E2
mkdir a
exits 0 "a program in memory" "$SPOOR" record --call-graph dwarf --store-objects=ephemeral -o a/x.spoor -- python3 memory.py
to=$(moved a)
like "$("$SPOOR" report -i "$to/x.spoor" --sort sym 2>&1)" '[0-9]% .* deep_leaf' "has names"

mkdir a
exits 0 "all" "$SPOOR" record --store-objects -o a/x.spoor -- ./small 1000
object=$(object_of a "$(ldd small | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')")
ok "libc is stored" test -f "$object"
in_range "$(objects a)" 3 40 "with the program and its loader, and what ran before it executed"
touch -d 2020-01-01 "$object"
exits 0 "once more" "$SPOOR" record --store-objects -o a/y.spoor -- ./small 300
is "$(($(date +%s) - $(stat -c %Y "$object") < 600))" 1 "what is there was used now"
rm -r a && mkdir a

# --- what stands in the way -----------------------------------------------------------------------

exits 2 "a pipe has nothing beside it" "$SPOOR" record --store-objects -o - -- true
like "$(cat err)" 'give that a name by -o FILE' "which is told"
exits 1 "nor has a device" "$SPOOR" record --store-objects -o /dev/null -- true
nok "and there is none" test -e /dev/spoor-objects
exits 127 "a command that there is not" "$SPOOR" record --store-objects -o a/x.spoor -- ./nowhere
# What ran before may have been seen, and copies may be others', too: they stay.
nok "leaves no empty directory" test -n "$(find a/spoor-objects -maxdepth 0 -empty 2>/dev/null)"
rm -rf a/spoor-objects
exits 2 "another word" "$SPOOR" record --store-objects=some -o a/x.spoor -- true

mkdir victim && ln -s "$PWD/victim" a/spoor-objects
exits 1 "a link in its place" "$SPOOR" record --store-objects -o a/x.spoor -- true
like "$(cat err)" 'has to be a directory of this user' "is told"
rm a/spoor-objects && mkdir a/spoor-objects && chown 12345 a/spoor-objects
exits 1 "another user's directory" "$SPOOR" record --store-objects -o a/x.spoor -- true
chown 0 a/spoor-objects && chmod 777 a/spoor-objects
exits 1 "one that anybody may write to" "$SPOOR" record --store-objects -o a/x.spoor -- true
chmod 700 a/spoor-objects && ln -s "$PWD/victim" a/spoor-objects/.build-id
exits 0 "a link in it" "$SPOOR" record --store-objects -o a/x.spoor -- ./small 300
like "$(cat err)" 'objects are not stored: ' "is told"
is "$(find victim -mindepth 1 | wc -l)" 0 "and not followed"
rm a/spoor-objects/.build-id
mount -t tmpfs -o size=64k,mode=700 full a/spoor-objects || bail "mount"
at_exit 'umount -l a/spoor-objects 2>/dev/null'
exits 0 "a full disk" "$SPOOR" record --store-objects -o a/x.spoor -- ./small 500
is "$(grep -c 'objects are not stored: they have taken all the room' err)" 1 "is told once"
is "$(hottest small a/x.spoor)" "small deep_leaf" "and the recording is whole"
is "$(find a/spoor-objects -name '.*.new' | wc -l)" 0 "with nothing half done"
umount a/spoor-objects
# Copies of all that runs here would take more.
mount -t tmpfs -o size=2m,mode=700 full a || bail "mount"
at_exit 'umount -l a 2>/dev/null'
exits 0 "a small disk" "$SPOOR" record -a --store-objects -o a/x.spoor -- ./small 1500
in_range "$(du -sk a/spoor-objects | cut -f 1)" 1 1100 "is half left to the recording"
is "$(hottest small a/x.spoor)" "small deep_leaf" "which is whole"

done_testing
