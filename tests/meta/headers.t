#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 50s
#
# Every header compiles alone; the check sees one that does not.
. "$(dirname "$0")/../lib.sh"

ok "this tree's headers compile alone" "$TOP/tests/headers.sh" "$TOP"

mkdir -p tree/format
cp "$TOP/banned.h" tree/
planted() # TEXT NAME
{
	printf '%s\n' '#ifndef FORMAT_PLANTED_H' '#define FORMAT_PLANTED_H' "$1" '#endif' >tree/format/planted.h
	nok "$2" "$TOP/tests/headers.sh" tree
}
planted 'uint32_t f(void);' "a type from a header not included"
planted 'static inline int f(void) { return strlen("x"); }' "a function not declared"
planted '#include <string.h>
static inline char *f(char *a) { return strcpy(a, "x"); }' "a banned function"

printf '%s\n' '#include <stdint.h>' '#ifndef FORMAT_FIRST_H' '#define FORMAT_FIRST_H' '#endif' >tree/format/first.h
planted 'uint32_t f(void);' "a type from a header that only another one of the directory includes"
rm tree/format/first.h
printf '%s\n' '#ifndef FORMAT_PLANTED_H' '#define FORMAT_PLANTED_H' '#include <stdint.h>' 'uint32_t f(void);' '#endif' >tree/format/planted.h
ok "and with it, it does" "$TOP/tests/headers.sh" tree
printf '%s\n' '#ifndef FORMAT_PLANTED_H' 'static inline int f(void) { return 1; }' '#endif' >tree/format/planted.h
nok "a guard that guards nothing" "$TOP/tests/headers.sh" tree

printf '%s\n' '#ifndef OTHER_H' '#define OTHER_H' '#endif' >tree/format/planted.h
nok "a guard of another name" "$TOP/tests/headers.sh" tree

# As musl's, which names neither itself nor a version.
: >features.h
ok "floor.h in a C library that is not glibc" "${CC:-gcc}" -nostdinc -I. -undef -D__GNUC__=12 -E "$TOP/floor.h"
mkdir old
printf '%s\n' '#define __GLIBC__ 2' '#define __GLIBC_PREREQ(major, minor) ((major) == 2 && (minor) < 28)' >old/features.h
nok "and in one that is too old" "${CC:-gcc}" -nostdinc -Iold -undef -D__GNUC__=12 -E "$TOP/floor.h"
like "$("${CC:-gcc}" -nostdinc -Iold -undef -D__GNUC__=12 -E "$TOP/floor.h" 2>&1)" "needs glibc 2.28" "which it says"

done_testing
