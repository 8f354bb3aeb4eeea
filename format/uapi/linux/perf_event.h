/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <linux/perf_event.h> of this machine, and what it lacks when it is older than the kernels whose records are
 * read and written: constants only, down to the headers of Linux 4.15. Stands before the system's in the search
 * path. Enumerators cannot be asked for by #ifdef; a macro of the same value hides one that is there.
 */
#ifndef FORMAT_UAPI_LINUX_PERF_EVENT_H
#define FORMAT_UAPI_LINUX_PERF_EVENT_H

#include_next <linux/perf_event.h>

/* 5.1 */
#define PERF_RECORD_KSYMBOL 17
#define PERF_RECORD_KSYMBOL_TYPE_BPF 1
#define PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER (1 << 0)
#define PERF_RECORD_BPF_EVENT 18
#define PERF_BPF_EVENT_PROG_LOAD 1
/* 5.5 to 5.9 */
#define PERF_SAMPLE_AUX (1U << 20)
#define PERF_SAMPLE_BRANCH_HW_INDEX (1U << 17)
#define PERF_SAMPLE_CGROUP (1U << 21)
#define PERF_RECORD_CGROUP 19
#define PERF_RECORD_TEXT_POKE 20
/* 5.11 to 5.13 */
#define PERF_SAMPLE_DATA_PAGE_SIZE (1U << 22)
#define PERF_SAMPLE_CODE_PAGE_SIZE (1U << 23)
#define PERF_SAMPLE_WEIGHT_STRUCT (1U << 24)
#define PERF_COUNT_SW_CGROUP_SWITCHES 11
/* 5.16 to 6.0 */
#define PERF_RECORD_AUX_OUTPUT_HW_ID 21
#define PERF_FORMAT_LOST (1U << 4)

/* 4.17 */
#ifndef PERF_RECORD_MISC_FORK_EXEC
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)
#endif
#ifndef PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14)
#endif
/* 5.12 */
#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

#endif
