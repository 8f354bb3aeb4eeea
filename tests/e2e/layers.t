#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The layer check passes on this tree and sees what is planted in a copy of it.
# @together
. "$(dirname "$0")/../lib.sh"

ok "this tree keeps its layers" "$TOP/tests/layers.sh" "$TOP"

copy()
{
	rm -rf tree
	mkdir -p tree/tests
	for d in format recorder symbolizer daemon; do
		[ ! -d "$TOP/$d" ] || cp -r "$TOP/$d" tree/
		mkdir -p "tree/$d"
	done
	mkdir -p tree/symbolizer/cmd
	cp -r "$TOP/tests/unit" tree/tests/ 2>/dev/null
	mkdir -p tree/tests/unit/format
}

planted() # FILE LINE NAME: the line in that file is refused, and the file is named
{
	copy
	printf '%s\n' "$2" >>"tree/$1"
	"$TOP/tests/layers.sh" tree >out 2>&1
	is "$?" 1 "$3: refused"
	like "$(cat out)" "^layers: $1:" "$3: named"
}

accepted() # FILE LINE NAME
{
	copy
	printf '%s\n' "$2" >>"tree/$1"
	ok "$3: accepted" "$TOP/tests/layers.sh" tree
}

planted format/planted.c '#include "recorder/session.h"' "format includes recorder"
planted format/planted.h '#include "symbolizer/resolve.h"' "format includes symbolizer"
planted recorder/planted.c '#include "symbolizer/resolve.h"' "recorder includes symbolizer"
planted recorder/planted.c '#include "daemon/config.h"' "recorder includes daemon"
planted symbolizer/planted.c '#include "recorder/session.h"' "symbolizer includes recorder"
planted symbolizer/planted.c '#include "symbolizer/cmd/cli.h"' "symbolizer includes its commands"
planted symbolizer/cmd/planted.c '#include "recorder/ring.h"' "a command includes a recorder's inside"
planted daemon/planted.c '#include "symbolizer/resolve.h"' "daemon includes symbolizer"
planted format/planted.c '#include "tests/planted.h"' "format includes tests"
planted format/planted.c '#include "../recorder/session.h"' "format includes by a relative path"
planted format/planted.c '  #  include "recorder/session.h"' "blanks do not hide an include"
planted format/planted.c '#include <recorder/session.h>' "angle brackets do not hide an include"
planted tests/unit/format/planted.c '#include "recorder/session.h"' "a unit test reaches above its layer"
planted format/planted.c '#include <pthread.h>' "format has threads"
planted format/planted.c '#include <sys/socket.h>' "format has sockets"
planted format/planted.c '#include <err.h>' "format has err(3)"
planted format/planted.c 'static void f(void) { fprintf(stderr, "x"); }' "format prints"
planted format/planted.c 'static void f(void) { exit(1); }' "format exits"
planted format/planted.c 'static void f(void) { clock_gettime(0, 0); }' "format asks the clock"
planted recorder/planted.c '#include <zstd.h>' "recorder compresses"
planted recorder/planted.c '#include <gelf.h>' "recorder uses libelf"

accepted symbolizer/cmd/planted.c '#include "recorder/session.h"' "the composition root starts a session"
accepted format/planted.c '/* exit(1) in a comment, and "printf(" too */' "comments"
accepted format/planted.c 'const char *planted = "exit(1)";' "strings"
accepted format/planted.c '#include <errno.h>' "errno is not err"
accepted recorder/planted.c '#include "format/span.h"' "downwards"

mkdir -p tree/recorder/deep
echo 'int x;' >tree/recorder/deep/a.c
nok "a directory in no layer is refused" "$TOP/tests/layers.sh" tree

done_testing
