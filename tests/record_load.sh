#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/record_load.sh LOAD RECORDING: records a load of tests/loads/, one at a time: an ordinary user has locked memory
# for the rings of one. Where it fails, the recording is empty and of 1970. What the recorder says is in RECORDING.log.
set -u
load=$1 recording=$2
mkdir -p "${recording%/*}" || exit 1
exec 9>"${recording%/*}/lock" && flock 9 || exit 1
read -r -a options < <(sed -n 's/^# @record: //p' "$load")
export FIXTURES=$BUILD/tests/fixtures
if "$BUILD/spoor" record "${options[@]}" -o "$recording.new" -- bash "$load" >"$recording.log" 2>&1 9>&-; then
	mv "$recording.new" "$recording"
else
	rm -f "$recording.new" "$recording"
	touch -d @0 "$recording"
fi
