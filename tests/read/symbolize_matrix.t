#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# spoor symbolize, of {gcc, clang} x DWARF {4, 5} x {-O0, -O2, LTO}, however it is linked and stored. What the compiler
# splits off is in symbolize_split.t, other versions, languages and what is installed in symbolize.t.
. "$(dirname "$0")/../lib.sh"
need_command gcc g++ clang clang++ llvm-symbolizer ld.lld objcopy readelf nm xz python3

# No exec: lib.sh removes the directory of the test when this shell ends.
PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/oracles/symbolize_matrix.py" "$SPOOR" "$TOP/tests/fixtures/symbolize" "${COUNT-500}"
