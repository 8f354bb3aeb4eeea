/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firefox: samples as Firefox Profiler's processed profile, version 60 (any later version of the Profiler
 * upgrades it).
 * Source: github.com/firefox-devtools/profiler, src/types/profile.ts and docs-developer/CHANGELOG-formats.md.
 *
 * A thread for each thread that was sampled, with its samples in the order of their times. Names are in
 * it, so that no symbol is looked up. Categories are User, Kernel, JIT and Unknown. Gaps and losses are
 * markers of a thread "spoor" of its own. A sample is worth 1, or, by period and of a clock, its
 * milliseconds.
 */
#ifndef SYMBOLIZER_EXPORT_FIREFOX_H
#define SYMBOLIZER_EXPORT_FIREFOX_H

#include "symbolizer/export/stack_export.h"

#define FIREFOX_VERSION 60

/* Of the log; the profile is by pid, tid and line. */
stack_export_fn firefox_write;

#endif
