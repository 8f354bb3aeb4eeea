#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 40s
#
# The check of the plan sees what is planted in a copy of this tree.
. "$(dirname "$0")/../lib.sh"

unset BUILD

copy()
{
	rm -rf tree
	mkdir -p tree/docs tree/tests
	cp -r "$TOP"/{format,recorder,symbolizer,daemon} tree/
	cp "$TOP/docs/ARCHITECTURE.md" tree/docs/
	cp -r "$TOP/tests/unit" tree/tests/
}

# All are planted in one tree, which is looked at once: each is a file of its own.
names=() files=()
plant() # FILE LINE NAME: the line in that file is refused, or accepted
{
	printf '%s\n' "$2" >>"tree/$1"
	files+=("$1")
	names+=("$3")
}

copy
plant format/bytes/planted1.c '#include "recorder/session/session.h"' "format includes recorder"
plant format/bytes/planted2.h '#include "symbolizer/resolve/resolve.h"' "format includes symbolizer"
plant format/bytes/planted3.c '#include "format/record/perf_record.h"' "a room includes its roof"
plant format/model/planted4.c '#include "format/columns/columns.h"' "a room includes one beside it"
plant recorder/ring/planted5.c '#include "symbolizer/resolve/resolve.h"' "recorder includes symbolizer"
plant recorder/ring/planted6.c '#include "daemon/config/config.h"' "recorder includes daemon"
plant recorder/host/planted7.c '#include "recorder/session/session.h"' "recorder includes its roof"
plant symbolizer/view/planted8.c '#include "recorder/session/session.h"' "symbolizer includes recorder"
plant symbolizer/resolve/planted9.c '#include "symbolizer/cli/cli.h"' "symbolizer includes its commands"
plant symbolizer/cmd/planted10.c '#include "recorder/ring/ring.h"' "a command includes a recorder's inside"
plant daemon/control/planted11.c '#include "symbolizer/resolve/resolve.h"' "daemon includes symbolizer"
plant daemon/ctl/planted12.c '#include "daemon/control/control.h"' "spoorctl knows what messages look like, no more"
plant daemon/control/planted13.c '#include "daemon/stream/base_stream_internal.h"' "an internal header of another room"
plant format/recording/planted14.c '#include "format/columns/columns_wire.h"' "a wire header of another room"
plant symbolizer/profile/planted15.c '#include "format/model/task_model_impl.h"' "an impl header of another room"
plant format/bytes/planted16.c '#include "tests/planted.h"' "format includes tests"
plant format/bytes/planted17.c '#include "tests/lab/wire.h"' "format includes the lab"
plant format/bytes/planted18.c '#include "../recorder/session.h"' "format includes by a relative path"
plant format/bytes/planted19.c '  #  include "recorder/session/session.h"' "blanks do not hide an include"
plant format/bytes/planted20.c '#include <recorder/session/session.h>' "angle brackets do not hide an include"
plant tests/unit/format/bytes/planted21.c '#include "recorder/session/session.h"' "a unit test reaches above its folder"
plant tests/unit/symbolizer/text/planted31.c '#include "recorder/session/session.h"' "a unit test of symbolizer reaches the recorder"
plant tests/unit/recorder/ring/planted22.c '#include "recorder/writer/writer_internal.h"' "a unit test uses another room's inside"
plant format/bytes/planted23.c '#include <pthread.h>' "format has threads"
plant format/bytes/planted24.c '#include <sys/socket.h>' "format has sockets"
plant format/bytes/planted25.c '#include <err.h>' "format has err(3)"
plant format/bytes/planted26.c 'static void f(void) { fprintf(stderr, "x"); }' "format prints"
plant format/bytes/planted27.c 'static void f(void) { exit(1); }' "format exits"
plant format/bytes/planted28.c 'static void f(void) { clock_gettime(0, 0); }' "format asks the clock"
plant recorder/host/planted29.c '#include <zstd.h>' "recorder compresses"
plant recorder/host/planted30.c '#include <gelf.h>' "recorder uses libelf"
"$TOP/tests/layers.sh" tree >out 2>&1
is "$?" 1 "what is planted is refused"
out=$(cat out)
for i in "${!files[@]}"; do
	like "$out" "^layers: ${files[i]}:" "${names[i]}: named"
done
is "$(tail -n 1 out)" "layers: ${#files[@]} broken rules" "and nothing else"

copy
files=() names=()
plant symbolizer/cmd/planted31.c '#include "recorder/session/session.h"' "the composition root starts a session"
plant daemon/ctl/planted32.c '#include "daemon/control/varlink.h"' "spoorctl knows what messages look like"
plant format/bytes/planted33.c '/* exit(1) in a comment, and "printf(" too */' "comments"
plant format/bytes/planted34.c 'const char *planted = "exit(1)";' "strings"
plant format/bytes/planted35.c '#include <errno.h>' "errno is not err"
plant recorder/ring/planted36.c '#include "format/bytes/span.h"' "downwards, over rooms between"
plant format/columns/planted37.c '#include "format/columns/columns_wire.h"' "a wire header of its own room"
plant tests/unit/format/bytes/planted38.c '#include "format/record/event_set.h"' "a unit test uses its folder"
plant tests/unit/format/model/planted39.c '#include "tests/lab/wire.h"' "a unit test uses the lab"
"$TOP/tests/layers.sh" tree >out 2>&1
is "$?" 0 "what may be is accepted: $(head -n 3 out)"

# What is said of the plan and of object files does not depend on what is in the sources: in this tree they are empty.
rm -rf tree
mkdir -p tree/docs
(cd "$TOP" && find format recorder symbolizer daemon tests/unit -name '*.[ch]') >sources
(cd tree && sed 's,/[^/]*$,,' ../sources | sort -u | xargs mkdir -p && xargs touch <../sources)
cp "$TOP/docs/ARCHITECTURE.md" tree/docs/
ok "a tree of empty files is accepted" "$TOP/tests/layers.sh" tree

for dir in recorder/deep format tests/unit/format; do
	mkdir -p tree/$dir
	echo 'int x;' >tree/$dir/planted.c
	"$TOP/tests/layers.sh" tree >out 2>&1
	is "$?" 1 "a file in $dir, which is no room: refused"
	like "$(cat out)" "^layers: $dir/: is no room" "a file in $dir, which is no room: named"
	rm tree/$dir/planted.c
done

# plan NAME TEXT SED: with the plan changed so, it is refused in these words
plan()
{
	sed "$3" "$TOP/docs/ARCHITECTURE.md" >tree/docs/ARCHITECTURE.md
	"$TOP/tests/layers.sh" tree >out 2>&1
	is "$?" 1 "$1: refused"
	like "$(cat out)" "$2" "$1: said"
}
plan "a room that stands on its roof" 'format/bytes stands on format/block' 's,^format/bytes:,&  format/block,'
plan "a room of which there is no file" 'format/nothing has no file' 's,^format/bytes:,&\nformat/nothing:,'
plan "no plan" 'has no plan' 's/^```rooms/```/'

cp "$TOP/docs/ARCHITECTURE.md" tree/docs/

# circle NAME STATUS A B: object files of buf and io, whose sources are these
circle()
{
	rm -rf objects
	mkdir -p objects/format/bytes
	printf '%s\n' "$3" >a.c
	printf '%s\n' "$4" >b.c
	"${CC:-gcc}" -c -o objects/format/bytes/buf.o a.c
	"${CC:-gcc}" -c -o objects/format/bytes/io.o b.c
	BUILD=$PWD/objects "$TOP/tests/layers.sh" tree >out 2>&1
	is "$?" "$2" "$1"
}
circle "object files that need each other" 1 'int b(void); int a(void) { return b(); }' \
	'int a(void); int b(void) { return a(); }'
like "$(cat out)" '^layers: .*format/bytes/buf\.o: .*circle' "both are named"
like "$(cat out)" '^layers: .*format/bytes/io\.o: ' "both are named"
mv objects/format/bytes/io.o objects/format/bytes/moved.o
BUILD=$PWD/objects "$TOP/tests/layers.sh" tree >out 2>&1
is "$?" 0 "but not the object file of a source that is no more"
circle "one that needs another" 0 'int b(void); int a(void) { return b(); }' 'int b(void) { return 1; }'

done_testing
