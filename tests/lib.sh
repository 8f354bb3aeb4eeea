# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For every tests/*/*.t: . "$(dirname "$0")/../lib.sh"; plan 3 (or done_testing at the end).
# The test runs in a temporary directory of its own, which is removed at exit; processes started
# with `background` are ended first. Paths in $SPOOR, $FIXTURES, $TOP are absolute.
set -u
export LC_ALL=C TZ=UTC

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$TOP/$BUILD ;; esac
SPOOR=${SPOOR:-$BUILD/spoor}
FIXTURES=$BUILD/tests/fixtures
export TOP BUILD SPOOR FIXTURES

# A shim of pyenv takes half a second for each call, ten times as long as the Python that Debian has, which has the
# modules that oracles need.
without_shims()
{
	local dir kept='' IFS=:

	for dir in $PATH; do
		case $dir in */.pyenv/*shims) ;; *) kept+=${kept:+:}$dir ;; esac
	done
	PATH=$kept
}
without_shims

tests_run=0
tests_failed=0
tests_planned=
background_pids=()
cleanup_commands=()

TMP=$(mktemp -d "${TMPDIR:-/tmp}/spoor-test.${SPOOR_SUITE:-0}.XXXXXX") || exit 1
# What is preloaded: LD_PRELOAD ends a path at a space or a colon.
PRELOADS=$FIXTURES
case $FIXTURES in *[\ :]*) PRELOADS=$TMP/.preloads && ln -s "$FIXTURES" "$PRELOADS" ;; esac
# What is kept between runs is a test's own.
export XDG_CACHE_HOME=$TMP
cd "$TMP" || exit 1
# What somebody's perf left in ~/.debug would name what a test took away.
CALLER_HOME=${HOME-}
HOME=$TMP
PERF_CONFIG=$TOP/tests/perfconfig
export TMP HOME CALLER_HOME PERF_CONFIG

# systemd mounts it as a host boots, perf when it looks for tracepoints: a machine with neither has none to test with.
[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null

at_exit() # COMMAND: evaluated at exit, newest first
{
	cleanup_commands=("$1" ${cleanup_commands[@]+"${cleanup_commands[@]}"})
}

finish()
{
	local status=$? command # no pid: at_exit's commands may mean the test's

	for command in ${cleanup_commands[@]+"${cleanup_commands[@]}"}; do
		eval "$command"
	done
	for pid in ${background_pids[@]+"${background_pids[@]}"}; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	# A process of the test that is on its way out may still write, as zsh does what it knows of completions.
	cd / || exit 1
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf "$TMP" 2>/dev/null && break
		sleep 0.2
	done
	[ ! -e "$TMP" ] || diag "$0: $(rm -rf "$TMP" 2>&1 | head -n 3); processes there: $(find /proc -maxdepth 2 \
		-path '/proc/[0-9]*/cwd' -lname "$TMP*" -printf '%h ' 2>/dev/null)"
	if [ "$status" -eq 0 ] && [ "$tests_failed" -gt 0 ]; then
		status=1
	fi
	exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

plan() # COUNT
{
	tests_planned=$1
	echo "1..$1"
}

done_testing()
{
	[ -n "$tests_planned" ] || echo "1..$tests_run"
}

diag() # TEXT...: each line becomes a TAP comment, on stderr so that prove shows it
{
	printf '%s\n' "$*" | sed 's/^/# /' >&2
}

diag_file() # FILE [LINES]
{
	head -n "${2:-40}" "$1" 2>/dev/null | sed 's/^/#   /' >&2
}

pass() # NAME
{
	tests_run=$((tests_run + 1))
	echo "ok $tests_run - $1"
}

fail() # NAME [DIAGNOSTIC...]
{
	tests_run=$((tests_run + 1))
	tests_failed=$((tests_failed + 1))
	echo "not ok $tests_run - $1"
	diag "failed: $tests_run - $1" # prove says no names
	shift
	[ $# -eq 0 ] || diag "$*"
	return 1
}

ok() # NAME COMMAND...: the command succeeds; its output is shown when it does not
{
	local name=$1 status
	shift
	"$@" >"$TMP/.ok" 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		pass "$name"
	else
		fail "$name" "exit $status: $*"
		diag_file "$TMP/.ok"
		return 1
	fi
}

nok() # NAME COMMAND...: the command fails, and not by a signal
{
	local name=$1 status
	shift
	"$@" >"$TMP/.ok" 2>&1
	status=$?
	if [ $status -gt 0 ] && [ $status -lt 126 ]; then
		pass "$name"
	else
		fail "$name" "exit $status, a failure was expected: $*"
		diag_file "$TMP/.ok"
		return 1
	fi
}

exits() # STATUS NAME COMMAND...: leaves the output in $TMP/out and $TMP/err
{
	local want=$1 name=$2 status
	shift 2
	"$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	if [ $status -eq "$want" ]; then
		pass "$name"
	else
		fail "$name" "exit $status instead of $want: $*"
		diag_file "$TMP/err"
		return 1
	fi
}

is() # GOT WANTED NAME
{
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3" "got:    $1"
		diag "wanted: $2"
		return 1
	fi
}

isnt() # GOT UNWANTED NAME
{
	if [ "$1" != "$2" ]; then
		pass "$3"
	else
		fail "$3" "got what was not wanted: $1"
	fi
}

# Is there a line of TEXT that matches? By the shell itself where the text is short: on some machines a process costs
# ten milliseconds.
matches() # TEXT EXTENDED-REGEX
{
	local line status=2

	# To grep, each line of an expression is one of several.
	if [ ${#1} -le 4000 ] && [[ $2 != *$'\n'* ]]; then
		while IFS= read -r line; do
			[[ $line =~ $2 ]]
			status=$?
			[ $status -eq 1 ] || break
		done <<<"$1"
	fi
	# What the shell refuses (2) may be an expression to grep.
	[ $status -eq 2 ] || return $status
	grep -Eq -- "$2" <<<"$1"
}

like() # TEXT EXTENDED-REGEX NAME
{
	if matches "$1" "$2"; then
		pass "$3"
	else
		fail "$3" "no match of /$2/ in:"
		printf '%s\n' "$1" | head -n 40 | sed 's/^/#   /' >&2
		return 1
	fi
}

unlike() # TEXT EXTENDED-REGEX NAME
{
	matches "$1" "$2"
	if [ $? -ne 1 ]; then
		fail "$3" "unexpected match of /$2/ in:"
		printf '%s\n' "$1" | grep -E -- "$2" | head -n 10 | sed 's/^/#   /' >&2
		return 1
	else
		pass "$3"
	fi
}

in_range() # NUMBER LOW HIGH NAME: decimals allowed
{
	local in=1

	if [[ "$1 $2 $3" =~ ^(-?(0|[1-9][0-9]{0,17})( |$)){3}$ ]]; then
		(($1 >= $2 && $1 <= $3)) || in=
	else
		awk -v n="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(n != "" && n+0 >= lo && n+0 <= hi) }' || in=
	fi
	if [ -n "$in" ]; then
		pass "$4"
	else
		fail "$4" "$1 is not in $2 .. $3"
	fi
}

skip() # REASON [COUNT]: counts as COUNT passed tests, and shows
{
	local n=${2:-1}
	while [ "$n" -gt 0 ]; do
		tests_run=$((tests_run + 1))
		echo "ok $tests_run # SKIP $1"
		n=$((n - 1))
	done
}

skip_all() # REASON: ends the test
{
	echo "1..0 # SKIP $1"
	exit 0
}

bail() # REASON: what the test needs could not be set up; it fails
{
	diag "$*"
	exit 99
}

background() # COMMAND...: ended at exit; the pid is in $!
{
	"$@" &
	background_pids+=("$!")
}

pause_for() # SECONDS: without a process, and without a descriptor that others inherit
{
	local REPLY

	[ -p "$TMP/.never" ] || mkfifo "$TMP/.never" 2>/dev/null || { sleep "$1"; return; }
	read -rt "$1" <>"$TMP/.never"
}

wait_for() # SECONDS COMMAND...: until the command succeeds
{
	local end=$((EPOCHSECONDS + $1)) pause=0.05
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$EPOCHSECONDS" -lt "$end" ] || return 1
		pause_for $pause
		pause=0.1
	done
}

# perf 6.1 aborts over a map whose build-id bit the kernel set for another recorder of the machine, one that asks for
# build-ids: then the last try asks for build-ids, too.
perf_record() # ARGUMENT...: perf record, which has to end by itself
{
	local status pause
	for pause in 0 1 4 0; do
		perf record "$@"
		status=$?
		[ $status -ge 128 ] || return $status
		sleep $pause
	done
	perf record --buildid-mmap "$@"
}

# The same until perf reads the file, too: one that it aborts over is no oracle.
perf_tries() # CHECK FILE ARGUMENT...: "CHECK FILE" says whether it is read
{
	local check=$1 file=$2 buildids
	shift 2
	for buildids in "" "" "" --buildid-mmap; do
		rm -rf "$file"
		# shellcheck disable=SC2086 # an option or none
		perf record -q $buildids -o "$file" "$@" >/dev/null 2>perf.err && "$check" "$file" && return
	done
	return 1
}

json() # FILE FILTER: jq's raw output
{
	jq -r "$2" "$1"
}

same() # NAME FILE FILE: and something is in them
{
	if [ -s "$2" ] && cmp -s "$2" "$3"; then
		pass "$1"
	else
		fail "$1" "$(wc -l <"$2") and $(wc -l <"$3") lines"
		diff "$2" "$3" | head -n 20 | sed 's/^/#   /' >&2
	fi
}

# May this user sample all CPUs? Tests that record ask this and skip_all when not.
can_record_all()
{
	local paranoid
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) || return 1
	[ "$(id -u)" -eq 0 ] || [ "$paranoid" -le 0 ]
}

need_record_all()
{
	can_record_all || skip_all "sampling all CPUs needs root or kernel.perf_event_paranoid <= 0"
}

# Recordings of tests/loads/, which make makes: links NAME.spoor in the test's directory. Fails if there is none.
recording() # NAME
{
	local made=$BUILD/tests/loads/$1.spoor

	ln -s "$made" "$1.spoor"
	[ ! -s "$made" ] || return 0
	[ -e "$made" ] || diag "$made is not there: make build-tests makes it"
	[ ! -e "$made" ] || { diag "tests/loads/$1.sh could not be recorded:" && diag_file "$made.log"; }
	return 1
}
need_recordings() # NAME...
{
	local name

	for name; do
		recording "$name" && continue
		can_record_all || skip_all "this user has no recording of tests/loads/$name.sh"
		bail "no recording of tests/loads/$name.sh"
	done
}

# The directory of the control groups that the kernel's perf knows; nothing where there are none.
cgroup_root()
{
	awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts | grep . ||
		awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts
}

# Does this machine deliver breakpoints? Some virtual machines open one and never stop at it: perf is asked.
breakpoints_hit()
{
	local program=$FIXTURES/watched address

	address=0x$(nm "$program" | awk '$3 == "watched_sum" { print $1 }')
	perf stat -x , -e "mem:$address:w:u" -- "$program" 100 2>&1 >/dev/null | grep -q '^100,'
}

need_command() # NAME...
{
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || skip_all "$c is not installed"
	done
}
