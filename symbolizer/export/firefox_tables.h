/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firefox_tables: a profile's frames, functions, objects, stacks and threads by their numbers in Firefox
 * Profiler's tables.
 */
#ifndef SYMBOLIZER_EXPORT_FIREFOX_TABLES_H
#define SYMBOLIZER_EXPORT_FIREFOX_TABLES_H

#include "format/bytes/slots.h"
#include "symbolizer/export/stack_export.h"

#define FIREFOX_NONE UINT32_MAX

struct firefox_func {
	const char *label, *object, *file; /* what tells it from others */
	uint32_t frame;			   /* of the profile: one that has its name */
	uint32_t lib, source;		   /* FIREFOX_NONE */
};

struct firefox_lib {
	const char *path, *name, *build_id;
};

struct firefox_thread {
	uint32_t pid, tid;
	const char *name;    /* its last command */
	const char *process; /* that of its process's first thread, as far as it was sampled */
	size_t first, nr;    /* its samples, in order */
};

struct firefox_tables {
	const struct stack_export *x;
	struct firefox_func *funcs;
	size_t nr_funcs, cap_funcs;
	struct slots func_slots;
	struct firefox_lib *libs;
	size_t nr_libs, cap_libs;
	struct slots lib_slots;
	const char **sources;
	size_t nr_sources, cap_sources;
	struct slots source_slots;
	/* Frames that are used, by number; and by the profile's id: which that is. */
	struct firefox_frame {
		uint32_t id, func;
	} * frames;
	size_t nr_frames, cap_frames;
	uint32_t *frame_of;
	/* The tree of stacks: a prefix (FIREFOX_NONE: none) and a frame. */
	struct firefox_node {
		uint32_t prefix, frame;
	} * nodes;
	size_t nr_nodes, cap_nodes;
	struct slots node_slots;
	uint32_t *node_of; /* by stack of the profile; FIREFOX_NONE: of another event */
	struct firefox_thread *threads;
	size_t nr_threads, cap_threads;
	struct slots thread_slots;
	uint32_t *thread_of; /* by stack of the profile */
	uint32_t *order;     /* numbers of samples, thread by thread */
	size_t nr_samples;
};

/* 0, -FMT_E_NOMEM; firefox_tables_done() in any case. */
int firefox_tables_make(struct firefox_tables *t, const struct stack_export *x);
void firefox_tables_done(struct firefox_tables *t);

#endif
