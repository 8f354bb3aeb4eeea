#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -d -e page-faults -c 1
# Page faults, each with the address that was touched.
exec "$FIXTURES/touched"
