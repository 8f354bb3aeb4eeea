#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# spoor top: of a recording of its own, of a file that grows, of a daemon's archive; its keys and sizes in a
# terminal (tmux), which is as it was after every end; lines in a pipe; names that would move the cursor do not.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command tmux jq
export TMUX_TMPDIR=$TMP TMPDIR=$TMP
at_exit 'tmux -L top kill-server 2>/dev/null'

left() # of recorders and their files
{
	find "$TMP" -maxdepth 1 \( -name 'spoor-top.*' -o -name 'spoor.??????' \)
	pgrep -af "^$SPOOR top .*$FIXTURES/shares"
}
nothing_left() { [ -z "$(left)" ]; }

# --- lines -------------------------------------------------------------------------------------
exits 0 "a command, by functions" "$SPOOR" top -n 4 -d 1 -- "$FIXTURES/shares" 30
like "$(cat out)" 'shares +\[\.\] share_slower' "has its functions"
is "$(grep -c '^spoor top' out)" 4 "-n 4 are four looks"
is "$(grep -c $'\033' out)" 0 "a pipe gets no escape sequence"
is "$(left)" "" "nothing is left of it"
ok "and its command has ended" bash -c '! pgrep -f "^$FIXTURES/shares 30"'
# By the names of a hostile program.
cp "$FIXTURES/shares" "$(printf 'e\033[31m\nx')"
exits 0 "a hostile name" "$SPOOR" top -n 4 -d 1 --by comm -- "./$(printf 'e\033[31m\nx')" 30
like "$(cat out)" 'e\\033\[31m\\012x' "is escaped"
exits 1 "no such process" "$SPOOR" top --once -p 99999999
like "$(cat err)" 'no such process.*|start spoord' "is said, and what to do"
exits 2 "--delay x" "$SPOOR" top --delay x
exits 2 "--by x" "$SPOOR" top --by x
exits 2 "--since" "$SPOOR" top --since 1m
exits 2 "a file and a command" "$SPOOR" top -i x -- true
exits 2 "a file and a frequency" "$SPOOR" top -i x -F 99
exits 2 "all CPUs and a process" "$SPOOR" top -a -p 1
exits 2 "all CPUs and a command" "$SPOOR" top -a -- true
exits 2 "a process and a command" "$SPOOR" top -p 1 -- true
exits 1 "no such command" "$SPOOR" top --once -d 1 -- "$TMP/no-such-command"
like "$(cat err)" 'no-such-command' "is said"
exits 1 "a file that is not there" "$SPOOR" top --once -i nothing
is "$(left)" "" "nothing is left"

# The command has no way to its recording. Its output is words, and only the directory of descriptors tells.
"$SPOOR" top --once -d 1 -- sh -c 'ls -l /proc/self/fd >fds; exec "$0" 2' "$FIXTURES/shares" >out 2>err
like "$(cat fds)" ' 1 -> ' "a command's descriptors"
unlike "$(cat fds)" "$TMP/[^ ]* \\(deleted\\)" "the recording is none of them"

# Whatever ends it, and whenever: its recorder, the command and the file go.
one_look() { grep -q '^spoor top' looks; }
for signal in INT TERM HUP KILL; do
	: >looks
	background env --default-signal=INT "$SPOOR" top -n 50 -d 300ms -- "$FIXTURES/shares" 300 >looks 2>err
	ok "SIG$signal in lines: runs" wait_for 20 one_look
	kill -$signal $!
	ok "SIG$signal: nothing is left" wait_for 20 nothing_left
	ok "SIG$signal: nor of the command" wait_for 20 bash -c '! pgrep -f "^$FIXTURES/shares 300"'
done
"$SPOOR" top -n 50 -d 200ms -- "$FIXTURES/shares" 300 2>err | head -1 >out
like "$(cat out)" '^spoor top' "a pipe whose reader ends"
ok "nothing is left" wait_for 20 nothing_left
background "$SPOOR" top --once -d 10m -- "$FIXTURES/shares" 300 >/dev/null 2>err
recording() { pgrep -f "^$FIXTURES/shares 300"; }
ok "before the first look: it records" wait_for 20 recording
kill -TERM $!
ok "nothing is left" wait_for 20 nothing_left

# A file that grows: shares are the report's.
background "$SPOOR" record --block-age 200ms -F 999 -o grows.spoor -- "$FIXTURES/shares" 60 2>/dev/null
recorder=$!
grown() { [ "$("$SPOOR" report --json grows.spoor 2>/dev/null | jq .samples)" -gt 100 ]; }
wait_for 20 grown 2>/dev/null
"$SPOOR" top --once -i grows.spoor --window 10m >out 2>err
like "$(cat out)" '^ +[0-9.]+ +[0-9]+ +shares +\[\.\] share_slower' "a file that grows"
is "$(cat err)" "" "that it has no end is no fault"
kill "$recorder" && wait "$recorder"
exits 0 "a file that ended" "$SPOOR" top --once --by comm -i grows.spoor --window 10m
exits 0 "what no sample met" "$SPOOR" top -n 2 -d 100ms --by comm -i grows.spoor --window 10m --comm "shares,share$(printf '\033')s"
is "$(grep -c '; none of --comm share\\033s$' out)" 2 "is told in each look"
is "$(grep -c 'did you mean shares' err)" 1 "and what is like it once"
exits 0 "a file that ended, again" "$SPOOR" top --once --by comm -i grows.spoor --window 10m
is "$(awk '$3 == "shares" { print $2 }' out)" "$("$SPOOR" report --comm shares --json grows.spoor 2>/dev/null | jq .samples)" "its samples"

# --- a terminal --------------------------------------------------------------------------------
pane() { tmux -L top capture-pane -p; }
shows() { pane | grep -Eq -- "$1"; }
keys() { tmux -L top send-keys "$@"; }
run() # WORDS: in the terminal, with what it looks like before and behind
{
	keys "clear; stty -g >before; $*; echo \$? >status; stty -g >behind; echo at its end" Enter
}
ended() # NAME STATUS: and the terminal is as before
{
	ok "$1: it ends" wait_for 20 shows '^at its end'
	is "$(cat status)" "$2" "$1: status"
	is "$(cat behind)" "$(cat before)" "$1: the terminal's settings are those of before"
	ok "$1: the cursor is there" [ "$(tmux -L top display-message -p '#{cursor_flag} #{alternate_on}')" = "1 0" ]
}

tmux -L top -f /dev/null new-session -d -x 80 -y 24 "env PS1='$ ' TERM=screen bash --norc" || bail "no tmux"
run "\"\$SPOOR\" top -d 500ms -- \"\$FIXTURES/shares\" 300"
ok "functions" wait_for 20 shows '\[\.\] share_slower'
is "$(pane | head -1 | grep -c '^spoor top')" 1 "from the first line on"
is "$(tmux -L top display-message -p '#{alternate_on}')" 1 "on a screen of its own"
like "$(pane)" '[0-9]+ samples, [0-9]+ lost' "with what is lost"
keys s
ok "s: by command" wait_for 10 shows '^by command'
ok "whose row is there" wait_for 10 shows '^ +[0-9.]+ +[0-9]+ +shares$'
keys S
ok "S: back" wait_for 10 shows '^by function'
keys h
ok "h helps" wait_for 10 shows '^  q +quit'
keys h
ok "and back" wait_for 10 shows '^by function'
keys Space
sleep 1.2
pane >still
sleep 1.2
is "$(pane | head -2)" "$(head -2 still)" "space: it stands still"
keys Space
ok "and goes on" wait_for 10 bash -c '! cmp -s <(tmux -L top capture-pane -p) still'
tmux -L top resize-window -x 44 -y 8
ok "another size" wait_for 10 shows '^ +[0-9.]+ +[0-9]+ +sh.*share_slower$'
like "$(pane | head -1)" '^spoor top' "its first line is still there"
tmux -L top resize-window -x 200 -y 50
ok "a large one" wait_for 10 shows 'share_slower'
is "$(pane | head -1 | grep -c '^spoor top')" 1 "from the first line on"
tmux -L top resize-window -x 80 -y 24
keys q
ended q 0

for signal in INT TERM HUP; do
	run "\"\$SPOOR\" top -d 500ms --by comm -- \"\$FIXTURES/shares\" 300"
	ok "$signal: runs" wait_for 20 shows '^ +[0-9.]+ +[0-9]+ +shares$'
	kill -$signal "$(pgrep -f "^$SPOOR top -d 500ms --by comm" | head -1)"
	ended "$signal" 0
done
run "\"\$SPOOR\" top -d 500ms --by comm -i grows.spoor --window 10m"
ok "SEGV: runs" wait_for 20 shows '^ +[0-9.]+ +[0-9]+ +shares$'
kill -SEGV "$(pgrep -f "^$SPOOR top -d 500ms --by comm -i" | head -1)"
ended SEGV 139
run "\"\$SPOOR\" top -d 500ms --by comm -i grows.spoor --window 10m"
ok "^Z: runs" wait_for 20 shows '^ +[0-9.]+ +[0-9]+ +shares$'
keys C-z
ok "^Z: the shell is back" wait_for 20 shows 'Stopped'
is "$(tmux -L top display-message -p '#{cursor_flag} #{alternate_on}')" "1 0" "^Z: with its screen"
keys fg Enter
ok "fg: it is drawn again" wait_for 20 shows '^by command'
keys q
wait_for 20 shows 'top -d'
is "$(left)" "" "nothing is left of any"

# While it reads, keys are answered: of a file system that does not, until it is told to.
if [ "$(id -u)" = 0 ] && [ -w /dev/fuse ]; then
	mkdir stuck
	background python3 "$TOP/tests/oracles/stuckfs.py" "$TMP/stuck" 14
	server=$!
	at_exit "kill -USR1 $server 2>/dev/null; umount -l '$TMP/stuck' 2>/dev/null"
	wait_for 20 test -e stuck/file
	kill -USR2 "$server"
	run "\"\$SPOOR\" top -i stuck/file"
	# Before top has its screen, the terminal would echo the key.
	has_screen() { [ "$(tmux -L top display-message -p '#{alternate_on}')" = 1 ]; }
	ok "a file that cannot be opened yet" wait_for 20 has_screen
	keys h
	ok "h helps while it reads" wait_for 20 shows '^  q +quit'
	is "$(pane | awk 'length > 79' | head -1)" "" "in 80 columns"
	keys h
	kill -USR1 "$server"
	ok "what came of it is shown then" wait_for 20 shows '^spoor: stuck/file: '
	keys q
	ended "what cannot be read" 0
else
	skip "a file system that does not answer needs root and /dev/fuse" 8
fi

# --- a daemon's archive ------------------------------------------------------------------------
if can_record_all; then
	mkdir archive
	printf '%s\n' "archive_directory = $TMP/archive" "control_socket = $socket" 'frequency = 199' 'block_age = 1s' \
		'cpu_budget = 50%' >spoord.conf
	background "$FIXTURES/shares" 60
	start
	archived() { "$SPOOR" top --once --by comm -i archive 2>/dev/null | grep -Eq '^ +[0-9.]+ +[0-9]+ +shares'; }
	ok "what a daemon records now" wait_for 40 archived
	"$SPOOR" top --once --by unit -i archive >out 2>err
	like "$(head -2 out)" 'lost; [0-9]+% of [0-9]+ CPU' "how busy the CPUs are"
	is "$(cat err)" "" "without a word"
else
	skip "sampling all CPUs needs rights" 3
fi

done_testing
