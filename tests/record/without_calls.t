#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# Each system call that a kernel of README.md's may lack, or that a container's seccomp filter may refuse, does so once
# (ENOSYS, EPERM): what was recorded has its names all the same, by a way without it.
. "$(dirname "$0")/../lib.sh"
need_command jq

"$FIXTURES/without_call" ENOSYS openat2 true 2>err || skip_all "no seccomp filter: $(cat err)"

main=$(nm "$FIXTURES/jit" | awk '$3 == "main" { print $1 }')

# The functions that code made at run time has, a line by debug information, and what is said.
facts() # COMMAND...: of the reader
{
	"$@" "$SPOOR" report --json -i x.spoor -s sym 2>said.read |
		jq -r '[.rows[] | select(.kernel | not) | .symbol | select(test("^(alpha\\(\\)|beta <T>)$"))] | sort | join(" ")'
	"$@" "$SPOOR" symbolize --no-cache --obj "$FIXTURES/jit" "$main" 2>&1
	cat said said.read
}

record() # COMMAND...: of spoor, which leaves $pid
{
	rm -f x.spoor
	"$@" "$SPOOR" record -F 997 -o x.spoor -- "$FIXTURES/jit" map >steps 2>said
	status=$?
	sed -i '/^\[ spoor record: /d' said
	pid=$(head -n 1 steps)
	at_exit "rm -f /tmp/perf-$pid.map"
	rm -f "/tmp/perf-$pid.map"
	return $status
}

ok "recorded with all of them" record env
whole=$(facts env)
mapfile -t calls < <("$FIXTURES/without_call" --list | grep -vxe statx -e seccomp)
like "$whole" '^alpha\(\) beta <T>' "the names of its code are there"
like "$whole" 'jit\.c:[0-9]' "and the line of its main()"

for call in "${calls[@]}"; do
	for error in ENOSYS EPERM; do
		name="$call: $error"
		ok "$name: recorded" record "$FIXTURES/without_call" "$error" "$call"
		is "$(facts env)" "$whole" "$name: what is recorded has its names"
		is "$(facts "$FIXTURES/without_call" "$error" "$call")" "$whole" "$name: and is read without it"
	done
done

# Linux has it since 4.11: only a filter refuses it. Nothing else tells of a file without waiting for its file system.
for error in ENOSYS EPERM; do
	ok "statx: $error: recorded" record "$FIXTURES/without_call" "$error" statx
	like "$(cat said)" 'the system call statx is refused here .*: code made at run time has no names' "and what is lacking is said"
done

# sandbox: whoever cannot be kept from everything reads no debug information: names are there, lines are not, and it is said.
ok "seccomp: recorded" record env
for error in ENOSYS EPERM; do
	facts "$FIXTURES/without_call" "$error" seccomp >without
	like "$(cat without)" '^alpha\(\) beta <T>' "seccomp: $error: the names of its code are there"
	like "$(cat without)" '(^|[^_[:alnum:]])main' "and that of its main()"
	unlike "$(cat without)" 'jit\.c:[0-9]' "without its line"
	like "$(cat without)" 'seccomp\(2\) or another part of the sandbox is refused here' "and it is said why"
done

done_testing
