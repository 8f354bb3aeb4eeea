/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_model: who was who, and what was mapped where, as side-band records tell it.
 *
 * Fed records in time order. The recorder keeps one up to date (a new file starts with a
 * snapshot of it), the symbolizer replays one. Pure: records in, state out.
 * Rules (notes/perf.md 2.6): threads of a process share its address space; FORK with
 * another pid copies the parent's; COMM with the exec bit empties it; a newer map replaces
 * what it overlaps and splits older ones; there is no unmap record. An EXIT keeps the task
 * as a ghost, because late samples still name it, until its tid is used again or
 * task_model_prune(). A record about a task that is not known makes it.
 */
#ifndef FORMAT_MODEL_TASK_MODEL_H
#define FORMAT_MODEL_TASK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/perf_record.h"

struct task_model;

/*
 * A mapped file or region, shared by every map of it. Lives as long as the model, or until
 * task_model_prune() finds that no map is left of it; then its index is used again.
 */
struct map_object {
	uint32_t index; /* of the objects that there are now, from 0 */
	/* Of this object with this build-id alone, as long as the model lives. */
	uint64_t serial;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	struct buildid build_id; /* size 0: not known (see task_model_set_build_id()) */
	const char *path;	 /* as the kernel gave it */
};

/* Is this the path of memory that no file stands behind ("[heap]", "//anon", JIT code)? */
bool map_object_anonymous(const char *path);

struct task_map {
	uint64_t start, end; /* [start, end) */
	uint64_t pgoff;	     /* file offset of start */
	uint32_t prot, flags;
	struct map_object *object;
};

struct task {
	uint32_t pid, tid;
	bool exited;
	uint64_t start_ns, exit_ns; /* 0: not known */
	char comm[16];		    /* ":1234" when no COMM was ever seen */
	bool comm_known;
};

struct task_model *task_model_new(void);
void task_model_free(struct task_model *m);

/*
 * Bounds what the model takes, for one that lives as long as its host: 0 is no bound but those of
 * address_space.h, as a reader has it, who must not lose what a recording has. As it fills, fewer maps
 * are kept of a process, its newest: TASK_MODEL_MAPS_* below half, below seven eighths, and then,
 * so that those with most pay first; ghosts go early, names of control groups and of code have an
 * eighth each, and what is still over gets no maps. Tasks have a part for themselves, on top when maps
 * were first; of more, the first to arrive are forgotten. What that costs is in stats.left_out.
 */
#define TASK_MODEL_TASKS_PART 4 /* of the bytes */
void task_model_limit(struct task_model *m, uint64_t bytes);

/*
 * A process has 10 to 60 executable maps, those with most (desktops, browsers) 300; there is no
 * unmap record, so that some of what is known is gone.
 */
#define TASK_MODEL_MAPS_EMPTY 8192
#define TASK_MODEL_MAPS_HALF 512
#define TASK_MODEL_MAPS_FULL 32

/* PERF_RECORD_MISC_*: bits whose meaning hangs on the record's type. */
#define TASK_MISC_COMM_EXEC (1u << 13)
#define TASK_MISC_FORK_FRESH (1u << 13) /* synthesized: nothing comes from the parent */
#define TASK_MISC_FORK_COPY (1u << 12)	/* of such: since the fork it has executed no program */
#define TASK_MISC_MAPS_TIMEOUT (1u << 12)
#define TASK_MISC_MAP_DATA (1u << 13) /* MMAP, MMAP2: not executable */

/* Ghosts that a model keeps at most, so that a replay of many short processes stays small. */
#define TASK_MODEL_GHOSTS_MAX 32768

/*
 * Living tasks likewise: 64 MiB, and more than hosts have (Linux allows by default one for each 128 KiB of
 * memory, and their stacks alone would be 4 GiB). Of more, the first to arrive are forgotten: where EXITs
 * were lost, they are what has been dead for longest.
 */
#define TASK_MODEL_LIVING_MAX 262144

/* Process id of the kernel's own maps in MMAP records. */
#define TASK_PID_KERNEL UINT32_MAX
/*
 * Process and thread id that readers give to samples of tasks outside of the recorder's PID namespace. The kernel
 * says 0 of them, as of the idle task. No record has it.
 */
#define TASK_PID_ELSEWHERE (UINT32_MAX - 1)

/*
 * Applies COMM, FORK, EXIT, MMAP, MMAP2 (and NAMESPACES, CGROUP, KSYMBOL for the snapshot);
 * other types are ignored. 0, -FMT_E_NOMEM. Records of pid 0 are ignored, too: the idle task has none. They are of
 * tasks outside of the recorder's PID namespace, whose names and maps are no task's.
 *
 * A FORK begins its task anew. Two cases are milder: where its time says that what is known
 * of the (living) task is not older than itself, it adds what was missing and wipes
 * nothing; and a synthesized FORK (TASK_MISC_FORK_FRESH) inherits nothing, since the whole
 * state of the task follows.
 */
int task_model_apply(struct task_model *m, const struct perf_record *r);

/*
 * The task of a sample; NULL when nothing is known of it. 0, 0 is "swapper", the idle task.
 * Good until the next apply. Lookups keep what they found for the next one: not even they
 * may run beside each other on two threads.
 */
const struct task *task_model_task(const struct task_model *m, uint32_t pid, uint32_t tid);

/* The process that tid is a thread of, or was; UINT32_MAX: nothing is known of it. */
uint32_t task_model_owner(const struct task_model *m, uint32_t tid);
/* The process that made pid, which may be gone; 0: not known, or none. */
uint32_t task_model_parent(const struct task_model *m, uint32_t pid);

/*
 * The process whose memory another one is a copy of, having executed no program since the fork. It may be
 * gone, and another one have its number: start_ns tells which one it was.
 */
struct task_origin {
	uint32_t pid;
	uint64_t start_ns;	  /* of that process; 0: not known */
	uint64_t fork_ns;	  /* when the copy was made, at the latest */
	struct task_origin *from; /* what that one was a copy of; NULL */
	uint32_t depth, refs;	  /* the model's */
};
/* As many, one from another, are known; of more, the latest ones are left out. */
#define TASK_MODEL_ORIGINS_MAX 4
/* NULL: none, or not known. Good until the next apply. */
const struct task_origin *task_model_origin(const struct task_model *m, uint32_t pid);
/*
 * For each of pids a living process other than it that sees the same mounts, as far as NAMESPACES
 * records told; 0: none is known. Looks at all tasks, once for all pids.
 */
#define TASK_MODEL_PEERS_MAX 64
void task_model_peers(const struct task_model *m, const uint32_t *pids, uint32_t *ret, size_t nr);

/* Every task, ghosts included, by tid; prev NULL: the first. NULL: the end. */
const struct task *task_model_next(const struct task_model *m, const struct task *prev);

/* The newest map of process pid that holds addr; NULL: none. Good until the next apply. */
const struct task_map *task_model_map(const struct task_model *m, uint32_t pid, uint64_t addr);
/* All of them in order of addresses; prev NULL: the first. NULL: the end. */
const struct task_map *task_model_next_map(const struct task_model *m, uint32_t pid,
					   const struct task_map *prev);

/*
 * What a process has mapped, as a number that changes with it: processes of which it is the same have the same maps.
 * 0: nothing.
 */
uint64_t task_model_maps_version(const struct task_model *m, uint32_t pid);

/*
 * The namespace of this number (uapi: NET_NS_INDEX...) of a thread, by the NAMESPACES record of it or of who
 * forked it: the device and inode of its file. False: there was none.
 */
bool task_model_namespace(const struct task_model *m, uint32_t pid, uint32_t tid, size_t number,
			  uint64_t *ret_dev, uint64_t *ret_inode);

/* Path of a cgroup by its id (PERF_RECORD_CGROUP); NULL. */
const char *task_model_cgroup(const struct task_model *m, uint64_t id);

/*
 * Gives a build-id to every object, present and to come, of this inode whose own records
 * carry none. 0, -FMT_E_NOMEM.
 */
int task_model_set_build_id(struct task_model *m, uint32_t maj, uint32_t min, uint64_t ino,
			    uint64_t ino_generation, const struct buildid *id);
/* By path (of len bytes), where nothing is known by inode: perf's table has no inodes. */
int task_model_set_path_build_id(struct task_model *m, const char *path, size_t len,
				 const struct buildid *id);

/* For the maps of this file that there are now and that have none. 1; 0: there are none. */
int task_model_give_build_id(struct task_model *m, uint32_t maj, uint32_t min, uint64_t ino,
			     uint64_t ino_generation, const char *path, const struct buildid *id);

/* Indexes in use are below the first; the second is NULL for one that is free. */
size_t task_model_objects(const struct task_model *m);
const struct map_object *task_model_object(const struct task_model *m, size_t index);

/* Forgets tasks that exited before time_ns, and the address spaces only they had. */
void task_model_forget_exited(struct task_model *m, uint64_t time_ns);
/*
 * Likewise and, now and then, the objects that nothing maps any more, and their build-ids that were
 * told by inode.
 */
void task_model_prune(struct task_model *m, uint64_t time_ns);

/* Forgets every control group: they have no record of their end. */
void task_model_forget_cgroups(struct task_model *m);

/* Whole records of a snapshot. 0, or what task_model_snapshot() is to return. */
typedef int task_model_emit_fn(void *arg, struct span records);

/* A piece of a snapshot is that long, or by a record longer. */
#define TASK_MODEL_PIECE_BYTES (1u << 20)

/*
 * The model has each path once, and forks share their maps; a snapshot has them with each process.
 * Above so many bytes of maps, those processes that have most get as many as there is room for.
 */
struct task_snapshot_bound {
	uint64_t bytes;	   /* about, of the records of all maps */
	uint64_t left_out; /* maps, added to */
};

/*
 * Tells the whole state, piece by piece, as synthesized records with this trailer (the kernel's
 * maps, CGROUP per group, KSYMBOL, and FORK, NAMESPACES, COMM per task, MMAP2 per map), living
 * tasks only, for STATE blocks. pid and tid of sid are replaced by those of each task.
 * bound NULL: whole. 0, -FMT_E_NOMEM, or what emit() returned.
 */
int task_model_snapshot(const struct task_model *m, const struct event_attr *attr,
			const struct perf_sample_id *sid, struct task_snapshot_bound *bound,
			task_model_emit_fn *emit, void *arg);

/* What there was no room for, so far: such tasks, maps and names may be missing, or named by others. */
struct task_model_left_out {
	uint64_t tasks, maps, names;
};
struct task_model_left_out task_model_left_out(const struct task_model *m);

struct task_model_stats {
	uint64_t tasks, ghosts, maps, objects, bytes;
	uint64_t left_out; /* tasks, maps and names, since the model began: see task_model_limit() */
};
void task_model_stats(const struct task_model *m, struct task_model_stats *ret);

#endif
