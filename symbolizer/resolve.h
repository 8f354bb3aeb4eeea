/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resolve: addresses to names.
 *
 * User addresses go map -> file offset -> ELF vaddr -> symbol, one object per build-id
 * shared by all processes; a file whose build-id is not the recorded one is refused, never
 * used. Kernel addresses go to the symbols that travelled with the recording.
 * Every string returned is interned: equal strings are the same pointer, for the
 * resolver's life. Results are cached by (object, address).
 */
#ifndef SYMBOLIZER_RESOLVE_H
#define SYMBOLIZER_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block.h"
#include "format/recording_reader.h"
#include "format/task_model.h"

enum resolve_miss {
	RESOLVE_OK,
	RESOLVE_NO_MAP,	   /* no mapping holds the address */
	RESOLVE_NO_FILE,   /* the object's file is not on this machine */
	RESOLVE_MISMATCH,  /* a file is there, but its build-id is another */
	RESOLVE_NO_SYMBOL, /* the file names nothing at this address */
	RESOLVE_NOT_FILE,  /* anonymous memory, JIT code, [heap] */
	RESOLVE_NO_KSYM,   /* the recording has no kernel symbol for it */
	RESOLVE_BAD_FILE,  /* the file is not an ELF that can be read */
	RESOLVE_MISSES
};

struct frame {
	uint64_t ip;		/* as sampled */
	uint64_t vaddr;		/* in the object's ELF address space; ip when there is no object */
	const char *symbol;	/* demangled; NULL: see miss */
	uint64_t symbol_offset; /* vaddr (before any - 1) minus the symbol's start */
	const char *dso;	/* short: "libc.so.6", "[kernel.kallsyms]", "[vdso]", "[unknown]" */
	const char *dso_path;	/* as recorded; equals dso for the kernel */
	bool kernel;
	enum resolve_miss miss;
};

struct resolver;

struct resolver_options {
	const char *symfs;	       /* prefix for recorded paths; NULL: none */
	const char *const *debug_dirs; /* NULL-terminated; NULL: /usr/lib/debug */
	const char *debug_cache;       /* perf's, e.g. "/root/.debug"; NULL: none */
	bool no_demangle;
	bool full_names; /* demangle with parameters; perf prints without */
	/*
	 * Of the recording. Files whose build-id was not recorded are only believed when they
	 * have not changed since start_realtime_ns (0: never); [vdso] without a build-id when
	 * boot_id (16 bytes; NULL: never) is this boot. See object_store.h.
	 */
	uint64_t start_realtime_ns;
	const uint8_t *boot_id;
};

/* options (and what it points to) is borrowed for the resolver's life. NULL: out of memory. */
struct resolver *resolver_new(const struct resolver_options *options);
void resolver_free(struct resolver *r);
/*
 * Another recording begins, with these two as in the options. Kernel symbols, and what was
 * believed of files without a build-id, are forgotten; objects with one and strings stay. 0, -FMT_E_NOMEM.
 */
int resolver_next(struct resolver *r, uint64_t start_realtime_ns, const uint8_t *boot_id);

/* Kernel symbols of a KSYMS block; entries add up. */
int resolver_add_ksyms(struct resolver *r, const struct block *block);
/* KSYMBOL records (BPF programs, trampolines): edits of the kernel map in time order. */
int resolver_apply_ksymbol(struct resolver *r, const struct perf_record *record);

/*
 * Build-id of the vDSO of the recorded (64-bit) processes, which has no inode by which the
 * task model could hand it on.
 */
void resolver_set_vdso_build_id(struct resolver *r, const struct buildid *id);

/*
 * A user address in map (NULL: RESOLVE_NO_MAP). is_return: ip follows a call, so that the
 * byte before it is looked up.
 */
int resolver_user(struct resolver *r, const struct task_map *map, uint64_t ip, bool is_return,
		  struct frame *ret);
int resolver_kernel(struct resolver *r, uint64_t ip, bool is_return, struct frame *ret);

/* Interns a string for callers that key by frames and names alike; NULL: out of memory. */
const char *resolver_intern(struct resolver *r, const char *s);

const char *resolve_miss_text(enum resolve_miss miss);

#endif
