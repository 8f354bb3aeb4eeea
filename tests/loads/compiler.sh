#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -g -F 2999
# A compiler: three programs, one after another, without frame pointers.
exec g++ -O2 -g -c -o /dev/null "${0%.sh}.cc"
