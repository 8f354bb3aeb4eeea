#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -g -F 2999
# An interpreter: deep stacks of few functions, then system calls, then threads.
exec /usr/bin/python3 "${0%.sh}.py"
