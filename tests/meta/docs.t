#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
. "$(dirname "$0")/../lib.sh"
need_command mandoc
plan 4
ok "manual pages are sound and complete" "$TOP/tests/docs.sh" "$TOP"
ok "ARCHITECTURE.md, HACKING.md and the folders' pages name what is there" "$TOP/tests/doc_names.sh" "$TOP"

# Faults planted in a copy of the pages, over the same sources.
mkdir planted planted/docs
ln -s "$TOP"/{tests,systemd,completions,.ci,Makefile,floor.h,banned.h} planted
for folder in format recorder daemon symbolizer; do
	cp -r "$TOP/$folder" planted
done
cp -r "$TOP"/docs/* planted/docs
cat >>planted/docs/HACKING.md <<'END'
`session_never_was()` and open_nothing() open `recording_of_nothing` as `tests/read/nothing_here.t`
and `nothing_here.t` say; after it `make check-nothing`.
END
exits 1 "what is nowhere is refused" "$TOP/tests/doc_names.sh" planted
is "$(sed 's/^doc_names: docs.HACKING.md names //; s/,.*//' err | sort | xargs)" \
	"make check-nothing nothing_here.t open_nothing() recording_of_nothing session_never_was() tests/read/nothing_here.t" \
	"each of it"
