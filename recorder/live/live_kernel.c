/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "recorder/host/host.h"
#include "recorder/host/host_kallsyms.h"
#include "recorder/host/state.h"
#include "recorder/live/ksym_collector.h"

/*
 * To read the table takes tens of ms: a hundredth of the time, after so many at once. Of these, half are read in
 * advance, and half where samples lack names.
 */
#define TABLE_SHARE 100
#define TABLE_BURST 64

/* --- eras -------------------------------------------------------------------------------- */

static struct live_kernel_era *
live_kernel_now(struct live_kernel *k)
{
	return &k->eras[k->nr_eras - 1];
}

static void
first_era_end(struct live_kernel *k)
{
	ksym_collector_free(k->eras[0].needed);
	host_kallsyms_release(k->eras[0].table);
	k->nr_eras--;
	memmove(k->eras, k->eras + 1, k->nr_eras * sizeof(k->eras[0]));
}

/* Those whose samples have all passed by, and are named. */
static void
old_eras_end(struct live_kernel *k, uint64_t since_ns)
{
	while (k->nr_eras > 1 && since_ns > k->eras[0].until_ns &&
	       !ksym_collector_pending(k->eras[0].needed))
		first_era_end(k);
}

/* Later ones take for written what waits for its block: it is kept until it is. 0, -ENOMEM. */
static int
first_era_keep_pending(struct live_kernel *k)
{
	struct buf payload;
	int rc;

	if (array_reserve(k->kept, k->nr_kept, k->cap_kept, 1) < 0)
		return -ENOMEM;
	buf_init(&payload);
	rc = ksym_collector_payload(k->eras[0].needed, &payload);
	if (rc > 0)
		k->kept[k->nr_kept++] = payload;
	else
		buf_done(&payload);
	return rc < 0 ? rc : 0;
}

static void
first_kept_done(struct live_kernel *k)
{
	buf_done(&k->kept[0]);
	k->nr_kept--;
	memmove(k->kept, k->kept + 1, k->nr_kept * sizeof(k->kept[0]));
}

static int
era_begin(struct live_kernel *k, const struct kallsyms *table)
{
	struct live_kernel_era new = { .table = table, .needed = ksym_collector_new(table) };

	if (!new.needed)
		return -ENOMEM;
	if (k->nr_eras == LIVE_KERNEL_ERAS) {
		if (first_era_keep_pending(k) < 0) {
			ksym_collector_free(new.needed);
			return -ENOMEM;
		}
		first_era_end(k);
	}
	if (k->nr_eras) {
		live_kernel_now(k)->until_ns = host_now_ns();
		ksym_collector_succeed(new.needed, live_kernel_now(k)->needed);
	}
	k->eras[k->nr_eras++] = new;
	k->unknown = ksym_collector_unknown(new.needed);
	return 0;
}

/* What there was before is better than nothing. */
static int
load(struct live_kernel *k)
{
	const uint64_t cpu_ns = host_thread_cpu_ns();
	const struct kallsyms *table = NULL;
	int rc = host_kallsyms_load(k->path, live_modules_now(k->modules), &table);

	k->table_ns = host_thread_cpu_ns() - cpu_ns;
	k->owed_ns += k->table_ns;
	if (rc == -ENOMEM || (rc && k->nr_eras))
		return rc == -ENOMEM ? rc : 0;
	if (rc == -EPERM)
		k->note = "kernel symbols are hidden (kernel.kptr_restrict, or CAP_SYSLOG is "
			  "missing): kernel addresses have no names";
	else if (rc == -ENOENT)
		k->note = "this kernel has no symbols in /proc/kallsyms (CONFIG_KALLSYMS): kernel "
			  "addresses have no names";
	else if (rc)
		k->note = "/proc/kallsyms cannot be read: kernel addresses have no names";
	rc = era_begin(k, table);
	if (rc)
		host_kallsyms_release(table);
	return rc;
}

static bool
may_load(struct live_kernel *k, uint64_t now_ns, bool unknown)
{
	const uint64_t paid_ns = (now_ns - k->paid_ns) / TABLE_SHARE;

	k->owed_ns -= paid_ns < k->owed_ns ? paid_ns : k->owed_ns;
	k->paid_ns = now_ns;
	return k->owed_ns <= k->table_ns * (unknown ? TABLE_BURST : TABLE_BURST / 2);
}

/* --- life -------------------------------------------------------------------------------- */

int
live_kernel_init(struct live_kernel *k, const char *kallsyms, const char *modules)
{
	*k = (struct live_kernel){ .path = kallsyms,
				   .modules = live_modules_new(modules),
				   .paid_ns = host_now_ns(),
				   .note = "" };
	return k->modules ? load(k) : -ENOMEM;
}

void
live_kernel_done(struct live_kernel *k)
{
	while (k->nr_eras)
		first_era_end(k);
	while (k->nr_kept)
		first_kept_done(k);
	free(k->kept);
	live_modules_free(k->modules);
}

const struct kallsyms *
live_kernel_table(const struct live_kernel *k)
{
	return k->nr_eras ? k->eras[k->nr_eras - 1].table : NULL;
}

/* --- what passes by ---------------------------------------------------------------------- */

void
live_kernel_sample(struct live_kernel *k, const struct sample_glance *sample)
{
	for (size_t i = 0; i < k->nr_eras; i++)
		ksym_collector_sample(k->eras[i].needed, sample);
}

void
live_kernel_ksymbol(struct live_kernel *k, const struct perf_record *record)
{
	for (size_t i = 0; i < k->nr_eras; i++)
		ksym_collector_told(k->eras[i].needed, record->ksymbol.addr, record->ksymbol.len);
}

/* --- looks ------------------------------------------------------------------------------- */

struct look {
	struct live_kernel *kernel;
	struct state_options scan;
	struct buf *out;
	live_modules_fn *fn;
	void *arg;
};

static int
change(void *arg, const struct kallsyms_module *module, bool gone, uint64_t time_ns)
{
	struct look *look = arg;

	look->scan.time_ns = time_ns;
	if (!gone) {
		look->kernel->stale = true;
		live_module_id(module, look->fn, look->arg);
	}
	return state_module(&look->scan, module, gone, look->out);
}

int
live_kernel_look(struct live_kernel *k, const struct state_options *scan, uint64_t since_ns,
		 struct buf *out, live_modules_fn *fn, void *arg)
{
	struct look look = { .kernel = k, .scan = *scan, .out = out, .fn = fn, .arg = arg };
	const uint64_t now_ns = host_now_ns();
	uint64_t addresses;
	bool unknown;
	int rc = 0;

	if (!live_kernel_table(k))
		return 0;
	old_eras_end(k, since_ns);
	addresses = ksym_collector_unknown(live_kernel_now(k)->needed);
	unknown = addresses != k->unknown;
	if (live_modules_due(k->modules, now_ns, unknown))
		rc = live_modules_look(k->modules, change, &look);
	if (!k->stale)
		k->unknown = addresses;
	if (rc || !k->stale || !may_load(k, now_ns, unknown))
		return rc;
	k->stale = false;
	return load(k);
}

/* --- files ------------------------------------------------------------------------------- */

int
live_kernel_write(struct live_kernel *k, struct recording_writer *w, struct buf *scratch,
		  struct fmt_where *where)
{
	int rc = 0;

	/* What could not be written is said again: the disk may have room later. Of what had one place, the newer is last. */
	while (k->nr_kept) {
		rc = recording_writer_block(w, BLOCK_KSYMS, buf_span(&k->kept[0]), where);
		if (rc)
			return rc;
		first_kept_done(k);
	}
	for (size_t i = 0; i < k->nr_eras; i++) {
		rc = ksym_collector_payload(k->eras[i].needed, scratch);
		if (rc < 0)
			return -FMT_E_NOMEM;
		if (rc)
			rc = recording_writer_block(w, BLOCK_KSYMS, buf_span(scratch), where);
		if (rc)
			return rc;
		ksym_collector_taken(k->eras[i].needed);
	}
	return 0;
}

void
live_kernel_begin_file(struct live_kernel *k)
{
	while (k->nr_kept)
		first_kept_done(k);
	for (size_t i = 0; i < k->nr_eras; i++)
		ksym_collector_reset(k->eras[i].needed);
}
