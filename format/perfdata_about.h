/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_about: what sections of perf.data's header (and FEATURE records of a pipe, with
 * the same payload) say that a recording's meta has a place for. perfdata_feature is the
 * other direction.
 *
 * Every section is carried as it is besides (foreign.h); a payload that does not parse costs
 * what it says and nothing else.
 */
#ifndef FORMAT_PERFDATA_ABOUT_H
#define FORMAT_PERFDATA_ABOUT_H

#include "format/recording_meta.h"

/*
 * Takes what a section says: host, kernel, architecture, CPUs, command line, perf's version,
 * clocks, names of events, the kernel's build-id. Others are nothing to it. 0,
 * -FMT_E_CORRUPT, -FMT_E_NOMEM.
 */
int perfdata_about_apply(struct recording_meta *m, uint32_t feature, struct span payload);

/* An entry of the BUILD_ID section, or a BUILD_ID record. */
struct perfdata_buildid {
	uint32_t pid;
	uint8_t cpumode; /* 1 kernel and modules, 2 user, 4 guest kernel, 5 guest user */
	uint8_t size;	 /* 1..20 */
	uint8_t id[20];
	const char *path;
};

/* Takes the next one off s: 1, 0 at the end, -FMT_E_CORRUPT. */
int perfdata_buildid_next(struct span *s, struct perfdata_buildid *ret);

/* Is this the kernel itself, and not a module? */
bool perfdata_buildid_is_kernel(const struct perfdata_buildid *b);

#endif
