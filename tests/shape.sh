#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/shape.sh FILE...: sizes against the budget: function 60 lines normally and 150 hard, file 600
# and 1000, header 200. Reported, not enforced. Functions are found by their braces in column one.
exec awk '
function close_file() {
	if (name == "") return
	files++; lines += n
	limit = name ~ /\.h$/ ? 200 : 600
	if (n > limit) printf "%6d  %s: file (budget %d)\n", n, name, limit
}
FNR == 1 { close_file(); name = FILENAME; n = 0; depth = 0 }
{ n++ }
/^[A-Za-z_].*\(/ && !/;$/ { header = $0 }
/^{/ { start = FNR }
/^}/ && !/^};|^} / && start {
	size = FNR - start + 1
	functions++; sizes[functions] = size; start = 0
	if (size > 60) { sub(/\(.*/, "", header); printf "%6d  %s: %s()%s\n", size, name, header, (size > 150 ? " OVER THE HARD LIMIT" : "") }
}
/^};|^} / { start = 0 }
END {
	close_file()
	for (i = 2; i <= functions; i++) {
		v = sizes[i]
		for (j = i - 1; j > 0 && sizes[j] > v; j--) sizes[j + 1] = sizes[j]
		sizes[j + 1] = v
	}
	printf "%d files, %d lines, %d functions: median %d, 90th percentile %d, longest %d\n", files, lines, functions,
		sizes[int((functions + 1) / 2)], sizes[int(functions * 0.9 + 0.5)], sizes[functions]
}' "$@"
