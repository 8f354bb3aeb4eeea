#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# --debuginfod fetches what is missing; nothing else does. Against Debian's debuginfod, and against servers
# that are down, silent, wrong or too generous, in a network namespace where nobody else is.
# shellcheck disable=SC2015,SC2016
. "$(dirname "$0")/../lib.sh"
need_command debuginfod unshare ip python3 jq strip objcopy dwz script
need_record_all
if [ -z "${DEBUGINFOD_TEST_ALONE-}" ]; then
	user=
	[ "$(id -u)" -eq 0 ] || user=r
	unshare -"${user}"n true 2>/dev/null || skip_all "no network namespace can be made here"
	cd / && rm -rf "$TMP" # that of this start of the test
	BUILD=$BUILD DEBUGINFOD_TEST_ALONE=1 exec unshare -"${user}"n bash "$TOP/tests/record/debuginfod.t"
fi
ip link set lo up || skip_all "the loopback device cannot be brought up"
unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH DEBUGINFOD_PROGRESS DEBUGINFOD_TIMEOUT DEBUGINFOD_MAXTIME DEBUGINFOD_MAXSIZE
CACHE=$XDG_CACHE_HOME/debuginfod_client

cat >c.c <<'C'
#include <stdio.h>
static inline unsigned turn(unsigned x) { for (int i = 0; i < 60; i++) x = x * 2654435761u ^ x >> 7; return x; }
__attribute__((noinline, noclone)) static unsigned work(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += turn(i); return s; }
int main(void) { unsigned s = 0; for (int i = 0; i < 40; i++) s += work(60000); printf("%u\n", s); }
C
build() # DIRECTORY [FLAG...]: DIRECTORY/{whole,prog,debug}, and its build-id in $id
{
	local dir=$1
	shift
	mkdir -p "$dir" && "${CC:-gcc}" -O2 -g -fno-omit-frame-pointer -Wl,--build-id "$@" -o "$dir/whole" c.c &&
		objcopy --only-keep-debug "$dir/whole" "$dir/debug" && strip -o "$dir/prog" "$dir/whole" || bail "no program"
	id=$(readelf -n "$dir/whole" | sed -n 's/.*Build ID: //p')
}
build other -DOTHER -O1
build mine
mkdir served && cp mine/debug served/prog.debug
cp mine/prog prog
exits 0 "a stripped program" "$SPOOR" record -o x.spoor -- ./prog

# What the report calls most of it, and where that is.
hottest() { "$SPOOR" report --json --comm prog "$@" -i x.spoor 2>err | jq -r '.rows[0] | "\(.dso) \(.symbol)"'; }
serve() # PORT DIRECTORY
{
	background debuginfod -d :memory: -p "$1" -F "$2" -t 0 -g 0 >"served.$1" 2>&1
	wait_for 30 scanned "$1" "$(find "$2" -type f | wc -l)" || bail "debuginfod: $(cat "served.$1")"
}
# PORT FILES: between the walk and the work that it has found nobody is busy either.
scanned() { python3 -c "
import sys, urllib.request as u
m = u.urlopen('http://127.0.0.1:$1/metrics').read().decode()
sys.exit('thread_work_total{role=\"scan\"} $2\n' not in m or 'thread_busy{role=\"scan\"} 0\n' not in m)"; }
serve 18002 served

# --- nobody asks unasked --------------------------------------------------------------------

export DEBUGINFOD_URLS=http://127.0.0.1:18002
exits 159 "a command that asks for a socket is killed, to begin with" bash -c '"$0" python3 -c "import socket; socket.socket()"; exit' "$FIXTURES/nosocket"
for command in "report" "report --sort srcline" "report --children" "export -f folded"; do
	# shellcheck disable=SC2086
	exits 0 "no socket without --debuginfod: $command" "$FIXTURES/nosocket" "$SPOOR" $command -i x.spoor
done
exits 0 "nor from symbolize" "$FIXTURES/nosocket" "$SPOOR" symbolize --obj prog 1139
like "$(hottest)" "^prog prog\[0x[0-9a-f]+\]$" "so there are no names"
ok "and nothing is kept" [ ! -e "$CACHE" ]
unlike "$(readelf -d "$SPOOR")" 'NEEDED.*(debuginfod|curl)' "libdebuginfod is not linked"
unlike "$(nm -D --undefined-only "$SPOOR")" ' dwfl_' "nor is anything of libdw that would load it"
"$FIXTURES/nosocket" "$SPOOR" report --debuginfod -i x.spoor >out 2>err
like "$(cat err)" 'the process that asks the servers ended' "with --debuginfod one is asked for, and its loss is told"
like "$(cat out)" 'No names: .* are in functions without one' "and the report goes on"
rm -rf "$CACHE"

# --- what is missing is fetched --------------------------------------------------------------

like "$("$SPOOR" report -i x.spoor)" 'try --debuginfod \(build-id' "a report without names says what would help"
is "$(hottest --debuginfod)" "prog work" "symbols of a stripped program"
is "$(cat err)" "" "without a word"
is "$(ls "$CACHE/$id")" "debuginfo" "are kept by debuginfod's client"
is "$(hottest)" "prog work" "where a report without the option finds them"
is "$("$SPOOR" report -s sym,srcline --json -i x.spoor | jq -r '[.rows[] | select(.symbol == "work")][0].srcfile')" \
	"$TMP/c.c" "with lines"
like "$("$SPOOR" export -f folded -i x.spoor)" ';work;turn [0-9]' "and inlined functions"
rm -r "$CACHE"
rm prog
is "$(hottest)" "prog [unknown]" "a program that is gone has no names"
is "$(hottest --debuginfod)" "prog work" "but its symbols can be fetched"
is "$(ls "$CACHE/$id")" "debuginfo" "and no more is"
rm -r "$CACHE"
cp other/prog prog
is "$(hottest)" "prog [build-id mismatch]" "another build is in its place"
is "$(hottest --debuginfod)" "prog work" "those of the recorded one are fetched"
rm -r "$CACHE"
cp mine/prog prog
"$SPOOR" symbolize --debuginfod --obj prog "$(nm mine/whole | sed -n 's/ t work$//p')" >out 2>err
like "$(cat out)" "^work	$TMP/c.c:3" "symbolize fetches, too"
rm -rf "$CACHE"

# A file without a build-id: nobody can be asked for it.
mkdir none && "${CC:-gcc}" -O2 -fno-omit-frame-pointer -Wl,--build-id=none -s -o none/prog c.c
"$SPOOR" record -o none.spoor -- ./none/prog >/dev/null 2>&1
"$SPOOR" report --debuginfod -i none.spoor >/dev/null 2>err
is "$(find "$CACHE" -type f ! -name '*_s' 2>/dev/null)" "" "what has no build-id is not asked for"

# Where only the program is served, it is fetched: its own symbols are better than none.
mkdir -p programs && cp mine/whole programs/
serve 18003 programs
rm prog
is "$(DEBUGINFOD_URLS=http://127.0.0.1:18003 hottest --debuginfod)" "prog work" \
	"from a server that has the whole program"
rm -r "$CACHE"

# Copied stacks are unwound by the program itself, which is fetched.
cp mine/prog prog
exits 0 "a recording with copied stacks" "$SPOOR" record --call-graph dwarf -o d.spoor -- ./prog
rm prog
unlike "$("$SPOOR" export -f folded -i d.spoor 2>/dev/null)" ';main;' "without the program nobody knows who called"
like "$(DEBUGINFOD_URLS=http://127.0.0.1:18003 "$SPOOR" export -f folded --debuginfod -i d.spoor 2>/dev/null)" \
	'^prog;.*main;work;turn [0-9]' "with it, who did"
rm -r "$CACHE"

# What dwz(1) moved elsewhere is one file more.
build two -DTWO
cp -r mine pair && cp two/debug pair/debug2
dwz -m pair/common -M common pair/debug pair/debug2 2>/dev/null || bail "dwz failed"
mkdir dwz && cp pair/debug dwz/a.debug && cp pair/common dwz/
serve 18004 dwz
cp mine/prog prog
is "$(DEBUGINFOD_URLS=http://127.0.0.1:18004 "$SPOOR" report --debuginfod -s sym,srcline --json -i x.spoor 2>err |
	jq -r '[.rows[] | select(.symbol == "work")][0].srcfile')" "$TMP/c.c" "lines of a file that dwz has parted"
is "$(find "$CACHE" -name debuginfo -size +0 | wc -l)" 2 "both parts are fetched"
rm -r "$CACHE"

# The kernel's, too, where samples of it have lines.
echo 'unsigned start_kernel(unsigned x) { for (int i = 0; i < 9; i++) x = x * 3 ^ x >> 7; return x; }' >kernel.c
mkdir kernel && "${CC:-gcc}" -O2 -g -ffreestanding -nostdlib -static -no-pie -fno-pie -mcmodel=kernel -Wl,--build-id \
	-Wl,-Ttext=0xffffffff81000000,-e,start_kernel,--defsym=_text=0xffffffff81000000 -o kernel/vmlinux kernel.c ||
	bail "no vmlinux"
serve 18005 kernel
echo ffffffff81000000 >addresses
echo start_kernel ffffffff81000000 ffffffff81000010 | python3 "$TOP/tests/oracles/forge.py" kernel k.spoor \
	"$(readelf -n kernel/vmlinux | sed -n 's/.*Build ID: //p')" 6.1.0-spoor 2a000000 ffffffff81000000 addresses
kernel() { DEBUGINFOD_URLS=http://127.0.0.1:18005 "$SPOOR" report --debuginfod --json -i k.spoor "$@" 2>err | jq -r '.rows[0].srcfile'; }
is "$(kernel)" null "a report of names needs no vmlinux"
is "$(find "$CACHE" -name debuginfo 2>/dev/null)" "" "and fetches none"
is "$(kernel -s sym,srcline)" "$TMP/kernel.c" "lines of the kernel"
rm -rf "$CACHE"
instructions() { DEBUGINFOD_URLS=http://127.0.0.1:$kernel_port "$SPOOR" annotate --json -i k.spoor "$@" 2>err |
	jq -r '.functions[0] | "\(.instructions | length > 3) \([.instructions[].samples] | add) \(.no_instructions)"'; }
kernel_port=0
like "$(instructions)" '^false .* vmlinux' "its instructions are not here"
kernel_port=18005
is "$(instructions --debuginfod)" "true 1 null" "and are fetched, too"
is "$(find "$CACHE" -type f -size +4 -printf '%f ')" "debuginfo " "by one file"
is "$(instructions)" "true 1 null" "which then is here"
strip -o kernel/stripped kernel/vmlinux && objcopy --only-keep-debug kernel/vmlinux kernel/debug && rm -rf kernel/vmlinux "$CACHE"
serve 18015 kernel
kernel_port=18015
is "$(instructions --debuginfod)" "true 1 null" "where lines and code are parted, both"
rm -rf "$CACHE"

# --- what a person sees ----------------------------------------------------------------------

DEBUGINFOD_URLS='' exits 1 "without servers" "$SPOOR" report --debuginfod -i x.spoor
like "$(cat "$TMP/err")" '--debuginfod: DEBUGINFOD_URLS is not set' "is an error that says so"
DEBUGINFOD_URLS='' exits 1 "of symbolize, too" "$SPOOR" symbolize --debuginfod --obj prog 1139
exits 2 "records as they are have no names to fetch" "$SPOOR" export -f perf-data --debuginfod -i x.spoor
screen=$(script -qec "stty cols 60; SPOOR_PAGER=cat \"$SPOOR\" report --debuginfod -i x.spoor" /dev/null </dev/null)
like "$screen" 'debuginfod: prog, debug information' "a terminal is told what is fetched"
rm -r "$CACHE"
"$SPOOR" report --debuginfod -i x.spoor >out 2>err
is "$(cat err)" "" "a pipe is not"
rm -r "$CACHE"

# --- servers that go wrong --------------------------------------------------------------------

port=18100
wrong() # WAY [FILE]: a server of its own
{
	port=$((port + 1))
	background python3 "$TOP/tests/oracles/debuginfod_server.py" "$port" "log.$port" "$@"
	wait_for 20 test -e "log.$port" || bail "no server"
	DEBUGINFOD_URLS=http://127.0.0.1:$port
	wait_for 20 bash -c ": </dev/tcp/127.0.0.1/$port"
	: >"log.$port"
}
asks() # WAY REGEX NAME: the report comes, without names, and its one warning is like this
{
	local begin=$SECONDS
	exits 0 "$3: the report comes" "$SPOOR" report --debuginfod -i x.spoor
	like "$(cat "$TMP/err")" "$2" "told once"
	is "$(grep -c debuginfod "$TMP/err")" 1 "and no more"
	in_range $((SECONDS - begin)) 0 30 "without waiting for long"
	is "$(find "$CACHE" -type f ! -name '*_s' 2>/dev/null)" "" "and nothing is left in the cache"
	rm -rf "$CACHE"
}
DEBUGINFOD_URLS=http://127.0.0.1:18099
asks down 'prog: the servers cannot be asked: nothing more is fetched: Connection refused' "a server that is down"
export DEBUGINFOD_TIMEOUT=2
wrong mute
asks mute 'prog: the servers took too long: nothing more is fetched$' "one that says nothing"
wrong trickle
asks trickle 'prog: the servers took too long: nothing more is fetched$' "one that says little"
wrong huge
asks huge "prog: the server's file is too large$" "one that sends 10 GB"
export DEBUGINFOD_MAXSIZE=20000000
wrong endless
asks endless "prog: the server's file is too large$" "one that sends without end"
wrong bomb
asks bomb "prog: the server's file is too large$" "one whose file inflates"
unset DEBUGINFOD_MAXSIZE
wrong lie other/debug
asks lie "prog: the server's file is of another build, and was removed$" "one that lies"
wrong lie c.c
asks lie "prog: the server's file is of another build, and was removed$" "one that sends no ELF file"
wrong broken mine/debug
"$SPOOR" report --debuginfod -i x.spoor >out 2>err
like "$(cat out)" 'No names: .* are in functions without one' "one that breaks off gives no names"
rm -rf "$CACHE"

# A damaged file of the right build costs what a damaged file costs.
python3 - mine/debug damaged <<'PY'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
at = int.from_bytes(b[40:48], "little")
b[at:] = b"\xff" * (len(b) - at)
open(sys.argv[2], "wb").write(b)
PY
wrong lie damaged
exits 0 "a damaged file of that build: the report comes" "$SPOOR" report --debuginfod -i x.spoor
rm -rf "$CACHE"

# Ctrl-C ends it, at any time, and leaves nothing behind.
export DEBUGINFOD_TIMEOUT=60
wrong trickle
env --default-signal=INT setsid "$SPOOR" report --debuginfod -i x.spoor >out 2>err &
pid=$!
wait_for 20 test -s "log.$port" || fail "the server is asked"
sleep 0.5
kill -INT -- "-$pid"
wait "$pid"
is "$?" 130 "Ctrl-C ends it"
nobody() { ! pgrep --session "$pid"; }
ok "and the process that asks" wait_for 20 nobody
is "$(find "$CACHE" -type f ! -name '*_s')" "" "which leaves nothing half fetched, nor a note that there is none"
done_testing
