/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_script: samples as `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso --header`
 * prints them, for what reads that text: stackcollapse-perf.pl, Firefox Profiler, speedscope.
 *
 * Addresses are those of perf: in the object's file; of the kernel where it was. What those readers
 * would misread differs from perf: in names of commands and events a space before a number, or before
 * nothing, is '_', and a space in an object's name is \040.
 */
#ifndef SYMBOLIZER_EXPORT_PERF_SCRIPT_H
#define SYMBOLIZER_EXPORT_PERF_SCRIPT_H

#include "symbolizer/export/sample_export.h"

/* The profile is by pid, tid, cpu and address. */
extern const struct sample_form perf_script_form;

#endif
