#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
. "$(dirname "$0")/../lib.sh"
need_command mandoc
plan 1
ok "manual pages are sound and complete" "$TOP/tests/docs.sh" "$TOP"
