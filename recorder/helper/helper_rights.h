/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_rights: the capabilities by which a helper reads files and processes of others, and giving up all others.
 *
 * capset(2) gives them up. Where a seccomp filter refuses it (systemd's ~@privileged, so the unit of spoord), execve(2)
 * does: the process has its ambient capabilities behind it, and prctl(2) lowers these.
 */
#ifndef RECORDER_HELPER_HELPER_RIGHTS_H
#define RECORDER_HELPER_HELPER_RIGHTS_H

#include <linux/capability.h>
#include <stdint.h>

#ifndef CAP_PERFMON /* 5.8 */
#define CAP_PERFMON 38
#endif
#ifndef CAP_CHECKPOINT_RESTORE /* 5.9 */
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define HELPER_RIGHT(capability) (UINT64_C(1) << (capability))

/* /proc/PID/root, and files that only their owner may read. */
#define HELPER_RIGHTS_JIT (HELPER_RIGHT(CAP_SYS_PTRACE) | HELPER_RIGHT(CAP_DAC_READ_SEARCH))
/* And /proc/PID/map_files: before Linux 5.9 by CAP_SYS_ADMIN. */
#define HELPER_RIGHTS_FILES                                                                        \
	(HELPER_RIGHTS_JIT | HELPER_RIGHT(CAP_CHECKPOINT_RESTORE) | HELPER_RIGHT(CAP_SYS_ADMIN))
/* And /proc/PID/maps: without CAP_SYS_PTRACE from Linux 6.17 on by CAP_PERFMON. */
#define HELPER_RIGHTS_STATE (HELPER_RIGHTS_FILES | HELPER_RIGHT(CAP_PERFMON))
/* What any worker has: the keeper forks them. */
#define HELPER_RIGHTS_KEEPER HELPER_RIGHTS_STATE

/*
 * The calling process, which has one thread, has none but those of wanted from now on, nor can it get others: no_new_privs,
 * no ambient and no inheritable ones, and a bounding set without others where CAP_SETPCAP allows that. Of wanted those go, too,
 * that are not needed beside another one of them. 0; -errno: it still has others, or may get them.
 */
int helper_rights_shed(uint64_t wanted);

/* Makes these the ones that it has after execve(2). As well as it can: helper_rights_shed() tells then. */
void helper_rights_for_exec(uint64_t wanted);

#endif
