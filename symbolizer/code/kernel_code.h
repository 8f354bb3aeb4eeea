/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_code: where the instructions of the recorded kernel are: in its ELF file (vmlinux), which also
 * has lines, else in /proc/kcore, when the recording is of this boot.
 *
 * A vmlinux is the resolver's, of the recorded build, before any patch. kcore shows code as it is patched now; modules
 * are in it alone. Neither has the code of BPF programs. What stood there when is by code_pokes.
 */
#ifndef SYMBOLIZER_CODE_KERNEL_CODE_H
#define SYMBOLIZER_CODE_KERNEL_CODE_H

#include "symbolizer/code/code_pokes.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/resolve/resolve.h"

/* What the recordings tell of their kernel, and where the running one is. */
struct kernel_code_facts {
	uint8_t boot_id[16];
	bool any;     /* one was noted */
	bool several; /* they are of more than one boot: addresses are of no kernel alone */
	const char *kcore, *kallsyms;
	/* What was written over its code, and the first and the last sample; NULL: that is not known. */
	struct code_pokes *pokes;
	uint64_t first_ns, last_ns;
};

/* Adds what a recording tells. */
void kernel_code_note(struct kernel_code_facts *facts, const struct recording_meta *meta);

struct kernel_code;

/* Borrows both; opens nothing yet. NULL: out of memory. */
struct kernel_code *kernel_code_new(struct resolver *resolver,
				    const struct kernel_code_facts *facts);
void kernel_code_free(struct kernel_code *k);
const struct kernel_code_facts *kernel_code_facts(const struct kernel_code *k);

/*
 * The object that a function of the kernel is in, a vmlinux, and how far the kernel was moved from the
 * addresses there. 0 with *ret NULL: there is none; -FMT_E_NOMEM.
 */
int kernel_code_object(struct kernel_code *k, const struct frame *f, struct object **ret,
		       uint64_t *ret_moved);

/*
 * The bytes of a function by the running kernel. 0 with *ret and its end, at most size bytes, or with
 * *ret_why; -FMT_E_NOMEM.
 */
int kernel_code_live(struct kernel_code *k, const struct frame *f, uint64_t size,
		     struct elf_bytes *ret, uint64_t *ret_end, const char **ret_why);

#endif
