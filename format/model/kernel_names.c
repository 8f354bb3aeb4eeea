/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/model/kernel_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/record/record_build.h"

#define KSYMBOL_F_UNREGISTER 1u

struct cgroup_name {
	RB_ENTRY(cgroup_name) node;
	uint64_t id;
	size_t bytes;
	char path[];
};

struct ksymbol_name {
	RB_ENTRY(ksymbol_name) node;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	size_t bytes;
	char name[];
};

static int
cgroup_cmp(const struct cgroup_name *a, const struct cgroup_name *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

static int
ksymbol_cmp(const struct ksymbol_name *a, const struct ksymbol_name *b)
{
	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* libbsd's RB_GENERATE_STATIC() needs a __unused that glibc's headers do not stand. */
RB_GENERATE_INTERNAL(cgroup_tree, cgroup_name, node, cgroup_cmp, __attribute__((unused)) static)
RB_GENERATE_INTERNAL(ksymbol_tree, ksymbol_name, node, ksymbol_cmp, __attribute__((unused)) static)

void
kernel_names_init(struct kernel_names *n)
{
	*n = (struct kernel_names){ .limit = 0 };
	RB_INIT(&n->cgroups);
	RB_INIT(&n->ksymbols);
}

/*
 * With so many bytes of its kind already, is there room for more? Counts those for which there is
 * none.
 */
static bool
has_room(struct kernel_names *n, uint64_t have, size_t more)
{
	if (have + more <= (n->limit ? n->limit : KERNEL_NAMES_BYTES_MAX))
		return true;
	n->left_out++;
	return false;
}

static void
cgroup_remove(struct kernel_names *n, struct cgroup_name *c)
{
	RB_REMOVE(cgroup_tree, &n->cgroups, c);
	n->bytes -= c->bytes;
	n->cgroups_bytes -= c->bytes;
	free(c);
}

static void
ksymbol_remove(struct kernel_names *n, struct ksymbol_name *k)
{
	RB_REMOVE(ksymbol_tree, &n->ksymbols, k);
	n->bytes -= k->bytes;
	free(k);
}

void
kernel_names_forget_cgroups(struct kernel_names *n)
{
	struct cgroup_name *c, *next;

	RB_FOREACH_SAFE(c, cgroup_tree, &n->cgroups, next)
		cgroup_remove(n, c);
}

void
kernel_names_done(struct kernel_names *n)
{
	struct ksymbol_name *k, *next;

	kernel_names_forget_cgroups(n);
	RB_FOREACH_SAFE(k, ksymbol_tree, &n->ksymbols, next)
		ksymbol_remove(n, k);
}

static int
apply_cgroup(struct kernel_names *n, const struct perf_record *r)
{
	size_t len = strlen(r->cgroup.path) + 1;
	struct cgroup_name *c, *old;

	c = malloc(sizeof(*c) + len);
	if (!c)
		return -FMT_E_NOMEM;
	c->id = r->cgroup.id;
	c->bytes = sizeof(*c) + len;
	memcpy(c->path, r->cgroup.path, len);
	old = RB_FIND(cgroup_tree, &n->cgroups, c);
	if (old)
		cgroup_remove(n, old);
	if (!has_room(n, n->cgroups_bytes, c->bytes)) {
		free(c);
		return 0;
	}
	RB_INSERT(cgroup_tree, &n->cgroups, c);
	n->bytes += c->bytes;
	n->cgroups_bytes += c->bytes;
	return 0;
}

static int
apply_ksymbol(struct kernel_names *n, const struct perf_record *r)
{
	size_t len = strlen(r->ksymbol.name) + 1;
	struct ksymbol_name *k, *old;

	k = malloc(sizeof(*k) + len);
	if (!k)
		return -FMT_E_NOMEM;
	k->addr = r->ksymbol.addr;
	k->len = r->ksymbol.len;
	k->type = r->ksymbol.ksym_type;
	k->flags = r->ksymbol.flags;
	k->bytes = sizeof(*k) + len;
	memcpy(k->name, r->ksymbol.name, len);
	old = RB_FIND(ksymbol_tree, &n->ksymbols, k);
	if (old)
		ksymbol_remove(n, old);
	if (k->flags & KSYMBOL_F_UNREGISTER ||
	    !has_room(n, n->bytes - n->cgroups_bytes, k->bytes)) {
		free(k);
		return 0;
	}
	RB_INSERT(ksymbol_tree, &n->ksymbols, k);
	n->bytes += k->bytes;
	return 0;
}

int
kernel_names_apply(struct kernel_names *n, const struct perf_record *r)
{
	return r->type == REC_CGROUP ? apply_cgroup(n, r) : apply_ksymbol(n, r);
}

const char *
kernel_names_cgroup(const struct kernel_names *n, uint64_t id)
{
	const struct cgroup_name *c = RB_ROOT(&n->cgroups);

	while (c && c->id != id)
		c = id < c->id ? RB_LEFT(c, node) : RB_RIGHT(c, node);
	return c ? c->path : NULL;
}

int
kernel_names_snapshot(const struct kernel_names *n, const struct event_attr *attr,
		      const struct perf_sample_id *sid, struct buf *out, int (*full)(void *arg),
		      void *arg)
{
	struct ksymbol_name *k = RB_ROOT(&n->ksymbols);
	struct cgroup_name *c = RB_ROOT(&n->cgroups);
	int rc = 0;

	while (c && RB_LEFT(c, node))
		c = RB_LEFT(c, node);
	for (; c && !rc; c = RB_NEXT(cgroup_tree, &n->cgroups, c)) {
		rc = record_build_cgroup(out, attr, sid, c->id, c->path);
		rc = rc ? rc : full(arg);
	}
	while (k && RB_LEFT(k, node))
		k = RB_LEFT(k, node);
	for (; k && !rc; k = RB_NEXT(ksymbol_tree, &n->ksymbols, k)) {
		rc = record_build_ksymbol(out, attr, sid, k->addr, k->len, k->type, k->flags,
					  k->name);
		rc = rc ? rc : full(arg);
	}
	return rc;
}
