/* SPDX-License-Identifier: GPL-2.0-or-later */
/* <linux/openat2.h>, which headers before Linux 5.6 have not, and the number, which glibc before 2.32 has not. */
#ifndef RECORDER_UAPI_LINUX_OPENAT2_H
#define RECORDER_UAPI_LINUX_OPENAT2_H

#if __has_include_next(<linux/openat2.h>)
#include_next <linux/openat2.h>
#else
#include <linux/types.h>

struct open_how {
	__u64 flags, mode, resolve;
};

#define RESOLVE_IN_ROOT 0x10
#endif

/* 5.12 */
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

#include <sys/syscall.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

#endif
