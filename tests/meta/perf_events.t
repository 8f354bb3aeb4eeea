#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# docs/perf-events.md is whole; the check sees what is not.
. "$(dirname "$0")/../lib.sh"
check=$TOP/tests/perf_events.sh
header=/usr/include/linux/perf_event.h
[ -r "$header" ] || header=$TOP/format/uapi/linux/perf_event.h

ok "this tree's table is whole" "$check" "$TOP" "$header" "$TOP/format/uapi/linux/perf_event.h"

mkdir -p tree/docs
for dir in format recorder symbolizer daemon tests; do
	ln -s "$TOP/$dir" "tree/$dir"
done
planted() # NAME SAID SED-SCRIPT
{
	sed "$3" "$TOP/docs/perf-events.md" >tree/docs/perf-events.md
	nok "$1" sh -c '"$1" tree "$2" 2>said' - "$check" "$header"
	like "$(cat said)" "$2" "$1: told"
}
planted "a constant without a row" 'PERF_SAMPLE_ADDR has no row' '/^| `PERF_SAMPLE_ADDR`/d'
planted "one that is not named in its row" 'PERF_FLAG_FD_CLOEXEC has no row' 's/^| `PERF_FLAG_FD_CLOEXEC`/| `CLOEXEC`/'
planted "a field without a row" 'attr.sample_max_stack has no row' '/^| `attr.sample_max_stack`/d'
planted "a bit without a row" 'attr.pinned has no row' '/^| `attr.pinned`/d'
planted "a field of the first page without a row" 'page.data_tail has no row' '/^| `page.data_tail`/d'
[ ! -e /proc/sys/kernel/perf_event_mlock_kb ] ||
	planted "a sysctl without a row" 'kernel.perf_event_mlock_kb has no row' '/^| kernel.perf_event_mlock_kb/d'
planted "a constant in two rows" 'PERF_FORMAT_LOST has two rows' 's/^\(| `PERF_FORMAT_ID`\)/\1, `PERF_FORMAT_LOST`/'
planted "no reason" 'page.data_offset.*why not is not said' 's/^\(| `page.data_offset`[^|]*| no |\)[^|]*/\1 /'
planted "no test" 'PERF_SAMPLE_RAW.*no test' '/^| `PERF_SAMPLE_RAW`/s/[^|]*|$/ - |/'
planted "what no code has" 'PERF_SAMPLE_RAW: used, it says' '/^| `PERF_SAMPLE_RAW`/s/`[a-z/_]*\.[ct]`/`recorder\/host\/hotplug.c`/g'
planted "a word that no code has" '"no_such_word" stands in none' 's/(`callchain_mode`)/(`no_such_word`)/'
planted "what the code uses after all" 'page.data_head: not used, it says, and recorder/ring/ring.c uses it' \
	's/^\(| `page.data_\)offset`, `page.data_size`/\1offset`/; s/^| `page.data_head` | always | [^|]* | [^|]*/| `page.data_head` | no | x | - /'
planted "no such state" "'perhaps' is no state" 's/^\(| `PERF_SAMPLE_RAW` |\)[^|]*/\1 perhaps /'
planted "a file that is gone" 'names recorder/gone.c, which is not there' 's,`recorder/event/event.c`,`recorder/gone.c`,'

printf '%s\n' '#define PERF_NEWS 1 /* PERF_OLD */' 'struct perf_event_attr {' ' __u64 one : 1, /* two; */' '  three : 2;' \
	' union { __u32 four; __u32 five[3]; };' '};' >new.h
"$check" "$TOP" "$TMP/new.h" 2>said
is "$(sed 's/^perf_events: //; s/ has no row.*//' said | xargs)" "PERF_NEWS attr.five attr.four attr.one attr.three" \
	"what another header has is told, comments are not"
nok "a header that is not there" "$check" "$TOP" "$TMP/no.h"

done_testing
