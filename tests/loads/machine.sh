#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @record: -a -g -F 999
# All CPUs, whatever runs there, while a compiler does. What others run may have other names in one command than in the
# next: names are those of bash, g++, cc1plus, as and swapper.
exec bash "${0%/*}/compiler.sh"
