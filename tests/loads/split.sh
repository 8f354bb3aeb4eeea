#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -e cpu-clock:u
# A program whose parts are known, for two seconds.
exec "$FIXTURES/split" 2
