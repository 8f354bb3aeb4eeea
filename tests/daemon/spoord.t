#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# The service by itself: it records, rotates, reloads, captures, survives a kill and stops clean.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
[ -x "$spoord" ] || skip_all "there is no spoord"
"$SPOOR" record -a --duration 0.1s -o probe.spoor >/dev/null 2>&1 ||
	skip_all "this user may not sample all CPUs"

archive=$TMP/archive
mkdir -m 750 "$archive"

config() # LINE...: the base of all configurations here, and what else is said
{
	{
		echo "archive_directory = $archive"
		echo "control_socket = $socket"
		echo "max_use = 64M"
		echo "keep_free = 1"
		echo "block_age = 1s"
		echo "cpu_budget = 0"
		printf '%s\n' "$@"
	} >spoord.conf
}

# call METHOD [PARAMETERS [CLIENTS]]: by one client, or so many at once. Prints the parameters of each
# reply, as JSON; fails with the error's name.
call()
{
	python3 - "$socket" "$1" "${2:-{\}}" "${3:-1}" <<'EOF'
import json, socket, sys
path, method, parameters, count = sys.argv[1:]
clients = [socket.socket(socket.AF_UNIX) for _ in range(int(count))]
for s in clients:
    s.settimeout(30)
    s.connect(path)
for s in clients:
    s.sendall(json.dumps({"method": "io.spoor.Recorder." + method,
                          "parameters": json.loads(parameters)}).encode() + b"\0")
for s in clients:
    data = b""
    while not data.endswith(b"\0"):
        more = s.recv(65536)
        if not more:
            sys.exit("closed")
        data += more
    reply = json.loads(data[:-1])
    print(json.dumps(reply.get("parameters", {})))
    if "error" in reply:
        sys.exit(reply["error"])
EOF
}

segments() # PATTERN
{
	find "$archive" -maxdepth 1 -name "$1" | wc -l
}

at_least() # COUNT PATTERN
{
	[ "$(segments "$2")" -ge "$1" ]
}

verify_all() # the archive's files: each is readable; only an open block may be missing
{
	local f s
	for f in "$archive"/*.spoor; do
		"$SPOOR" verify "$f" >verify.out 2>&1
		s=$?
		[ $s -eq 0 ] || { echo "$f: exit $s"; cat verify.out; return 1; }
	done
}

# A load that is there all the time.
background "$FIXTURES/burn" 3600000 >/dev/null 2>&1
burn=$!

# --- command line -----------------------------------------------------------------------------
config 'frequency = 199'
exits 0 "-n takes a good configuration" "$spoord" -n -c spoord.conf
cp out canonical
exits 0 "and its canonical form" "$spoord" -n -c canonical
ok "which is its own canonical form" cmp out canonical
echo 'frequency = 0' >bad.conf
exits 1 "-n refuses a bad one" "$spoord" -n -c bad.conf
like "$(cat err)" 'bad\.conf:1: ' "and names file and line"
printf '%s\n' 'frequency = 0' 'max_use = 1G' 'max_use = 2G' colour >bad.conf
exits 1 "-n of several errors" "$spoord" -n -c bad.conf
is "$(sed 's/^spoord: bad.conf:\([0-9]*\): .*/\1/' err | paste -sd,)" 1,3,4 "lists every one"
exits 78 "no service with a bad configuration" "$spoord" -c bad.conf
exits 2 "wrong usage" "$spoord" --nonsense
is "$(cat err)" "spoord: unknown option '--nonsense' (spoord --help)" "says so, in one line"
exits 2 "a mistyped option" "$spoord" --confg spoord.conf
like "$(cat err)" "'--confg'; did you mean --config\?" "suggests"
exits 2 "an option without its argument" "$spoord" -c
like "$(cat err)" 'spoord: -c needs an argument' "says so"
exits 2 "no arguments" "$spoord" -n -c spoord.conf more
exits 0 "--version" "$spoord" --version
exits 0 "--help" "$spoord" --help
is "$(grep -c '^  [a-z_]* = .*  [a-z]' out)" "$("$spoord" -n | grep -c .)" "which tells every key of the configuration"

# --- recording --------------------------------------------------------------------------------
start
ok "it starts" wait_for 20 ctl status
ok "samples arrive" wait_for 20 samples_over 100
is "$(status frequency_hz)" 199 "at the configured frequency"
nok "a second one on the same archive is refused" "$spoord" -c spoord.conf
ok "sync" call Sync
active=$(find "$archive" -name '*.spoor.active')
# On a busy machine the load has its first sample late.
has_load() { call Sync && "$SPOOR" report "$active" 2>/dev/null | grep burn; }
ok "the active segment is readable, and has the load" wait_for 30 has_load

# Each is answered once its data are on disk; but sixty at once are not sixty blocks.
info() # FILTER
{
	"$SPOOR" info --json "$active" 2>/dev/null | jq "$1"
}
blocks=$(info .blocks.RECORDS.blocks)
before=$(status samples)
ok "sixty who sync at once" call Sync '{}' 60
in_range "$(info .samples)" "$before" 1e9 "what was sampled before is in the file"
in_range $(($(info .blocks.RECORDS.blocks) - blocks)) 1 30 "and their blocks are few"

# --- rotation ---------------------------------------------------------------------------------
before=$(status samples)
ok "rotate" call Rotate
is "$(segments '*.spoor')" 1 "one sealed segment"
is "$(segments '*.spoor.active')" 1 "one active segment"
ok "recording goes on" wait_for 20 samples_over "$before"
ok "and the sealed segment is clean" verify_all

config 'frequency = 199' 'segment_size = 256K' 'segment_age = 1s'
kill -HUP "$pid"
ok "segments rotate by age" wait_for 20 at_least 4 '*.spoor'

# --- reload -----------------------------------------------------------------------------------
config 'frequency = 997' 'segment_age = 1h'
ok "reload of a frequency" call Reload
sleep 1.5
is "$(status frequency_hz)" 997 "is in force at once"
config 'frequency = nonsense'
nok "reload of a bad configuration is refused" call Reload
like "$(call Reload 2>/dev/null)" 'spoord\.conf:7' "with file and line"
is "$(status wanted_frequency_hz)" 997 "and the old one stays"
config 'frequency = 997' 'events = no-such-event'
nok "reload of an event that is none is refused" call Reload
before=$(status samples)
ok "and recording goes on" wait_for 20 samples_over "$before"
config 'frequency = 997' 'control_group = nobody-has-it'
sed -i "s,^archive_directory.*,archive_directory = $TMP/other," spoord.conf
ok "reload of what needs a restart" call Reload
ok "and once more" call Reload
is "$(grep -c 'asks for a restart: archive_directory, control_group$' log)" 2 "is told each time"
is "$(status archive_directory)" "$archive" "and the status tells what is in force"
unlike "$(cat log)" 'nobody-has-it' "nor is anything else said of it"
config 'frequency = 499' 'events = cpu-clock' 'call_graph = none'
ok "reload of events" call Reload
is "$(grep -c 'asks for a restart' log)" 2 "what is in force needs none"
before=$(status samples)
ok "recording goes on with them" wait_for 20 samples_over "$before"
is "$(status frequency_hz)" 499 "at their frequency"
is "$(segments '*.spoor.active')" 1 "in one active segment"

# Stacks that are unwound while they are recorded.
is "$(status 'stacks | length') $(status stack_bytes)" "0 0" "no stack is copied"
config 'frequency = 499' 'events = cpu-clock' 'call_graph = auto'
ok "reload of call graphs" call Reload
whole() { [ "$(status stacks.end)" -gt 20 ] 2>/dev/null; }
ok "stacks are unwound" wait_for 30 whole || diag "$(status stacks)"
like "$(status stack_bytes)" '^(4096|8192|16384|32768|6[0-9]{4})$' "of copies of a size"

# Where the kernel is not asked for build-ids, files are, and what is mapped from now on has them.
config 'frequency = 499' 'build_ids = file'
ok "reload of who tells build-ids" call Reload
# The one before may still be on its way to its end.
active=$(find "$archive" -name '*.spoor.active' | sort | tail -n 1)
cp "$FIXTURES/burn" new
./new 1000 >/dev/null
ok "sync" call Sync
like "$("$SPOOR" dump "$active" 2>/dev/null | grep -a 'MMAP2 .*/new"')" ' ino=[1-9]' \
	"the kernel tells the inode of a program begun after it"
in_range "$(info .build_ids)" 1 1e6 "and its file the build-id"

# --- captures ---------------------------------------------------------------------------------
cpu_ticks() # PID: that it has run, in hundredths of a second
{
	cut -d ' ' -f 14 "/proc/$1/stat"
}
ticks=$(cpu_ticks "$burn")
capture=$(call Capture "{\"duration_s\": 2, \"frequency_hz\": 997, \"pids\": [$burn]}")
file=$(jq -r .capture.file <<<"$capture")
like "$file" '^captures/' "a capture lands in captures/"
ok "and is clean" "$SPOOR" verify "$archive/$file"
# The process runs before and after the two seconds, too; and a busy machine gives it less.
ticks=$(($(cpu_ticks "$burn") - ticks))
in_range "$(jq .capture.samples <<<"$capture")" 50 $((ticks * 997 * 105 / 10000 + 20)) \
	"with the samples of its process"
"$SPOOR" info --json "$archive/$file" >info.json 2>/dev/null
is "$(jq .samples info.json)" "$(jq .capture.samples <<<"$capture")" "the reply counts what is in the file"
nok "a capture of a process that is none" call Capture '{"duration_s": 1, "pids": [4194303]}'
before=$(status samples)
ok "the base stream goes on" wait_for 20 samples_over "$before"

# --- ends -------------------------------------------------------------------------------------
kill -KILL "$pid"
wait "$pid" 2>/dev/null
active=$(find "$archive" -maxdepth 1 -name '*.spoor.active')
isnt "$active" "" "kill -9 leaves the active segment"
exits 0 "which reads but for the open block" "$SPOOR" report "$active"
start
ok "it starts again" wait_for 20 ctl status
is "$(segments '*.spoor.active')" 1 "the leftover was sealed"
ok "as it was" test -e "${active%.active}"
ok "samples arrive" wait_for 20 samples_over 100

call Capture '{"duration_s": 50}' >last.json &
client=$!
captures()
{
	[ "$(status captures)" = "$1" ]
}
ok "a capture runs" wait_for 20 captures 1
sleep 1
stop
is $? 0 "SIGTERM: exit 0"
ok "who waits for a capture is answered" wait "$client"
in_range "$(jq .capture.samples last.json)" 10 1e9 "with what it has"
is "$(jq .capture.running last.json)" false "which is final"
"$SPOOR" info --json "$archive/$(jq -r .capture.file last.json)" >info.json 2>/dev/null
is "$(jq .samples info.json)" "$(jq .capture.samples last.json)" "and is in the file"
is "$(segments '*.spoor.active')" 0 "nothing is left active"
nok "nor the socket" test -e "$socket"
"$SPOOR" verify "$(find "$archive" -maxdepth 1 -name '*.spoor' | sort | tail -n 1)" >/dev/null 2>&1
is $? 0 "the last segment is clean"

# --- no room ----------------------------------------------------------------------------------
rm -f "$archive"/*.spoor "$archive"/captures/*
config 'frequency = 199'
sed -i 's/^max_use.*/max_use = 64K/' spoord.conf
: >log
head -c 60000 /dev/zero >"$archive/foreign"
outage()
{
	grep -c "$1" log
}
start
ok "it starts in a full archive" wait_for 20 suspended true
sleep 3
rm "$archive/foreign"
sed -i 's/^max_use.*/max_use = 32M/' spoord.conf
kill -HUP "$pid"
ok "and records when there is room" wait_for 70 suspended false
head -c 40000000 /dev/zero >"$archive/foreign"
ok "a full archive suspends the writing" wait_for 90 suspended true
sleep 2.5
is "$(outage 'writing is suspended, samples are lost: .*max_use = 33554432 bytes.*raise max_use')" 1 \
	"which is said once, with the cause and what to do"
rm "$archive/foreign"
ok "it is resumed" wait_for 90 suspended false
sleep 1.2
is "$(outage 'writing is resumed')" 1 "which is said, too"
stop
unlike "$(cat log)" 'Sanitizer|Assertion' "no complaint of the program about itself"
done_testing
