#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs shellcheck over every script, and checks what no compiler checks in the sources: the SPDX line at the
# top, no // comments, no trailing blanks, no XXX or TODO without an issue's number.
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

scripts=()
for f in "${files[@]}"; do
	[ -f "$f" ] || continue
	case $f in
	tests/fuzz/seeds/* | tests/golden/* | tests/otlp/opentelemetry/* | COPYING | NEWS | *.md | .editorconfig | .gitignore | *.data | *.spoor) continue ;;
	esac
	if ! head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later'; then
		grep -qI . "$f" && complain "$f: no SPDX line"
	fi
	case $f in
	*.c | *.h | *.cc)
		hits=$(sed 's/"\(\\.\|[^"\\]\)*"/""/g' "$f" | grep -nE '^[[:space:]]*//|[;{})][[:space:]]*//') &&
			complain "$f: // comments: $(printf '%s' "$hits" | head -n 3)"
		hits=$(grep -nE '[[:space:]]+$' "$f") && complain "$f: trailing blanks: $(printf '%s' "$hits" | head -n 3)"
		hits=$(grep -nE '\<(XXX|TODO|FIXME)\>' "$f" | grep -vE '\((issue )?#?[0-9]+\)') &&
			complain "$f: no issue named: $hits"
		;;
	*.sh | *.t | .ci/*)
		scripts+=("$f")
		;;
	*)
		head -n 1 "$f" | grep -qE '^#!.*\<(ba|da)?sh\>' && scripts+=("$f")
		;;
	esac
done

if ! command -v shellcheck >/dev/null; then
	complain "shellcheck is not installed (make deps)"
elif [ ${#scripts[@]} -gt 0 ]; then
	# Tests source lib.sh by a path only known at run time; variables set for it look unused.
	printf '%s\0' "${scripts[@]}" | xargs -0 -P "$(nproc)" -n 10 \
		shellcheck -s bash -e SC1090,SC1091,SC2016,SC2034,SC2154 || bad=1
fi
exit $bad
