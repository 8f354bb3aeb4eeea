/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host: which machine and kernel this is, for a recording's meta.
 */
#ifndef RECORDER_HOST_HOST_H
#define RECORDER_HOST_HOST_H

#include "format/block/recording_meta.h"

struct kallsyms;

/* The three clocks, read as near to each other as a few tries make it. */
void host_clocks(struct clock_triple *ret);

/* CLOCK_MONOTONIC, ns. */
uint64_t host_now_ns(void);

/* What the calling thread has had of the CPUs, ns. */
uint64_t host_thread_cpu_ns(void);

/* Of this boot; untouched when it cannot be found out. */
void host_boot_id(uint8_t ret[16]);

/*
 * Build-ids of the vDSO that processes as this one have, and of a loaded module, by its name without
 * brackets. 0, -ENODATA (it has none), -errno.
 */
int host_buildid_vdso(struct buildid *ret);
int host_buildid_module(const char *name, struct buildid *ret);

/*
 * *ret: as recording_meta.pid_namespace. 0; -EXDEV: /proc is of another PID namespace than this process, so that its
 * numbers are other processes'.
 */
int host_pid_namespace(uint64_t *ret);

/*
 * Fills file id, machine and boot id, clocks, clockid, page size, CPUs, host name, release,
 * architecture, the PID namespace, the kernel's build-id and text address (kernel may be NULL: hidden). What
 * cannot be found out stays zero. 0, -ENOMEM, -errno when there are no random bytes.
 */
int host_describe(struct recording_meta *meta, const struct kallsyms *kernel);

/* For the next file of the same session: file id, clocks, CPUs online. 0, -errno. */
int host_describe_again(struct recording_meta *meta);

#endif
