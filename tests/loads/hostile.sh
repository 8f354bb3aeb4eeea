#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -F 999
# Commands whose names are not for a terminal, nor for HTML, folded stacks or JSON: with an escape sequence and a byte
# that is no UTF-8, and with a control character of two bytes.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for name in $'e\e[31m"<;\n\x81' $'x\xc2\x9b31m'; do
	cp "$(command -v sh)" "$dir/$name" || exit 1
	# shellcheck disable=SC2016
	"$dir/$name" -c 'i=0; while [ $i -lt 500000 ]; do i=$((i + 1)); done'
done
