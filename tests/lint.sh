#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs shellcheck over every script, and checks what no compiler checks in the sources: the SPDX line at the
# top, no // comments, no trailing blanks, no XXX or TODO without an issue's number.
# shellcheck disable=SC2317 # faults() calls them
set -u

bad=0
complain()
{
	echo "lint: $*" >&2
	bad=1
}

if [ -e .git ] && command -v git >/dev/null; then
	mapfile -t files < <(git ls-files --cached --others --exclude-standard)
else
	mapfile -t files < <(find . -path './build*' -prune -o -type f -print | sed 's,^\./,,')
fi

# Each line that is printed is a fault.
faults() # WHAT COMMAND...
{
	local what=$1 line
	shift
	while read -r line; do
		complain "$what: $line"
	done < <("$@")
}

texts=()
sources=()
scripts=()
for f in "${files[@]}"; do
	[ -f "$f" ] || continue
	case $f in
	tests/fuzz/seeds/* | tests/golden/* | tests/otlp/opentelemetry/* | COPYING | NEWS | *.md | .editorconfig | .gitignore | *.data | *.spoor) continue ;;
	esac
	texts+=("$f")
	case $f in
	*.c | *.h | *.cc) sources+=("$f") ;;
	*.sh | *.t | .ci/*) scripts+=("$f") ;;
	*)
		read -r line <"$f" 2>/dev/null
		[[ ! $line =~ ^#!.*[/\ ](ba|da)?sh($|[^a-z]) ]] || scripts+=("$f")
		;;
	esac
done

without_spdx()
{
	awk 'FNR == 1 { name[FILENAME] } FNR <= 3 && /SPDX-License-Identifier: GPL-2.0-or-later/ { has[FILENAME] }
		END { for (f in name) if (!(f in has)) print f }' "${texts[@]}" | xargs -d '\n' -r grep -lI .
}
slash_comments()
{
	awk '{ gsub(/"(\\.|[^"\\])*"/, "\"\"") }
		/^[ \t]*\/\// || /[;{})][ \t]*\/\// { print FILENAME ":" FNR ": " $0 }' "${sources[@]}"
}
left_to_do()
{
	grep -nHE '\<(XXX|TODO|FIXME)\>' "${sources[@]}" | grep -vE '\((issue )?#?[0-9]+\)'
}
# What others name (a process, a recording, an object) is opened by plain_file.h or path_below.h. These open what the
# user, the kernel or spoor itself names: paths of command lines and of the configuration, files of procfs, tracefs and
# cgroup file systems, the cache, copies.
opens_by_name()
{
	printf '%s\n' "${sources[@]}" | grep -E '^(daemon|format|recorder|symbolizer)/.*\.c$' | grep -vxE "$(tr '\n' '|' <<-END | sed 's/|$//'
		format/bytes/(plain_file|path_below|io|out_path|time_text).c
		recorder/ground/small_file.c
		recorder/event/tracefs.c
		recorder/host/(cgroup|file_mount|host_modules|hotplug|proc|subuid).c
		recorder/helper/object_copy.c
		symbolizer/(code/kernel_code|dwarf/dwarf_(cache_dir|budget)|jit/jit_files|record/record_usdt).c
		symbolizer/(object/(live_files|symbol_address)|names/names_(choice|process|python)).c
		symbolizer/(input/input|record/record_control|cli/record_output).c
		daemon/(config/config|archive/archive_(delete|lock|pins|scan)).c
	END
	)" | xargs -d '\n' grep -nHE '\<(open|openat|fopen)\(' |
		grep -vE 'O_(CREAT|DIRECTORY|PATH|TMPFILE)\>|"/(proc|sys|dev)/|: \* |/\*.*open\(|open\((s->)?arg, dir, name\)'
}
faults "no SPDX line" without_spdx
faults "opens by name (plain_file.h)" opens_by_name
faults "// comment" slash_comments
faults "trailing blanks" grep -nHE '[[:space:]]+$' "${sources[@]}"
faults "no issue named" left_to_do

if ! command -v shellcheck >/dev/null; then
	complain "shellcheck is not installed (make deps)"
elif [ ${#scripts[@]} -gt 0 ]; then
	# Tests source lib.sh by a path only known at run time; variables set for it look unused.
	printf '%s\0' "${scripts[@]}" | xargs -0 -P "$(nproc)" -n 10 \
		shellcheck -s bash -e SC1090,SC1091,SC2016,SC2034,SC2154 || bad=1
fi
exit $bad
