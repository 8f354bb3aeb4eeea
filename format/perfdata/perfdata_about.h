/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_about: what sections of perf.data's header (and FEATURE records of a pipe, with
 * the same payload) say that a recording's meta has a place for. perfdata_feature is the
 * other direction.
 *
 * Every section is carried as it is besides (foreign.h); a payload that does not parse costs
 * what it says and nothing else.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_ABOUT_H
#define FORMAT_PERFDATA_PERFDATA_ABOUT_H

#include "format/block/recording_meta.h"

/*
 * Takes what a section says: host, kernel, architecture, CPUs, command line, perf's version,
 * clocks, names of events, formats of tracepoints, the kernel's build-id. Others are nothing to it. 0,
 * -FMT_E_CORRUPT, -FMT_E_NOMEM.
 */
int perfdata_about_apply(struct recording_meta *m, uint32_t feature, struct span payload);

#endif
