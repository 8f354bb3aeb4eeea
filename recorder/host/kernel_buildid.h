/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_buildid: the build-ids of what the kernel brings along: itself, its modules, the vDSO.
 */
#ifndef RECORDER_HOST_KERNEL_BUILDID_H
#define RECORDER_HOST_KERNEL_BUILDID_H

#include "format/bytes/buildid.h"

/* All return 0, -ENODATA (it has none), -errno. */

/* Of the running kernel (/sys/kernel/notes). */
int kernel_buildid(struct buildid *ret);
/* Of the vDSO that processes as this one have. */
int kernel_buildid_vdso(struct buildid *ret);
/* Of a loaded module, by its name without brackets. */
int kernel_buildid_module(const char *name, struct buildid *ret);

#endif
