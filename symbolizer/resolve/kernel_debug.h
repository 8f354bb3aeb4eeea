/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_debug: the debug information and the code of recorded kernels: which vmlinux on this machine is
 * theirs, and at which of its addresses a recorded one is.
 *
 * Names are not from here: those of the recording are of what ran, patched and with its modules.
 */
#ifndef SYMBOLIZER_RESOLVE_KERNEL_DEBUG_H
#define SYMBOLIZER_RESOLVE_KERNEL_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buildid.h"
#include "symbolizer/object/object_places.h"

#define KERNEL_DEBUG_MAX 64 /* kernels: an archive has those of a few updates */

/* Addresses of a kernel's symbols by which it is known how far it was moved (KASLR); 0: none. */
struct kernel_place {
	uint64_t text, stext; /* _text, _stext */
};

enum kernel_debug_want {
	KERNEL_LINES, /* its debug information: an object by object_store_debug() */
	KERNEL_CODE,  /* its code: by object_store_file() */
	KERNEL_DEBUG_WANTS
};

struct kernel_debug_file {
	struct buildid id;
	struct object *of[KERNEL_DEBUG_WANTS];			      /* NULL: there is none */
	bool looked[KERNEL_DEBUG_WANTS], fetched[KERNEL_DEBUG_WANTS]; /* servers were asked */
	struct kernel_place at;					      /* in all */
};

struct kernel_debug_asked {
	struct buildid id;   /* size 0: not known */
	const char *release; /* NULL: not known */
	enum kernel_debug_want want;
	bool fetch; /* also from servers, where places have them */
};

struct kernel_debug;

struct kernel_debug *kernel_debug_new(void); /* NULL: out of memory */
void kernel_debug_free(struct kernel_debug *k);

/*
 * That of the kernel with this build-id: vmlinux (NULL: none is given), by build-id, where
 * distributions put that of a release, and from servers. Each is looked for once. *ret NULL: there is none
 * that has what is wanted; else for k's life. 0, -FMT_E_NOMEM.
 */
int kernel_debug_find(struct kernel_debug *k, const struct object_places *p, const char *vmlinux,
		      const struct kernel_debug_asked *asked, const struct kernel_debug_file **ret);

#endif
