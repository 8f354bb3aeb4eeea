/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <linux/perf_event.h> of this machine, and what it lacks when it is older than the kernels that are recorded, or
 * whose records are read: down to the headers of Linux 4.15, up to Linux 6.19. Stands before the system's in the
 * search path. Enumerators cannot be asked for by #ifdef; a macro of the same value hides one that is there.
 *
 * struct perf_event_attr is ours, whichever the machine's is: the kernel that runs may be newer than the headers.
 */
#ifndef FORMAT_UAPI_LINUX_PERF_EVENT_H
#define FORMAT_UAPI_LINUX_PERF_EVENT_H

#include <linux/types.h>

#define perf_event_attr perf_event_attr_of_the_machine
#include_next <linux/perf_event.h>
#undef perf_event_attr

/* Little-endian machines only are recorded; the order of the bits is that of x86 and arm64 (test_event_def.c). */
struct perf_event_attr {
	__u32 type;
	__u32 size;
	__u64 config;
	union {
		__u64 sample_period;
		__u64 sample_freq;
	};
	__u64 sample_type;
	__u64 read_format;
	__u64 disabled : 1;
	__u64 inherit : 1;
	__u64 pinned : 1;
	__u64 exclusive : 1;
	__u64 exclude_user : 1;
	__u64 exclude_kernel : 1;
	__u64 exclude_hv : 1;
	__u64 exclude_idle : 1;
	__u64 mmap : 1;
	__u64 comm : 1;
	__u64 freq : 1;
	__u64 inherit_stat : 1;
	__u64 enable_on_exec : 1;
	__u64 task : 1;
	__u64 watermark : 1;
	__u64 precise_ip : 2;
	__u64 mmap_data : 1;
	__u64 sample_id_all : 1;
	__u64 exclude_host : 1;
	__u64 exclude_guest : 1;
	__u64 exclude_callchain_kernel : 1;
	__u64 exclude_callchain_user : 1;
	__u64 mmap2 : 1;
	__u64 comm_exec : 1;
	__u64 use_clockid : 1;
	__u64 context_switch : 1;
	__u64 write_backward : 1;
	__u64 namespaces : 1;
	__u64 ksymbol : 1;	  /* 5.1 */
	__u64 bpf_event : 1;	  /* 5.1 */
	__u64 aux_output : 1;	  /* 5.4 */
	__u64 cgroup : 1;	  /* 5.7 */
	__u64 text_poke : 1;	  /* 5.9 */
	__u64 build_id : 1;	  /* 5.12 */
	__u64 inherit_thread : 1; /* 5.13, as the next two */
	__u64 remove_on_exec : 1;
	__u64 sigtrap : 1;
	__u64 defer_callchain : 1; /* 6.19, as the next */
	__u64 defer_output : 1;
	__u64 __reserved_1 : 24;
	union {
		__u32 wakeup_events;
		__u32 wakeup_watermark;
	};
	__u32 bp_type;
	union {
		__u64 bp_addr;
		__u64 kprobe_func;
		__u64 uprobe_path;
		__u64 config1;
	};
	union {
		__u64 bp_len;
		__u64 kprobe_addr;
		__u64 probe_offset;
		__u64 config2;
	};
	__u64 branch_sample_type;
	__u64 sample_regs_user;
	__u32 sample_stack_user;
	__s32 clockid;
	__u64 sample_regs_intr;
	__u32 aux_watermark;
	__u16 sample_max_stack;
	__u16 __reserved_2;
	__u32 aux_sample_size; /* 5.5 */
	__u32 aux_action;      /* 6.13: bits start_paused, pause, resume */
	__u64 sig_data;	       /* 5.13 */
	__u64 config3;	       /* 6.3 */
	__u64 config4;	       /* 6.19 */
};

#define PERF_ATTR_SIZE_VER7 128
#define PERF_ATTR_SIZE_VER8 136
#define PERF_ATTR_SIZE_VER9 144

/* 5.1 */
#define PERF_RECORD_KSYMBOL 17
#define PERF_RECORD_KSYMBOL_TYPE_UNKNOWN 0
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
/* 6.1, 6.8 */
#define PERF_SAMPLE_BRANCH_PRIV_SAVE (1U << 18)
#define PERF_SAMPLE_BRANCH_COUNTERS (1U << 19)
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
