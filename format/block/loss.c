/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/loss.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

/* Linux is built for at most 8192 CPUs; a table from a file must not ask for a gigabyte. */
#define LOSS_CPU_MAX 16384
#define LOSS_ENTRY_BYTES 16

struct account {
	bool used;
	uint64_t n[LOSS_CAUSES];
};

struct loss {
	struct account *cpus; /* by CPU number */
	size_t nr_cpus;
	struct account none; /* of no one CPU */
};

static const struct {
	const char *key, *unit, *text;
} causes[LOSS_CAUSES] = {
#define LOSS_ROW(number, name, key, unit, text) [number] = { key, unit, text },
#include "format/block/loss_tbl.h"
#undef LOSS_ROW
};

struct loss *
loss_new(void)
{
	return calloc(1, sizeof(struct loss));
}

void
loss_free(struct loss *l)
{
	if (!l)
		return;
	free(l->cpus);
	free(l);
}

static const struct account *
account_find(const struct loss *l, uint32_t cpu)
{
	if (cpu == UINT32_MAX)
		return &l->none;
	return cpu < l->nr_cpus ? &l->cpus[cpu] : NULL;
}

/* A CPU's count of a cause, made when it is not there. */
static int
count_get(struct loss *l, uint32_t cpu, enum loss_cause cause, uint64_t **ret)
{
	struct account *a = &l->none, *more;

	if (cause >= LOSS_CAUSES)
		return -FMT_E_UNSUPPORTED;
	if (cpu != UINT32_MAX) {
		if (cpu >= LOSS_CPU_MAX)
			return -FMT_E_TOO_BIG;
		if (cpu >= l->nr_cpus) {
			more = reallocarray(l->cpus, cpu + 1, sizeof(*more));
			if (!more)
				return -FMT_E_NOMEM;
			memset(more + l->nr_cpus, 0, (cpu + 1 - l->nr_cpus) * sizeof(*more));
			l->cpus = more;
			l->nr_cpus = cpu + 1;
		}
		a = &l->cpus[cpu];
	}
	a->used = true;
	*ret = &a->n[cause];
	return 0;
}

int
loss_add(struct loss *l, uint32_t cpu, enum loss_cause cause, uint64_t n)
{
	uint64_t *count;
	int error = count_get(l, cpu, cause, &count);

	if (error)
		return error;
	*count += n;
	return 0;
}

int
loss_set(struct loss *l, uint32_t cpu, enum loss_cause cause, uint64_t n)
{
	uint64_t *count;
	int error = count_get(l, cpu, cause, &count);

	if (error)
		return error;
	if (n > *count)
		*count = n;
	return 0;
}

static int
merge_account(struct loss *l, uint32_t cpu, const struct account *a)
{
	int error = 0;

	for (int cause = 0; a->used && cause < LOSS_CAUSES && !error; cause++)
		error = loss_add(l, cpu, (enum loss_cause)cause, a->n[cause]);
	return error;
}

int
loss_merge(struct loss *l, const struct loss *other)
{
	int error = merge_account(l, UINT32_MAX, &other->none);

	for (size_t cpu = 0; cpu < other->nr_cpus && !error; cpu++)
		error = merge_account(l, (uint32_t)cpu, &other->cpus[cpu]);
	return error;
}

static void
take_away(struct account *a, const struct account *earlier)
{
	for (int cause = 0; earlier && cause < LOSS_CAUSES; cause++)
		a->n[cause] -= earlier->n[cause] < a->n[cause] ? earlier->n[cause] : a->n[cause];
}

struct loss *
loss_since(const struct loss *l, const struct loss *earlier)
{
	struct loss *since = loss_new();

	if (!since || loss_merge(since, l) != 0) {
		loss_free(since);
		return NULL;
	}
	if (!earlier)
		return since;
	take_away(&since->none, &earlier->none);
	for (size_t cpu = 0; cpu < since->nr_cpus; cpu++)
		take_away(&since->cpus[cpu], account_find(earlier, (uint32_t)cpu));
	return since;
}

uint64_t
loss_get(const struct loss *l, uint32_t cpu, enum loss_cause cause)
{
	const struct account *a = account_find(l, cpu);

	return a && cause < LOSS_CAUSES ? a->n[cause] : 0;
}

uint64_t
loss_total(const struct loss *l, enum loss_cause cause)
{
	uint64_t sum;

	if (cause >= LOSS_CAUSES)
		return 0;
	sum = l->none.n[cause];
	for (size_t i = 0; i < l->nr_cpus; i++)
		sum += l->cpus[i].n[cause];
	return sum;
}

uint64_t
loss_samples(const struct loss *l)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < LOSS_CAUSES; cause++) {
		if (strcmp(causes[cause].unit, "samples") == 0)
			sum += loss_total(l, cause);
	}
	return sum;
}

int
loss_cpu_at(const struct loss *l, size_t i, uint32_t *ret_cpu)
{
	for (size_t cpu = 0; cpu < l->nr_cpus; cpu++) {
		if (l->cpus[cpu].used && i-- == 0) {
			*ret_cpu = (uint32_t)cpu;
			return 0;
		}
	}
	if (l->none.used && i == 0) {
		*ret_cpu = UINT32_MAX;
		return 0;
	}
	return -1;
}

/* That it is of an area that is written over (OVERWRITE) is no loss. */
size_t
loss_of_aux(uint64_t flags, enum loss_cause ret[LOSS_AUX_CAUSES])
{
	size_t n = 0;

	if (flags & PERF_AUX_FLAG_TRUNCATED)
		ret[n++] = LOSS_AUX_TRUNCATED;
	if (flags & PERF_AUX_FLAG_PARTIAL)
		ret[n++] = LOSS_AUX_PARTIAL;
	if (flags & PERF_AUX_FLAG_COLLISION)
		ret[n++] = LOSS_AUX_COLLISION;
	return n;
}

const char *
loss_key(enum loss_cause cause)
{
	return cause < LOSS_CAUSES ? causes[cause].key : NULL;
}

const char *
loss_unit(enum loss_cause cause)
{
	return cause < LOSS_CAUSES ? causes[cause].unit : NULL;
}

const char *
loss_text(enum loss_cause cause)
{
	return cause < LOSS_CAUSES ? causes[cause].text : NULL;
}

static uint32_t
encode_account(const struct account *a, uint32_t cpu, struct buf *out)
{
	uint32_t count = 0;

	for (uint32_t cause = 0; cause < LOSS_CAUSES; cause++) {
		if (a->n[cause] == 0)
			continue;
		buf_u32(out, cpu);
		buf_u32(out, cause);
		buf_u64(out, a->n[cause]);
		count++;
	}
	return count;
}

void
loss_encode(const struct loss *l, struct buf *out)
{
	size_t at = out->len;
	uint32_t count = 0;

	buf_u32(out, 0);
	for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++)
		count += encode_account(&l->cpus[cpu], cpu, out);
	count += encode_account(&l->none, UINT32_MAX, out);
	if (!buf_failed(out))
		le32enc(out->p + at, count);
}

int
loss_decode(struct loss *l, struct span payload)
{
	uint32_t count, cpu, cause;
	uint64_t n;
	int error;

	if (!span_u32(&payload, &count) || payload.len / LOSS_ENTRY_BYTES < count)
		return -FMT_E_CORRUPT;
	while (count-- > 0) {
		if (!span_u32(&payload, &cpu) || !span_u32(&payload, &cause) ||
		    !span_u64(&payload, &n))
			return -FMT_E_CORRUPT;
		if (cause >= LOSS_CAUSES)
			continue;
		error = loss_set(l, cpu, cause, n);
		if (error)
			return error;
	}
	return 0;
}
