#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make pictures`: the pictures of README.md, into docs/pictures. Records this host while it compiles
# and runs programs that have their symbols, and takes each view's output as a terminal of 100 columns has it,
# or its page as Chromium draws it. Besides what tests need: aha.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
spoor=$(realpath "$BUILD/spoor")
out=$PWD/docs/pictures
columns=100

say() { printf 'pictures: %s\n' "$*" >&2; }
for c in aha chromium script "$spoor"; do
	command -v "$c" >/dev/null || { say "$c is not there"; exit 1; }
done
work=$(mktemp -d /var/tmp/spoor-pictures.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
export HOME=$work XDG_CACHE_HOME=$work/cache

# A compiler on all CPUs and two interpreters, one after another. Go has frame pointers and its symbols,
# Debian's perl exports its functions, and node writes the names of its code to a perf map.
# shellcheck disable=SC2317 # bash -c runs it
load()
{
	cd "$work" || return 1
	GOCACHE=$work/go GOFLAGS=-mod=mod go build -a net/http
	sleep 2
	node --perf-basic-prof --interpreted-frames-native-stack words.js
	perl -e 'my %n; for my $i (1 .. 1500000) { $n{($i * 7919) % 50021} .= $i % 10 } print scalar(sort { $n{$a} cmp $n{$b} } keys %n), "\n"'
}
cat >"$work/words.js" <<'EOS'
const text = Array.from({ length: 400000 }, (_, i) => "w" + (i * 7919) % 30011);
function countWords(list) { const m = new Map(); for (const w of list) m.set(w, (m.get(w) || 0) + 1); return m; }
function sortWords(m) { return [...m].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])); }
function parseBack(rows) { return JSON.parse(JSON.stringify(rows)).length; }
for (const end = Date.now() + 6000; Date.now() < end; ) parseBack(sortWords(countWords(text)));
EOS

say "recording this host while it compiles and interprets"
export -f load
export work
"$spoor" record -a -o "$work/recording.spoor" -- bash -c load >/dev/null 2>&1 || exit 1

browser() # URL FILE WIDTH HEIGHT
{
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=3000 \
		--window-size="$3,$4" --screenshot="$2" "$1" 2>/dev/null >&2
	[ -s "$2" ] || { say "$2 was not drawn"; return 1; }
}

terminal() # NAME LINES COMMAND...: what it prints on a terminal, its first lines
{
	local name=$1 lines=$2 shown
	shift 2
	shown="spoor $*"
	{
		printf '\033[1m$ %s\033[0m\n' "$shown"
		(cd "$work" && script -qec "stty cols $columns rows 50; '$spoor' --color always --no-pager $*" /dev/null) |
			tr -d '\r' | head -n "$lines"
	} | aha --black --title "$shown" |
		sed 's/<pre>/<pre style="font: 13px\/17px DejaVu Sans Mono; margin: 10px">/' >"$work/$name.html"
	browser "file://$work/$name.html" "$out/$name.png" $((columns * 8 + 4)) $(((lines + 1) * 17 + 20)) || return 1
	say "docs/pictures/$name.png: $shown"
}

page() # NAME WIDTH HEIGHT COMMAND...: the page that it writes to x.html
{
	local name=$1 width=$2 height=$3
	shift 3
	(cd "$work" && "$spoor" "$@" -o x.html) || return 1
	browser "file://$work/x.html" "$out/$name.png" "$width" "$height" || return 1
	say "docs/pictures/$name.png: spoor $*"
}

failed=0
terminal report 24 report || failed=1
terminal tree 26 tree --comm compile || failed=1
terminal timeline 22 timeline --by comm || failed=1
terminal annotate 30 annotate --comm compile --no-source || failed=1
page flamegraph 1280 860 flamegraph || failed=1
page heatmap 1280 860 heatmap || failed=1
exit $failed
