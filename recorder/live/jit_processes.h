/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_processes: those that may make code at run time: where they have memory for it, and how far they
 * have been asked about it. Bounded; no clock, no questions: that is live_jit's.
 */
#ifndef RECORDER_LIVE_JIT_PROCESSES_H
#define RECORDER_LIVE_JIT_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_PROCESSES_MAX 256	  /* as many as the helper holds */
#define JIT_PROCESS_RANGES_MAX 16 /* of more, those nearest to each other become one */
#define JIT_FORKS_MAX                                                                              \
	4096 /* a power of two, that wait; of more, the order of records is not certain */
#define JIT_PROCESSES_CHAINS 1024 /* a power of two */

struct jit_memory {
	uint64_t start, end; /* [start, end) */
};

struct jit_process {
	uint16_t slot; /* of v; with serial the helper's key */
	uint32_t pid;
	uint32_t uid;
	uint64_t serial;	     /* never another one's; 0: a free slot */
	uint64_t began_ns, ended_ns; /* 0: not known; it has not */
	uint64_t seen_ns;	     /* of the first record that told of it */
	struct jit_memory ranges[JIT_PROCESS_RANGES_MAX];
	size_t nr_ranges;
	char *dump; /* path of a jitdump that it mapped; NULL */
	uint64_t dump_ino;
	/* The one whose memory it began as a copy of, and whose names that has; serial 0: none. */
	uint16_t from_slot, from_depth;
	uint64_t from_serial;
	size_t copies; /* of its memory, whose processes are still here */
	uint16_t next; /* of its chain: slot + 1 */
	/* The rest is live_jit's. */
	bool turn, held, dump_told; /* the helper was let, and told to, open its files */
	bool lazy;		    /* a child, which may never run such code */
	bool hit;		    /* by samples of the open file */
	bool asked, urgent;
	size_t fresh;	     /* addresses that have not been asked for, about */
	uint64_t covered_ns; /* all addresses of samples until then have been asked for */
	uint64_t due_ns, wait_ns, paused_ns;
};

struct jit_process_end {
	uint32_t pid;
	uint64_t time_ns;
};

struct jit_fork {
	uint32_t parent, pid;
	uint64_t time_ns;
	uint64_t ended_ns; /* that the child ended, or executed another program; 0: not known */
};

struct jit_processes {
	struct jit_process *v[JIT_PROCESSES_MAX];	   /* NULL: free */
	uint16_t chains[JIT_PROCESSES_CHAINS];		   /* by pid: slot + 1 */
	struct jit_process_end ends[JIT_PROCESSES_CHAINS]; /* of late, by pid */
	struct jit_fork *forks;				   /* that wait for their time */
	size_t nr_forks, cap_forks;
	uint16_t fork_of[JIT_FORKS_MAX]; /* by pid: the newest of forks + 1 */
	uint64_t serial;
	size_t nr;
};

void jit_processes_done(struct jit_processes *s); /* all zero is an empty one */

/* The newest one of that pid; NULL. */
static inline struct jit_process *
jit_processes_find(const struct jit_processes *s, uint32_t pid)
{
	uint16_t at = s->chains[pid % JIT_PROCESSES_CHAINS];

	while (at && s->v[at - 1]->pid != pid)
		at = s->v[at - 1]->next;
	return at ? s->v[at - 1] : NULL;
}

/* The newest one of that pid that had begun by then; NULL: as samples come after later records. */
static inline struct jit_process *
jit_processes_find_at(const struct jit_processes *s, uint32_t pid, uint64_t time_ns)
{
	uint16_t at = s->chains[pid % JIT_PROCESSES_CHAINS];

	while (at && (s->v[at - 1]->pid != pid || s->v[at - 1]->began_ns > time_ns))
		at = s->v[at - 1]->next;
	return at ? s->v[at - 1] : NULL;
}

/*
 * Since seen_ns, for who knows how long (told), or from then on. NULL: there is no room or memory, or it
 * has ended since. Records of two CPUs come in any order.
 */
struct jit_process *jit_processes_add(struct jit_processes *s, uint32_t pid, uint64_t seen_ns,
				      bool told);
/* It has ended, or executed another program. */
void jit_processes_end(struct jit_processes *s, uint32_t pid, uint64_t time_ns);
void jit_processes_remove(struct jit_processes *s, struct jit_process *p);
/*
 * A process was made: it has a copy of the memory of its parent. That is known from jit_processes_settle() on:
 * the records of another CPU, by which the parent has such memory, may not have come yet.
 */
void jit_processes_fork(struct jit_processes *s, uint32_t parent, uint32_t pid, uint64_t time_ns);
/*
 * All records that are older than until_ns have come. Returns until_ns, or the time of a fork that there is no room for:
 * once samples until then have been looked at, jit_processes_make_room() removes what is not needed any more, or
 * gives up the forks until until_ns; then it is called again.
 */
uint64_t jit_processes_settle(struct jit_processes *s, uint64_t until_ns);
void jit_processes_make_room(struct jit_processes *s, uint64_t time_ns, uint64_t until_ns);

/* The one that is there, if it is still that one; NULL. */
struct jit_process *jit_processes_at(const struct jit_processes *s, uint16_t slot, uint64_t serial);

/*
 * The one whose memory p began as a copy of, while it is there; NULL. A chain of them is no longer than a
 * reader's, TASK_MODEL_ORIGINS_MAX: of more, the latest ones are left out.
 */
static inline struct jit_process *
jit_processes_from(const struct jit_processes *s, const struct jit_process *p)
{
	return jit_processes_at(s, p->from_slot, p->from_serial);
}
/* Every one; p NULL: the first. NULL: the end. */
struct jit_process *jit_processes_next(const struct jit_processes *s, const struct jit_process *p);

/* It mapped memory to be executed. */
void jit_process_map(struct jit_process *p, uint64_t start, uint64_t end);
bool jit_process_holds(const struct jit_process *p, uint64_t address);
void jit_process_dump(struct jit_process *p, const char *path, uint64_t ino);

#endif
