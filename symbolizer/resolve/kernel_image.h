/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_image: names of kernel addresses that did not come along with the recording: from a copy
 * of /proc/kallsyms or a vmlinux that somebody gave, else from the running kernel when it is the
 * recorded build. A perf.data brings no names at all.
 *
 * The kernel may lie elsewhere now (KASLR): the recording's map of it tells at which address a
 * symbol was (_text), by which all are moved. Without one there are no names. Those of modules
 * are used only where nothing moved and the module is mapped there in the recording.
 */
#ifndef SYMBOLIZER_RESOLVE_KERNEL_IMAGE_H
#define SYMBOLIZER_RESOLVE_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buildid.h"
#include "format/record/perf_record.h"
#include "symbolizer/object/resolve_miss.h"
#include "symbolizer/resolve/kernel_debug.h"
#include "symbolizer/resolve/kernel_symbols.h"
#include "symbolizer/text/intern.h"

struct kernel_image;

struct kernel_image_options {
	const char *kallsyms; /* a file; NULL: none */
	const char *vmlinux;  /* likewise; not both */
	bool force;	      /* a vmlinux of another build as well */
};

/* Opens nothing yet. Names are interned in strings. NULL: out of memory. */
struct kernel_image *kernel_image_new(const struct kernel_image_options *options,
				      struct intern *strings);
void kernel_image_free(struct kernel_image *k);

/*
 * A recording begins: its kernel's build-id (size 0: not known, then the release tells, with a
 * doubt; NULL or "": neither is). this_boot: the kernel lies where it lay then, map or not.
 */
void kernel_image_next(struct kernel_image *k, const struct buildid *kernel, const char *release,
		       bool this_boot);

/* A MMAP record of the kernel or of one of its modules. 0, -FMT_E_NOMEM. */
int kernel_image_map(struct kernel_image *k, const struct perf_mmap *m);

/*
 * How far the recorded kernel was moved from where its symbols are there, by its map. False: the
 * recording does not tell.
 */
bool kernel_image_moved(const struct kernel_image *k, const struct kernel_place *there,
			uint64_t *ret);

/* 1 with *ret; 0: no name; -FMT_E_NOMEM. */
int kernel_image_find(struct kernel_image *k, uint64_t address, struct kernel_symbol *ret);
/* The name of a frame, by the rule of kernel_symbols_find_frame(). Returns as kernel_image_find(). */
int kernel_image_find_frame(struct kernel_image *k, uint64_t ip, bool is_return,
			    struct kernel_symbol *ret);

/* Why there are no names, and what would help; NULL: there are. */
const char *kernel_image_trouble(const struct kernel_image *k);

/*
 * How sure it is that names are of the recorded kernel. Of --kallsyms, which tells no build, its
 * giver is.
 */
enum resolve_doubt kernel_image_doubt(const struct kernel_image *k);

#endif
