#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -g -F 2999
# Processes that come and go.
for _ in $(seq 300); do /bin/true; done
