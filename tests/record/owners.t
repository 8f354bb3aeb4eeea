#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A build-id is what its file says: of two files with one build-id, one of them another user's, each names its own
# samples, and what is kept of debug information is never that user's.
. "$(dirname "$0")/../lib.sh"
need_command gcc jq objcopy strip
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "files of other users: this needs root"
export XDG_CACHE_HOME=$TMP/cache && mkdir cache
chmod 755 "$TMP"

# The same code at the same addresses, whose functions are called otherwise; equal in size.
build() # NAME OUTER INNER OPTION...
{
	local name=$1 outer=$2 inner=$3
	shift 3
	cat >source.c <<C
volatile char pages[200][4096] __attribute__((aligned(4096)));
static inline void $inner(int i) { pages[i][0] = 1; }
__attribute__((noinline)) void $outer(void) { for (int i = 0; i < 200; i++) $inner(i); }
int main(void) { $outer(); return 0; }
C
	gcc -O1 -g -fno-omit-frame-pointer -no-pie -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 "$@" -o "$name" source.c ||
		bail "gcc failed"
}
build good good_outer good_inner
build evil evil_outer evil_inner
touch -r good evil
is "$(stat -c %s evil)" "$(stat -c %s good)" "both files are equally long"
chown 64321 evil
record() { exits 0 "recorded: $2" "$SPOOR" record -q -e minor-faults:u -c 1 -o "$1" -- sh -c "$2"; }
names() { awk '{ sub(/ [0-9]+$/, "") } /_outer/' "$1.folded" | tr ';' '\n' | grep '^\(good\|evil\)' | sort -u | tr '\n' ' '; }
folded() # NAME RECORDING [OPTION...]
{
	"$SPOOR" export -f folded -i "$2" -o "$1.folded" "${@:3}" 2>"$1.err"
}

# --- same_buildid -----------------------------------------------------------------------------

for order in "./evil; ./good" "./good; ./evil"; do
	record both.spoor "$order"
	"$SPOOR" report --json -s comm,sym -i both.spoor >both.json 2>err
	of() { jq -r --arg c "$1" '[.rows[] | select(.comm == $c and (.symbol // "" | test("_outer|_inner"))) | .symbol] | unique | join(" ")' both.json; }
	is "$(of good)" good_outer "same_buildid: $order: root's program has the names of its file"
	is "$(of evil)" evil_outer "same_buildid: $order: the other user's has those of his"
done
# The file of one of the two is gone: the other user's does not stand for it.
record both.spoor "./evil; ./good"
mv good kept
"$SPOOR" report --json -s comm,sym,dso -i both.spoor >both.json 2>err
is "$(of good)" "" "same_buildid: root's program is gone: another user's file names nothing of it"
is "$(of evil)" evil_outer "same_buildid: and he has his own names"
mv kept good
record both.spoor "./good; ./evil"
mv evil kept
"$SPOOR" report --json -s comm,sym -i both.spoor >both.json 2>err
is "$(of evil)" good_outer "same_buildid: the user's is gone: root's file of that build may name it"
mv kept evil

# --- cache_poison -----------------------------------------------------------------------------

record evil.spoor ./evil
record good.spoor ./good
folded first evil.spoor
is "$(names first)" "evil evil_inner evil_outer " "cache_poison: the user's file names his program, inlined calls too"
is "$(find cache -name '0123456789abcdef*' | wc -l)" 0 "cache_poison: and nothing of it is kept"
folded second good.spoor
is "$(names second)" "good good_inner good_outer " "cache_poison: root's program has its own"
is "$(find cache -name '0123456789abcdef0123456789abcdef01234567.sym' | wc -l)" 1 "cache_poison: that is kept"
folded third good.spoor
is "$(names third)" "good good_inner good_outer " "cache_poison: and found again"
folded fourth evil.spoor
is "$(names fourth)" "evil evil_inner evil_outer " "cache_poison: it says nothing of the user's file"

# --- files beside ---------------------------------------------------------------------------

# Debug information of root's program that another user put there: by .gnu_debuglink, and split off.
objcopy --only-keep-debug evil evil.debug
objcopy --strip-debug --strip-unneeded good bare && objcopy --add-gnu-debuglink=evil.debug bare
record bare.spoor ./bare
chown 64321 evil.debug
folded link bare.spoor
is "$(names link)" "" "a debug file of another user names nothing of root's program"
chown 0 evil.debug
folded link bare.spoor
is "$(names link)" "evil_inner evil_outer " "one of root's does"
chown 64321 bare evil.debug
folded link bare.spoor
is "$(names link)" "evil_inner evil_outer " "and one of the program's owner"
build split split_outer split_inner -gsplit-dwarf
record split.spoor ./split
chown 64321 ./*.dwo
folded split split.spoor
is "$(names split)$(tr ';' '\n' <split.folded | grep -c '^split_inner')" 0 "a .dwo of another user names nothing of root's program"
chown 0 ./*.dwo
folded split split.spoor
in_range "$(tr ';' '\n' <split.folded | grep -c '^split_inner')" 1 100 "one of root's does"

done_testing
