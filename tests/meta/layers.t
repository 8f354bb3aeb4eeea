#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# This tree keeps its plan. layers_planted.t asks whether the check sees what does not.
. "$(dirname "$0")/../lib.sh"
plan 1
ok "this tree keeps its plan" env BUILD="$BUILD" "$TOP/tests/layers.sh" "$TOP"
