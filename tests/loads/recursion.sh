#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -e cpu-clock:u
# All of it below a function that calls itself.
exec "$FIXTURES/split" 1 recurse
