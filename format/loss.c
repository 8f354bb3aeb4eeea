/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/loss.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/fmt_error.h"

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
#include "format/loss_tbl.h"
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

static int
account_get(struct loss *l, uint32_t cpu, struct account **ret)
{
	struct account *more;

	if (cpu == UINT32_MAX) {
		*ret = &l->none;
		return 0;
	}
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
	*ret = &l->cpus[cpu];
	return 0;
}

int
loss_add(struct loss *l, uint32_t cpu, enum loss_cause cause, uint64_t n)
{
	struct account *a;
	int error;

	if (cause >= LOSS_CAUSES)
		return -FMT_E_UNSUPPORTED;
	error = account_get(l, cpu, &a);
	if (error)
		return error;
	a->used = true;
	a->n[cause] += n;
	return 0;
}

int
loss_set(struct loss *l, uint32_t cpu, enum loss_cause cause, uint64_t n)
{
	struct account *a;
	int error;

	if (cause >= LOSS_CAUSES)
		return -FMT_E_UNSUPPORTED;
	error = account_get(l, cpu, &a);
	if (error)
		return error;
	a->used = true;
	if (n > a->n[cause])
		a->n[cause] = n;
	return 0;
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

void
loss_encode(const struct loss *l, struct buf *out)
{
	size_t at = out->len;
	uint32_t cpu, count = 0;

	buf_u32(out, 0);
	for (size_t i = 0; loss_cpu_at(l, i, &cpu) == 0; i++) {
		for (uint32_t cause = 0; cause < LOSS_CAUSES; cause++) {
			uint64_t n = loss_get(l, cpu, cause);

			if (n == 0)
				continue;
			buf_u32(out, cpu);
			buf_u32(out, cause);
			buf_u64(out, n);
			count++;
		}
	}
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
