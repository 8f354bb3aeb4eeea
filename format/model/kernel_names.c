/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/model/kernel_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/record/record_build.h"

#define KSYMBOL_F_UNREGISTER 1u

struct kernel_name {
	RB_ENTRY(kernel_name) node;
	uint64_t key;	      /* id of a control group, address of code */
	uint32_t len;	      /* of code, as are these */
	uint16_t type, flags; /* of KSYMBOL */
	size_t bytes;
	char text[];
};

static int
kernel_name_cmp(const struct kernel_name *a, const struct kernel_name *b)
{
	return (a->key > b->key) - (a->key < b->key);
}

/* libbsd's RB_GENERATE_STATIC() needs a __unused that glibc's headers do not stand. */
RB_GENERATE_INTERNAL(kernel_name_tree, kernel_name, node, kernel_name_cmp,
		     __attribute__((unused)) static)

void
kernel_names_init(struct kernel_names *n)
{
	*n = (struct kernel_names){ .limit = 0 };
	RB_INIT(&n->cgroups.tree);
	RB_INIT(&n->ksymbols.tree);
}

static void
kernel_name_remove(struct kernel_name_set *set, struct kernel_name *k)
{
	RB_REMOVE(kernel_name_tree, &set->tree, k);
	set->bytes -= k->bytes;
	free(k);
}

void
kernel_names_forget(struct kernel_name_set *set)
{
	struct kernel_name *k, *next;

	RB_FOREACH_SAFE(k, kernel_name_tree, &set->tree, next)
		kernel_name_remove(set, k);
}

void
kernel_names_done(struct kernel_names *n)
{
	kernel_names_forget(&n->cgroups);
	kernel_names_forget(&n->ksymbols);
}

/* Takes k over. */
static void
kernel_names_put(struct kernel_names *n, struct kernel_name_set *set, struct kernel_name *k)
{
	struct kernel_name *old = RB_FIND(kernel_name_tree, &set->tree, k);

	if (old)
		kernel_name_remove(set, old);
	if (!(k->flags & KSYMBOL_F_UNREGISTER)) {
		if (set->bytes + k->bytes <= (n->limit ? n->limit : KERNEL_NAMES_BYTES_MAX)) {
			RB_INSERT(kernel_name_tree, &set->tree, k);
			set->bytes += k->bytes;
			return;
		}
		n->left_out++;
	}
	free(k);
}

int
kernel_names_apply(struct kernel_names *n, const struct perf_record *r)
{
	const bool group = r->type == REC_CGROUP;
	const char *text = group ? r->cgroup.path : r->ksymbol.name;
	const size_t len = strlen(text) + 1;
	struct kernel_name *k = malloc(sizeof(*k) + len);

	if (!k)
		return -FMT_E_NOMEM;
	*k = (struct kernel_name){ .bytes = sizeof(*k) + len };
	memcpy(k->text, text, len);
	if (group) {
		k->key = r->cgroup.id;
	} else {
		k->key = r->ksymbol.addr;
		k->len = r->ksymbol.len;
		k->type = r->ksymbol.ksym_type;
		k->flags = r->ksymbol.flags;
	}
	kernel_names_put(n, group ? &n->cgroups : &n->ksymbols, k);
	return 0;
}

const char *
kernel_names_cgroup(const struct kernel_names *n, uint64_t id)
{
	const struct kernel_name *k = RB_ROOT(&n->cgroups.tree);

	while (k && k->key != id)
		k = id < k->key ? RB_LEFT(k, node) : RB_RIGHT(k, node);
	return k ? k->text : NULL;
}

static struct kernel_name *
kernel_names_first(const struct kernel_name_set *set)
{
	struct kernel_name *k = RB_ROOT(&set->tree);

	while (k && RB_LEFT(k, node))
		k = RB_LEFT(k, node);
	return k;
}

int
kernel_names_snapshot(const struct kernel_names *n, const struct event_attr *attr,
		      const struct perf_sample_id *sid, struct buf *out, int (*full)(void *arg),
		      void *arg)
{
	struct kernel_name *k;
	int rc = 0;

	for (k = kernel_names_first(&n->cgroups); k && !rc;
	     k = RB_NEXT(kernel_name_tree, &n->cgroups.tree, k)) {
		rc = record_build_cgroup(out, attr, sid, k->key, k->text);
		rc = rc ? rc : full(arg);
	}
	for (k = kernel_names_first(&n->ksymbols); k && !rc;
	     k = RB_NEXT(kernel_name_tree, &n->ksymbols.tree, k)) {
		rc = record_build_ksymbol(out, attr, sid, k->key, k->len, k->type, k->flags,
					  k->text);
		rc = rc ? rc : full(arg);
	}
	return rc;
}
