#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# objects_poison: any user can link a program with the build-id of another one (ld --build-id=0x...). Its copy does not stand
# for files of root, nor for those of other users.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command readelf setpriv
[ "$(id -u)" = 0 ] || skip_all "not root: no other users"

flags=(-static -O2)
"${CC:-gcc}" "${flags[@]}" -o good "$TOP/tests/fixtures/deep.c" || bail "no compiler"
id=$(readelf -n good | sed -n 's/.*Build ID: //p')
evil() # NAME: a program with the same build-id and other functions
{
	sed "s/deep_/$1_/g" "$TOP/tests/fixtures/deep.c" >evil.c
	"${CC:-gcc}" "${flags[@]}" -Wl,--build-id="0x$id" -o "$1" evil.c || bail "no compiler"
}
evil evil
evil other
is "$(readelf -n evil | sed -n 's/.*Build ID: //p')" "$id" "a program says that it is another build"
chmod 755 . && mkdir bin && chmod 755 bin
store=a/spoor-objects/.build-id/${id:0:2}
first=$store/${id:2}.debug
users() { echo "$store/${id:2}.$1.debug"; }
is_stored() # UID
{
	if [ "$1" = 0 ]; then grep -q deep_leaf "$first"; else test -e "$(users "$1")"; fi
}
as() # UID PROGRAM: a program of that user's, by the same path as all, which is gone when its copy is there
{
	cp "$2" bin/run && chown "$1" bin/run
	background setpriv --reuid "$1" --clear-groups ./bin/run 60000
	program=$!
	wait_for 30 is_stored "$1" || diag "no copy of $2 of user $1"
	sleep 1
	kill $program
	wait $program
	rm -f bin/run
}
recorded() # COMMAND... of this shell, while all is recorded
{
	"$SPOOR" record -q -a --store-objects=ephemeral --build-ids "$way" -o a/x.spoor 2>err &
	recorder=$!
	wait_for 20 test -s a/x.spoor
	sleep 1
	"$@"
	sleep 1
	kill -INT $recorder && wait $recorder
}
names() # COMM
{
	"$SPOOR" report --no-pager -i a/x.spoor --comm run --sort sym 2>&1
}
written() # by a user, who runs it
{
	install -m 0777 /dev/null bin/run
	setpriv --reuid 12345 --clear-groups cp evil bin/run
	setpriv --reuid 12345 --clear-groups ./bin/run 1500
	rm -f bin/run
}
both()
{
	as 12345 evil
	as 0 good
}

for way in kernel file; do
	rm -rf a && mkdir a
	recorded both
	ok "root's file has the first place ($way)" grep -q deep_leaf "$first"
	nok "and not the user's" grep -q evil_leaf "$first"
	ok "which has its own" grep -q evil_leaf "$(users 12345)"
	like "$(names)" '% +(\[\.\] )?deep_leaf' "samples have names of root's"
	unlike "$(names)" 'evil_leaf' "and none of the user's"
	rm -rf a && mkdir a
	recorded written
	nok "a file of root's that others may write is not root's ($way)" grep -q evil_leaf "$first"
	rm -rf a && mkdir a
	recorded as 12345 evil
	nok "without root's there is none in the first place ($way)" test -e "$first"
	like "$(names)" '% +(\[\.\] )?evil_leaf' "a user's own program has its names"
done

# A copy of before, when users' files had the first place.
mkdir b && cp -r a/spoor-objects b && mv "b/${store#a/}/${id:2}.12345.debug" "b/${store#a/}/${id:2}.debug"
rm -rf a && mv b a
recorded as 0 good
ok "an earlier copy of a user's file makes way" grep -q deep_leaf "$first"
nok "to root's" grep -q evil_leaf "$first"

# Two users, none of whom is root.
rm -rf a && mkdir a
both_users()
{
	as 12345 evil
	as 23456 other
}
recorded both_users
ok "each user's file is stored" test -e "$(users 12345)" -a -e "$(users 23456)"
unlike "$(names)" '(evil|other)_leaf' "which of both it was is not known: there are no names"
rm -rf a && mkdir a
same_program()
{
	as 12345 evil
	as 23456 evil
}
recorded same_program
like "$(names)" '% +(\[\.\] )?evil_leaf' "two users with the same program have its names"

done_testing
