#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 90s
#
# spoor pack: a recording that another host reads without the programs, libraries and debug files of this one. That
# host is an empty directory that has nothing but spoor and its own libraries.
. "$(dirname "$0")/../lib.sh"
need_command jq chroot unshare perf dwz
[ "$(id -u)" = 0 ] || skip_all "not root: no chroot"

cxx=${CXX:-g++}
mkdir home cage
cat >lib.cc <<'END'
#include <vector>
template <class T> static inline T mix(T a, T b) { for (int i = 0; i < 3; i++) a = a * 31 + b; return a; }
unsigned long churn(const std::vector<unsigned long> &v)
{
	unsigned long s = 0;
	for (auto x : v)
		s += mix(x, s);
	return s;
}
END
cat >main.cc <<'END'
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
unsigned long churn(const std::vector<unsigned long> &);
struct Shape { virtual ~Shape() {} virtual double area(double r) const = 0; };
struct Round : Shape {
	double area(double r) const override
	{
		double s = 0;
		for (int i = 1; i < 400; i++)
			s += r / i;
		return s;
	}
};
static inline int key(const std::string &s) { return (int)s.size() * 31 + s[0]; }
struct Sorter {
	std::vector<std::string> v;
	void run()
	{
		std::sort(v.begin(), v.end(), [](const std::string &a, const std::string &b) {
			int x = key(a), y = key(b);
			return x != y ? x < y : a < b;
		});
	}
};
int main(int argc, char **argv)
{
	std::vector<unsigned long> n(20000, argc);
	volatile double area = 0;
	volatile unsigned long sum = 0;
	Round round;
	Shape *shape = &round;

	while ((double)clock() / CLOCKS_PER_SEC < atof(argv[1])) {
		Sorter s;
		for (int i = 0; i < 3000; i++)
			s.v.push_back(std::to_string(i * 7919 % 100003));
		s.run();
		for (int i = 0; i < 500; i++)
			area = area + shape->area(3);
		sum = sum + churn(n);
	}
}
END
flags=(-g -O2 -fno-omit-frame-pointer)
"$cxx" "${flags[@]}" -shared -fPIC -o home/libown.so lib.cc || bail "no compiler"
"$cxx" "${flags[@]}" -o home/own main.cc home/libown.so || bail "no compiler"
# Debug information that is in a file of its own, beside the program.
"$cxx" "${flags[@]}" -o home/apart main.cc home/libown.so || bail "no compiler"
objcopy --only-keep-debug home/apart home/apart.debug || bail "no objcopy"
objcopy --strip-all --add-gnu-debuglink=home/apart.debug home/apart || bail "no objcopy"
export LD_LIBRARY_PATH=$PWD/home

cp "$(readlink -f "$SPOOR")" cage/spoor
ldd "$SPOOR" | grep -o '/[^ ]*' | while read -r lib; do
	mkdir -p "cage/$(dirname "$lib")" && cp -L "$lib" "cage/$lib"
done
# Its /proc has no process of this one: a program under a sanitizer needs a /proc.
there() # COMMAND... on the other host
{
	mkdir -p cage/proc
	env -u LD_LIBRARY_PATH -u TMPDIR HOME=/nowhere unshare --mount --pid --fork --propagation private \
		sh -c 'mount -t proc proc cage/proc && exec chroot cage /spoor "$@"' - "$@"
}
# What people see of a recording; the file's name and the text of sources are this host's.
looks() # OUT FILE SPOOR...
{
	local out=$1 file=$2
	shift 2
	"$@" report --no-pager -i "$file" 2>&1 | grep -v '^# Recording' >"$out.report"
	"$@" report --no-pager -i "$file" -s comm,dso,sym,srcline 2>&1 | grep -v '^# Recording' >"$out.lines"
	"$@" tree --no-pager -i "$file" 2>&1 | grep -v '^# Recording' >"$out.tree"
	"$@" export -f folded -i "$file" >"$out.folded" 2>&1
	"$@" annotate --json --user --functions 10 -i "$file" 2>&1 |
		jq 'del(.file, .sources) | del(.. | .source?)' >"$out.annotate"
}

for way in own:fp own:dwarf apart:fp apart:dwarf; do
	program=${way%:*} graph=${way#*:}
	exits 0 "$way: recorded" "$SPOOR" record -q --call-graph "$graph" -F 499 -o "$program.spoor" home/"$program" 1
	looks "at_home" "$program.spoor" "$SPOOR"
	like "$(cat at_home.lines)" 'churn .* lib\.cc:[0-9]' "$way: at home it has lines"
	like "$(cat at_home.folded)" 'main;.*Sorter::run.*std::sort' "$way: and inlined callers"
	exits 0 "$way: packed" "$SPOOR" pack "$program.spoor" -o cage/x.spoor
	like "$(cat err)" '^\[ spoor pack: [0-9]+ objects' "$way: which is told"
	looks away x.spoor there
	for look in report lines tree folded annotate; do
		same "$way: $look is the same elsewhere, row by row" at_home.$look away.$look
	done
	exits 0 "$way: it is clean" there verify x.spoor
done

# --- what one can do with it ---------------------------------------------------------------------

there report -i - <cage/x.spoor >piped 2>err
like "$(cat piped)" 'Sorter::run|churn' "from a pipe it has names, too"
cp cage/x.spoor again.spoor
exits 0 "packed once more" "$SPOOR" pack again.spoor
is "$("$SPOOR" info --json again.spoor | jq '.packed_objects')" \
	"$("$SPOOR" info --json cage/x.spoor | jq '.packed_objects')" "nothing is in it twice"
like "$("$SPOOR" info again.spoor)" 'packed +[0-9]+ files' "info says what is packed"

exits 0 "with names alone" "$SPOOR" pack --names apart.spoor -o cage/names.spoor
in_range "$(stat -c %s cage/names.spoor)" 1 "$(($(stat -c %s cage/x.spoor) / 2))" "it is less than half"
"$SPOOR" report --no-inline --no-pager -i apart.spoor -g none 2>&1 | grep -v '^# Recording' >at_home.names
there report --no-inline --no-pager -i names.spoor -g none 2>&1 | grep -v '^# Recording' >away.names
same "names are the same elsewhere, row by row" at_home.names away.names

# Names alone are not put before what this host has, and are not in the way of all.
mv cage/names.spoor names.spoor
looks at_home apart.spoor "$SPOOR"
looks names names.spoor "$SPOOR"
for look in report lines tree folded annotate; do
	same "names alone: $look is the same at home, row by row" at_home.$look names.$look
done
exits 0 "all is packed behind them" "$SPOOR" pack names.spoor -o cage/x.spoor
there report --no-pager -i x.spoor -s comm,dso,sym,srcline 2>&1 | grep -v '^# Recording' >away.lines
same "and has lines elsewhere" at_home.lines away.lines
cp cage/x.spoor again.spoor
exits 0 "then names alone" "$SPOOR" pack --names again.spoor
is "$("$SPOOR" info --json again.spoor | jq '.packed_objects')" \
	"$("$SPOOR" info --json cage/x.spoor | jq '.packed_objects')" "add nothing"

# --- what is not of this host --------------------------------------------------------------------

# Who made a recording chose what its files are called, how long and how old they are: the cache of this host's lines
# is neither filled from them, nor do they get to see it.
mkdir cache
id=$(readelf -n home/own | sed -n 's/.*Build ID: //p')
report() { XDG_CACHE_HOME=$PWD/cache "$SPOOR" report --no-pager -s dso,sym,srcline "$@"; }
exits 0 "packed" "$SPOOR" pack own.spoor -o own.packed.spoor
report -i own.packed.spoor >first 2>err
like "$(cat first)" 'churn .* lib\.cc:[0-9]' "a packed recording has lines"
is "$(find cache -name '*.sym')" "" "and of its files nothing gets into the cache"
report -i own.spoor >second 2>err
ok "of this host's files it does" test -s "cache/spoor/$id.sym"
touch -d '1 hour ago' "cache/spoor/$id.sym"
report -i own.spoor >second 2>err
ok "which is of use to a recording without files" test "cache/spoor/$id.sym" -nt first
touch -d '1 hour ago' "cache/spoor/$id.sym"
report -i own.packed.spoor >third 2>err
nok "and not to one with files" test "cache/spoor/$id.sym" -nt first
same "which looks the same" first third

# --- private files -------------------------------------------------------------------------------

# A recording says which files are packed: those who may not read them may not read the result either.
umask 022
mode() # NAME WANTED FILE: what FILE.spoor packed is allowed
{
	exits 0 "$1: packed" "$SPOOR" pack "$3.spoor" -o mode.spoor
	is "$(stat -c %a mode.spoor)" "$2" "$1: mode $2"
}
chmod 644 own.spoor apart.spoor
mode "files that all may read, in a directory that others may not search" 600 own
chmod 755 .
mode "files that all may read" 644 own
chmod 700 home && mode "a program in a private directory" 600 own
chmod 755 home
chmod 700 home/own && mode "a private program" 600 own
cp own.spoor inplace.spoor
exits 0 "in place" "$SPOOR" pack inplace.spoor
is "$(stat -c %a inplace.spoor)" 600 "it is no longer what all may read"
chmod 750 home/own && chgrp 12345 home/own && mode "a program of a group" 600 own
chmod 711 home/own && chgrp root home/own && mode "one that others run and not read" 600 own
chmod 755 home/own && chmod 640 home/apart.debug && mode "a debug file of the group" 640 apart
chmod 600 home/apart.debug && mode "a private debug file" 600 apart
chmod 644 home/apart.debug

# What dwz moved elsewhere, and a program with data that only says it were that.
cp home/own home/dw1
"$cxx" "${flags[@]}" -O1 -o home/dw2 main.cc home/libown.so || bail "no compiler"
(cd home && dwz -m common -M common dw1 dw2) 2>/dev/null || bail "dwz failed"
exits 0 "after dwz: recorded" "$SPOOR" record -q -g -F 499 -o dw1.spoor home/dw1 0.5
chmod 644 dw1.spoor
"$SPOOR" report --no-pager -s dso,sym,srcline -i dw1.spoor 2>&1 | grep -v '^# Recording' >at_home.dwz
mode "after dwz" 644 dw1
mv mode.spoor cage/dw1.spoor
there report --no-pager -s dso,sym,srcline -i dw1.spoor 2>&1 | grep -v '^# Recording' >away.dwz
like "$(cat at_home.dwz)" 'Sorter::run.*main.cc:[0-9]' "after dwz: it has lines"
same "after dwz: lines are the same elsewhere, row by row" at_home.dwz away.dwz
chmod 600 home/common && mode "a private file of dwz" 600 dw1
head -c 16000000 /dev/urandom >blob
echo '__asm__(".data; .incbin \"blob\"; .text"); int main(void) {}' >secret.c
"${CC:-gcc}" -g -o home/secret secret.c || bail "no compiler"
objcopy -O binary --only-section=.note.gnu.build-id home/secret note
{ printf 'secret\0' && tail -c 20 note; } >names_secret
objcopy --add-section .gnu_debugaltlink=names_secret home/own home/linked || bail "no objcopy"
exits 0 "a program that names another: recorded" "$SPOOR" record -q -F 499 -o linked.spoor home/linked 0.5
chmod 644 linked.spoor
mode "a program that names another" 644 linked
in_range "$(stat -c %s mode.spoor)" 1 12000000 "whose data is not packed"

# Two programs share a file of dwz: random bytes in a section that is packed do not become less.
objcopy --add-section .debug_cu_index=blob home/common || bail "no objcopy"
exits 0 "two programs after dwz: recorded" "$SPOOR" record -q -F 499 -o two.spoor sh -c 'home/dw1 0.3; home/dw2 0.3'
exits 0 "and packed" "$SPOOR" pack two.spoor
in_range "$(stat -c %s two.spoor)" 16000000 30000000 "with one file that both share"

# --- recorded and packed -------------------------------------------------------------------------

exits 0 "spoor record --pack" "$SPOOR" record -q --pack -F 499 -o cage/both.spoor home/own 0.5
there report --no-pager -i both.spoor -s dso,sym,srcline >both 2>err
like "$(cat both)" 'churn .* lib\.cc:[0-9]' "has names and lines elsewhere"
exits 3 "the status is the command's" "$SPOOR" record -q --pack -o own3.spoor sh -c 'exit 3'
exits 0 "it is packed then, too" "$SPOOR" verify own3.spoor
exits 2 "what goes to a pipe is not packed" "$SPOOR" record --pack -o - true
mkfifo pipe
cat pipe >/dev/null &
exits 2 "nor what goes to a FIFO" "$SPOOR" record --pack -o pipe true
like "$(cat err)" 'pipe: is not a regular file: --pack' "which is said"

# --- in place ------------------------------------------------------------------------------------

# A recorder that is at work would go on with a file that has no name any more.
"$SPOOR" record -q -a -F 499 --block-age 50ms -o busy.spoor 2>/dev/null &
recorder=$!
has_samples() { [ "$("$SPOOR" info --json busy.spoor 2>/dev/null | jq '.samples > 0')" = true ]; }
wait_for 20 has_samples
exits 1 "what is being written is not packed in place" "$SPOOR" pack busy.spoor
like "$(cat err)" 'busy\.spoor: is being written: pack it when its recorder has ended' "which is said"
exits 0 "but elsewhere, as far as it is there" "$SPOOR" pack busy.spoor -o part.spoor
kill -INT $recorder
wait $recorder
is $? 130 "and the recorder ends in order"
exits 0 "with its file" "$SPOOR" verify busy.spoor
cp busy.spoor 20261128T030405.678901Z-BOOT-000017.spoor.active
exits 1 "nor is the segment of a daemon" "$SPOOR" pack 20261128T030405.678901Z-BOOT-000017.spoor.active
chown 65534:65534 busy.spoor
exits 0 "root packs what is another user's" "$SPOOR" pack busy.spoor
# Of all that ran here, some may be private.
cp own.spoor theirs.spoor && chown 65534:65534 theirs.spoor
exits 0 "also one whose programs all may read" "$SPOOR" pack theirs.spoor
is "$(stat -c %u:%g theirs.spoor)" 65534:65534 "it stays that user's"

perf_record -q -g -F 499 -o perf.data -- home/own 0.5
exits 2 "a perf.data is not replaced" "$SPOOR" pack perf.data
exits 0 "it becomes a recording" "$SPOOR" pack perf.data -o cage/perf.spoor
"$SPOOR" report --no-pager -i perf.data -s dso,sym,srcline --user 2>&1 | grep -v '^#' >at_home.perf
there report --no-pager -i perf.spoor -s dso,sym,srcline --user 2>&1 | grep -v '^#' >away.perf
like "$(cat away.perf)" 'churn .* lib\.cc:[0-9]' "with names and lines elsewhere"
same "as at home" at_home.perf away.perf

# --- what is not there ---------------------------------------------------------------------------

rm home/own home/libown.so
exits 0 "what is gone cannot be packed" "$SPOOR" pack own.spoor -o gone.spoor
like "$(cat err)" '/own: is not here, or is another build: it is not packed' "and is told"
exits 2 "a directory is not packed in place" "$SPOOR" pack home
like "$(cat err)" '-o FILE says where a window of an archive goes' "which is said"
exits 2 "standard input is read but once" "$SPOOR" pack -
exits 1 "what is no recording is none" "$SPOOR" pack main.cc -o none.spoor
nok "and leaves nothing" test -e none.spoor
done_testing
