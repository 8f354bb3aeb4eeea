/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_options: what a session is asked for.
 */
#ifndef RECORDER_GROUND_SESSION_OPTIONS_H
#define RECORDER_GROUND_SESSION_OPTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct io_sink;

enum session_target {
	SESSION_ALL,	 /* every process on the CPUs */
	SESSION_PID,	 /* processes, all their threads, children from now on */
	SESSION_TID,	 /* threads, children from now on; -t has extra.no_inherit, as perf */
	SESSION_CGROUP,	 /* what runs in a cgroup, on the CPUs */
	SESSION_COMMAND, /* a command that the session starts */
};

enum session_call_graph {
	SESSION_CALL_GRAPH_NONE,
	/* AUTO of events with a frequency; FP of others, which may come at any rate, and with overwrite or user_regs. */
	SESSION_CALL_GRAPH_DEFAULT,
	SESSION_CALL_GRAPH_FP,
	SESSION_CALL_GRAPH_AUTO,  /* registers and stack are copied, unwound, and not recorded */
	SESSION_CALL_GRAPH_DWARF, /* registers and a piece of the stack with each sample */
	SESSION_CALL_GRAPH_LBR,	  /* of user space by the CPU's own stack of branches */
};

/* Who is asked for the build-ids of mapped files. What the kernel cannot tell is always read. */
enum session_build_ids {
	SESSION_BUILD_IDS_AUTO, /* the kernel where that harms no other recorder, else the files */
	SESSION_BUILD_IDS_KERNEL, /* with each mapping */
	SESSION_BUILD_IDS_FILE,
};

/* Copies of mapped files, for when these are gone (format/stored). */
enum session_objects_mode {
	SESSION_OBJECTS_NONE,
	SESSION_OBJECTS_EPHEMERAL, /* of what is deleted, in memory, or in a container */
	SESSION_OBJECTS_ALL,
};

struct session_objects {
	enum session_objects_mode mode;
	const char *dir;	/* a "spoor-objects" that is there, this user's */
	uint64_t allowed_bytes; /* that may be stored */
	uint64_t user_bytes;	/* of it an hour, of what a user other than root runs */
};

#define SESSION_FREQUENCY_HZ 999
#define SESSION_RING_PAGES 128
#define SESSION_SIDEBAND_PAGES 16
#define SESSION_SIDEBAND_PAGES_RARE 64 /* so many that it is seldom woken by them */
#define SESSION_AUX_BYTES (4u << 20)   /* as perf has it for whoever may lock them */
#define SESSION_QUEUE_BYTES (16u << 20)

#define SESSION_STACK_BYTES 8192 /* of user stack with a sample, as perf has it */
#define SESSION_STACK_BYTES_LEAST 4096
#define SESSION_STACK_BYTES_MAX 65528 /* the kernel's: a multiple of 8 in 16 bits */

/* Registers of a sample, as bits of perf's numbers: all that a 64-bit task has and the kernel gives. */
#if defined(__x86_64__)
#define SESSION_REGISTERS UINT64_C(0xff0fff)
#define SESSION_VECTORS UINT64_C(0xffffffff00000000) /* XMM0 to XMM15, two bits each */
#elif defined(__aarch64__)
#define SESSION_REGISTERS UINT64_C(0x1ffffffff)
#define SESSION_VECTORS (UINT64_C(1) << 46) /* VG */
#else
#define SESSION_REGISTERS UINT64_C(0)
#define SESSION_VECTORS UINT64_C(0)
#endif

#define SESSION_MAX_STACK UINT16_MAX /* frames: attr.sample_max_stack */

/* What perf's options of the same names ask for. */
struct session_extra {
	uint64_t sample_type; /* PERF_SAMPLE_* beside those that are always asked for */
	uint64_t branches;    /* PERF_SAMPLE_BRANCH_*; 0: none */
	uint64_t user_regs;   /* of SESSION_REGISTERS */
	uint64_t intr_regs;   /* where the event was, also in the kernel; also of SESSION_VECTORS */
	uint16_t max_stack;   /* frames of a call chain; 0: kernel.perf_event_max_stack */
	bool data;	      /* maps of data as well */
	bool all_user, all_kernel;
	bool user_callchains, kernel_callchains; /* only those */
	bool no_inherit;			 /* not what the tasks fork from now on */
	bool group;				 /* all events in one, unless some are in groups */
	bool inherit;	    /* although the threads were named one by one: see SESSION_TID */
	bool per_thread;    /* rings of threads instead of CPUs; without what they fork */
	bool deferred;	    /* the user's part of call chains when the task returns there */
	bool switch_events; /* a record of each context switch, beside maps and names */
	bool stat;	    /* counts of each task that inherited, when it ends */
	bool no_samples;    /* counts alone */
	bool no_buffering;  /* the kernel wakes for each sample */
	bool skip_missing;  /* events that cannot be opened are left out, and told */
	bool strict_freq;   /* a frequency that is over the kernel's limit is an error */
};

/* Which hits of the tracepoints of a "-e" string are sampled; all zero: each. */
struct session_filter {
	const char *text;  /* as the kernel takes it (event_filter.h); NULL: none */
	bool exclude_self; /* nor those of the recorder itself */
};

struct session_options {
	const char *const *events; /* "-e" strings, e.g. "cycles:u"; NULL: the default event */
	size_t nr_events;
	const struct session_filter *filters; /* one for each of them; NULL: none has one */
	const char *off_cpu; /* one more of them, besides the default one; NULL: none */
	const char *trigger; /* likewise: each hit is told, by trigger_fd; NULL: none */
	int trigger_fd;	     /* an eventfd that is written then; borrowed */
	/*
	 * A flight recorder: samples are kept in the rings alone, the last ones that these have room for, until
	 * session_dump() or the end; maps and names are followed meanwhile.
	 */
	bool overwrite;
	bool spare_shared; /* it is beside another session with the same events: see event_shared.h */
	bool dump_again;   /* each dump has all that the rings have, also what one before it had */
	/* Events that are counted beside, and read so often (event_counters.h); 0: none are. */
	uint64_t counter_interval_ns;
	const char *counters;  /* a "-e" string; NULL: those of perf stat */
	bool counters_wait;    /* they are not read before session_count() */
	uint64_t frequency_hz; /* 0 with period 0: SESSION_FREQUENCY_HZ */
	/* No event has more, whatever its own term says: see session_set_frequency(). 0: no limit. */
	uint64_t frequency_limit_hz;
	uint64_t period; /* -c; 0: frequency mode */
	enum session_target target;
	const pid_t *pids; /* PID, TID; borrowed for the session's life, as is command */
	size_t nr_pids;
	bool pids_may_end;    /* they were found, not named: one that is gone is left out */
	const char *cgroup;   /* as cgroup_open() takes it */
	const char *cgroups;  /* with CGROUP, instead: one for each event in turn; see target.h */
	const char *cpus;     /* "0-3,7"; NULL: all online */
	char *const *command; /* argv, NULL-terminated; also with ALL: runs meanwhile */
	enum session_call_graph call_graph;
	uint32_t stack_bytes; /* AUTO, DWARF: a multiple of 8; 0: SESSION_STACK_BYTES, or of AUTO as rings have room */
	struct session_extra extra;
	enum session_build_ids build_ids;
	struct session_objects objects;
	uint32_t ring_pages; /* power of two; 0: SESSION_RING_PAGES */
	/* Of all rings together, where they are larger than SESSION_RING_PAGES; 0: no other bound than the recorder's. */
	uint64_t rings_bytes_max;
	uint32_t sideband_pages; /* 0: SESSION_SIDEBAND_PAGES */
	uint32_t aux_pages;	 /* of an AUX area: power of two; 0: SESSION_AUX_BYTES of them */
	bool aux_snapshot; /* of it, only what is there at the end, and at session_snapshot() */
	uint64_t aux_snapshot_bytes; /* likewise, the last so many; 0: all */
	uint64_t queue_bytes;	     /* 0: SESSION_QUEUE_BYTES */
	uint64_t stacks_bytes_max; /* of copied stacks that wait to be unwound; 0: no other bound than the recorder's */
	uint64_t model_bytes;  /* of what is known of tasks and maps: see live.h. 0: 32 MiB */
	bool starts_disabled;  /* sampling waits for session_enable() */
	uint64_t duration_ns;  /* 0: until stopped, or the command ends */
	uint64_t block_age_ns; /* longest life of an open block; 0: 5 s */
	uint32_t block_bytes;  /* of records that close a block; 0: RECORDING_BLOCK_BYTES */
	int out_fd;	       /* taken over; -1 when sink is given */
	struct io_sink *sink;  /* taken over; NULL: out_fd */
	/*
	 * A file that refuses bytes: false, session_run() ends with the error; true, the
	 * session goes on: state is followed, samples are counted as lost (LOSS_DISK_FULL, a
	 * GAP block tells when), and it is tried again every second. A file that is no more
	 * (-ESTALE, see io.h) takes its samples with it: LOSS_REMOVED, and a GAP in the next one.
	 */
	bool suspend_on_full;
	/*
	 * What sampling may take of each CPU, in millionths: see sample_bound.h. May change while
	 * the session lives; borrowed. NULL: no bound.
	 */
	const _Atomic uint32_t *cpu_share;
	/*
	 * For a user without privileges. Contents of processes go into the file only as
	 * perf_event_open(2) would let that user have them: stacks and registers of tasks that may
	 * be looked into (tracee.h), fields of tracepoints with kernel.perf_event_paranoid = -1.
	 */
	bool for_user;
	bool without_contents; /* the file is not the user's alone: see event_plan_contents() */
	uid_t uid;
	gid_t gid;
	uint64_t descriptors_max; /* that events may take; more is refused. 0: no bound */
	/*
	 * What side-band (maps, names) may take in the file, and be held of it, by a rate; users other
	 * than root may take half of that each. What is over is left out: LOSS_SIDEBAND_BUDGET.
	 * 0: no limit.
	 */
	uint64_t sideband_bytes_per_s;
	/*
	 * About what the maps may take of the state that a file begins with, before it is packed; what is
	 * over is left out of the processes that have most, and counted likewise. 0: 32 MiB.
	 */
	uint64_t state_bytes;
	const char *cmdline; /* for the file's meta */
	const char *writer;  /* "spoor 0.1" */
};

/*
 * "auto[,BYTES]", "fp[,FRAMES]", "fp,defer", "none" (perf's "no" is the same), "lbr" or "dwarf[,BYTES]", into call_graph, stack_bytes
 * and, with FRAMES, extra.max_stack, with defer, extra.deferred of *options, which -EINVAL leaves
 * as they were. 0, -EINVAL.
 */
int session_call_graph_parse(const char *text, struct session_options *options);

/* "ephemeral", "all" or "none". 0, -EINVAL. */
int session_objects_parse(const char *text, enum session_objects_mode *ret);

/* "auto", "kernel" or "file". 0, -EINVAL. */
int session_build_ids_parse(const char *text, enum session_build_ids *ret);

/*
 * Words of perf's -j, with commas: privileges (u, k, hv) alone are of any branch. 0; -EINVAL with *ret_word the
 * first that is none, and *ret_bytes its length.
 */
int session_branches_parse(const char *text, uint64_t *ret, const char **ret_word,
			   size_t *ret_bytes);

#endif
