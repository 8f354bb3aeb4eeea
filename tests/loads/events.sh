#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -g -e cpu-clock -e page-faults
# Two events.
exec bash "${0%/*}/compiler.sh"
