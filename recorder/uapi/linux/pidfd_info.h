/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What <linux/pidfd.h> has since Linux 6.13; with <fcntl.h> it cannot be included. */
#ifndef RECORDER_UAPI_LINUX_PIDFD_INFO_H
#define RECORDER_UAPI_LINUX_PIDFD_INFO_H

#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define PIDFD_INFO_CREDS (1ull << 1)

struct pidfd_info {
	__u64 mask, cgroupid;
	__u32 pid, tgid, ppid;
	__u32 ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	__u32 spare0;
};

#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)

#ifndef SYS_pidfd_open /* 5.3 */
#define SYS_pidfd_open 434
#endif

#endif
