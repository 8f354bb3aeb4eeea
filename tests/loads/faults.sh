#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -e page-faults -c 1
# An event that is no time.
exec true
