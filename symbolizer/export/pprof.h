/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof: a profile as go tool pprof, Pyroscope, Parca and others read it, packed by gzip.
 * Source: github.com/google/pprof, proto/profile.proto.
 *
 * Each event is two values of a sample: how many, and its period. A mapping is one object with
 * its build-id, in the object's own addresses, whichever process mapped it and where: it begins at
 * 0 and ends nowhere, which pprof takes for "addresses are as in the file". A location is an
 * address with the calls that were inlined there. A mapping with a build-id, none of whose addresses has a
 * name, says so (has_functions), and pprof looks for itself.
 *
 * Labels are those of perf_data_converter: comm, pid, tid, cpu, cgroup, each where the profile keeps
 * them apart. The first mapping is the program of most samples.
 */
#ifndef SYMBOLIZER_EXPORT_PPROF_H
#define SYMBOLIZER_EXPORT_PPROF_H

#include "symbolizer/export/stack_export.h"

/* The profile is by address and by line. Of all events. */
stack_export_fn pprof_write;

#endif
