/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_kernel: the symbols of the kernel and its modules, those of modules that came later, too, and which of them the
 * open file needs. Belongs to the writer thread alone.
 *
 * Each change of the modules that matters begins an era, with a table of its own. An older one is kept until all samples
 * of its time have passed by, or there are too many: what these needed is written all the same. A symbol of a module is
 * given to the file for its place; whether the module was there when a sample was taken, the records of state_module()
 * say.
 */
#ifndef RECORDER_LIVE_LIVE_KERNEL_H
#define RECORDER_LIVE_LIVE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/event_set.h"
#include "format/recording/recording_writer.h"
#include "recorder/live/live_modules.h"

#define LIVE_KERNEL_ERAS 4

struct kallsyms;
struct ksym_collector;
struct state_options;

struct live_kernel_era {
	const struct kallsyms *table;  /* NULL: they are hidden */
	struct ksym_collector *needed; /* what the open file needs of the table */
	uint64_t until_ns;
};

struct live_kernel {
	const char *path; /* of kallsyms; NULL: the kernel's */
	struct live_kernel_era eras[LIVE_KERNEL_ERAS];
	size_t nr_eras;	  /* at least one; the last one goes on */
	struct buf *kept; /* payloads of KSYMS blocks, of eras that ended before these were written */
	size_t nr_kept, cap_kept;
	struct live_modules *modules;
	uint64_t unknown;  /* addresses, as of the last look */
	uint64_t table_ns; /* that reading the table took last */
	uint64_t owed_ns;  /* what that has cost, less what time has paid of it */
	uint64_t paid_ns;  /* until then */
	bool stale;	   /* there are modules that the table has not */
	const char *note;
};

/* kallsyms, modules: as live_options has them. 0, -ENOMEM; live_kernel_done() in any case. */
int live_kernel_init(struct live_kernel *k, const char *kallsyms, const char *modules);
void live_kernel_done(struct live_kernel *k);

const struct kallsyms *live_kernel_table(const struct live_kernel *k); /* NULL: hidden */

void live_kernel_sample(struct live_kernel *k, const struct sample_glance *sample);
/* A KSYMBOL record of the kernel's. */
void live_kernel_ksymbol(struct live_kernel *k, const struct perf_record *record);

/*
 * Looks which modules are there, if there is a reason to or it is time. Appends what changed to out, as records of scan,
 * and gives fn the build-ids of new ones. No sample from before since_ns is to come. 0, -ENOMEM.
 */
int live_kernel_look(struct live_kernel *k, const struct state_options *scan, uint64_t since_ns,
		     struct buf *out, live_modules_fn *fn, void *arg);

/* Writes KSYMS blocks with what the open block needs. 0, -FMT_E_*. */
int live_kernel_write(struct live_kernel *k, struct recording_writer *w, struct buf *scratch,
		      struct fmt_where *where);

/* A new file: it has been given nothing. */
void live_kernel_begin_file(struct live_kernel *k);

#endif
