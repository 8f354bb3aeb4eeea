/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_names: what the kernel announced by record and a snapshot has to say again: its
 * control groups (CGROUP) and the code it made since boot (KSYMBOL).
 */
#ifndef FORMAT_MODEL_KERNEL_NAMES_H
#define FORMAT_MODEL_KERNEL_NAMES_H

#include <stdint.h>

#include <bsd/sys/tree.h>

#include "format/bytes/buf.h"
#include "format/record/perf_record.h"

/*
 * Of all names, with what keeps them: 80,000 control groups with names of the usual length. What would
 * be more is left out and counted.
 */
#define KERNEL_NAMES_BYTES_MAX (16u << 20)

struct kernel_name;
RB_HEAD(kernel_name_tree, kernel_name);

struct kernel_name_set {
	struct kernel_name_tree tree;
	uint64_t bytes; /* that they take */
};

struct kernel_names {
	struct kernel_name_set cgroups, ksymbols;
	uint64_t limit;	   /* bytes that each of the two may take; 0: KERNEL_NAMES_BYTES_MAX */
	uint64_t left_out; /* records that there was no room for */
};

void kernel_names_init(struct kernel_names *n);
void kernel_names_done(struct kernel_names *n);
void kernel_names_forget(struct kernel_name_set *set);

/* A CGROUP or KSYMBOL record; one that there is no room for is counted. 0, -FMT_E_NOMEM. */
int kernel_names_apply(struct kernel_names *n, const struct perf_record *r);

const char *kernel_names_cgroup(const struct kernel_names *n, uint64_t id);

/* Appends them as records; after each comes full(arg), which may take them away. 0, -FMT_E_*. */
int kernel_names_snapshot(const struct kernel_names *n, const struct event_attr *attr,
			  const struct perf_sample_id *sid, struct buf *out, int (*full)(void *arg),
			  void *arg);

#endif
