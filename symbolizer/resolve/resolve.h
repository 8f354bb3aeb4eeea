/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resolve: addresses to names.
 *
 * User addresses go map -> file offset -> ELF vaddr -> symbol, one object per build-id shared by
 * all processes; a file whose build-id is not the recorded one is refused, never used. Kernel
 * addresses have the names that travelled with the recording; when none did, those that
 * kernel_image finds. Every string returned is interned: equal strings are the same pointer, for
 * the resolver's life.
 */
#ifndef SYMBOLIZER_RESOLVE_RESOLVE_H
#define SYMBOLIZER_RESOLVE_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/block/block.h"
#include "format/model/task_model.h"
#include "format/recording/recording_reader.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/object/resolve_miss.h"
#include "symbolizer/resolve/kernel_symbols.h"

struct frame {
	uint64_t ip;	/* that was asked for */
	uint64_t vaddr; /* in the object's ELF address space; ip when there is no object */
	/* Demangled; RESOLVE_NO_NAME: "sort[0x4a30]", object and place in the file of the function; NULL: see miss. */
	const char *symbol;
	uint64_t symbol_offset; /* vaddr (before any - 1) minus the symbol's start */
	const char *dso;	/* short: "libc.so.6", "[kernel.kallsyms]", "[vdso]", "[unknown]" */
	const char *dso_path;	/* as recorded; equals dso for the kernel */
	const char *build_id;	/* its GNU build-id as recorded, in hex; NULL: none was */
	bool has_dwarf;		/* debug information of the object was found */
	bool kernel;
	bool data; /* of data that was touched, not of code: each address is one of its own */
	enum resolve_miss miss;
	enum resolve_doubt doubt; /* of symbol */
	/* What inlines adds. */
	bool inlined;	  /* into the next frame; symbol is what the source calls it */
	const char *file; /* of the source; NULL: not known */
	uint32_t line;	  /* 0: not known, or code of no line */
	/* Where that is looked for: until resolver_begin(). NULL: nowhere. */
	struct object *object;
	uint64_t looked_up; /* vaddr, or the byte before a return address */
};

/*
 * What a reader sees as its symbol: the name, or "[build-id mismatch]" where only another build of the
 * object is here; NULL: nothing but "[unknown]". Equal texts are one pointer.
 */
const char *frame_label(const struct frame *f);
/* Is symbol a name, and not only the place of a function that has none? */
bool frame_is_named(const struct frame *f);

struct object;
struct packed_objects;
struct resolver;

/* Bytes of symbols of files of users other than root and the reader; of one file an eighth of what is left. */
#define RESOLVER_OTHERS_SYMBOLS_MAX (UINT64_C(1) << 30)

struct resolver_options {
	const char *symfs;	       /* prefix for recorded paths; NULL: none */
	const char *const *debug_dirs; /* NULL-terminated; NULL: /usr/lib/debug */
	const char *debug_cache;       /* perf's, e.g. "/root/.debug"; NULL: none */
	const char *debuginfod_cache;  /* of debuginfod's client; NULL: none */
	struct object_fetch *fetch;    /* NULL: nothing is fetched */
	bool no_demangle;
	bool full_names; /* demangle with parameters; perf prints without */
	/*
	 * For whoever reads code, too: objects have their files, and stay for the resolver's life, also
	 * those that nothing identifies.
	 */
	bool keep_code;
	bool data; /* objects have the symbols of their data, for resolver_data() */
	/* Kernel symbols of recordings that brought none along, see kernel_image.h. */
	const char *kallsyms, *vmlinux;
	/*
	 * Takes files without a recorded build-id that seem to be others, and a vmlinux that is.
	 */
	bool force;
};

/* What of a recording tells which files are those that it saw. */
struct resolver_recording {
	struct packed_objects
		*packed;    /* files inside of it; NULL: none are. The resolver takes a share */
	const char *stored; /* as stored_objects_dir() has it; NULL: nothing was */
	uint64_t start_realtime_ns;	/* when it began; 0: not known */
	const uint8_t *boot_id;		/* 16 bytes; NULL: not known */
	struct buildid kernel_build_id; /* size 0: not known */
	const char *kernel_release;	/* uname -r; NULL: not known */
	/* It has no surrogates, and was written then: see object_store.h. 0: it has them. */
	uint64_t perfdata_realtime_ns;
};

/* options (and what it points to) is borrowed for the resolver's life. NULL: out of memory. */
struct resolver *resolver_new(const struct resolver_options *options);
void resolver_free(struct resolver *r);
/* Was it recorded on this host, since it was booted? NULL: not known, false. */
bool resolver_is_this_boot(const uint8_t *boot_id);
/*
 * A recording begins, the first or another. What was believed of files without a build-id is
 * forgotten; objects with one and strings stay. 0, -FMT_E_NOMEM.
 */
int resolver_begin(struct resolver *r, const struct resolver_recording *recording);
/*
 * Where the files of a recording are looked for, and what is believed of them: for whoever looks for
 * more than names, on whatever thread, while the resolver lives: without ways through processes.
 */
void resolver_places(const struct resolver *r, const struct resolver_recording *recording,
		     struct object_places *ret);

/* object_split_open() where this resolver looks for files. */
int resolver_split(const struct resolver *r, const struct object *object, const char *dir,
		   const char *name);

/* Kernel symbols came along with the recording: what they do not name has no name. */
void resolver_kernel_known(struct resolver *r);
/*
 * Lines of the kernel are asked for, in this recording and others. *ret: there may be some of this
 * one's, so that each address matters. 0, -FMT_E_NOMEM.
 */
int resolver_kernel_lines(struct resolver *r, const struct resolver_recording *recording,
			  bool *ret);
/* A MMAP record of the kernel or a module: where it lies. */
int resolver_kernel_map(struct resolver *r, const struct perf_mmap *map);
/*
 * Why addresses of a kernel without symbols have no names, and what would help; NULL: they have.
 */
const char *resolver_kernel_trouble(const struct resolver *r);

/*
 * The code of this recording's kernel, with its symbols, and how far it was moved from the addresses
 * there; also from servers. *ret NULL: it is not here, or the recording does not tell where it was; else for
 * the resolver's life. 0, -FMT_E_NOMEM.
 */
int resolver_kernel_code(struct resolver *r, struct object **ret, uint64_t *ret_moved);

/*
 * A user address in map (NULL: RESOLVE_NO_MAP). is_return: ip follows a call, so that the
 * byte before it is looked up.
 */
int resolver_user(struct resolver *r, const struct task_map *map, uint64_t ip, bool is_return,
		  struct frame *ret);
/*
 * Likewise data that was touched: its symbol is an object of the file, also of what that has zeroed behind the
 * end of the map.
 */
int resolver_data(struct resolver *r, const struct task_map *map, uint64_t ip, struct frame *ret);
/* A kernel address; known is what the recording names it, or NULL; its strings are copied. */
int resolver_kernel(struct resolver *r, uint64_t ip, bool is_return,
		    const struct kernel_symbol *known, struct frame *ret);
/*
 * An address of code that a process made at run time, with the name that this has: symbol from start
 * on, of the object "/tmp/perf-PID.map", which is "[JIT] tid PID" for short, as in perf. 0, -FMT_E_NOMEM.
 */
int resolver_jit(struct resolver *r, uint64_t ip, uint64_t start, const char *symbol,
		 const char *object, struct frame *ret);

/* Names, or files with symbols, that there was no room for, so far (INTERN_BYTES_MAX, name_room.h, object_room). */
uint64_t resolver_left_out(const struct resolver *r);
/* The file whose names there was no room for first; NULL: none, or nobody can tell. */
const char *resolver_left_out_of(const struct resolver *r);
/* Is half of the room for names taken, or was one left out? Whoever reads again and again takes a new resolver then. */
bool resolver_crowded(const struct resolver *r);
/*
 * How often a file that .gnu_debuglink names was not taken, because its checksum would have been
 * more to read than is read for all of them (OBJECT_DEBUG_SUM_BYTES_MAX).
 */
uint64_t resolver_debug_left_out(struct resolver *r);
/* How often a debug file was refused because its sections do not fit its object's, and the path of the first one. */
uint64_t resolver_debug_misfits(struct resolver *r, char ret_first[PATH_MAX]);
#define RESOLVER_MISFIT                                                                            \
	"not used for names: its sections of code have other sizes than those of the file that "   \
	"it belongs to, or were not all moved as far"

/* A name of an object as a linker has it, as frames have it. 0, -FMT_E_NOMEM. */
int resolver_name(struct resolver *r, struct object *of, const char *raw, const char **ret);
/* Another string of an object, a file of its source for instance. NULL: out of memory. */
const char *resolver_text(struct resolver *r, struct object *of, const char *text);
/* A file that nobody recorded, and an address in it: for spoor symbolize. As object_store_file(). */
int resolver_file(struct resolver *r, const char *path, struct object **ret);
int resolver_address(struct resolver *r, struct object *object, uint64_t vaddr, struct frame *ret);

/* Interns a string for callers that key by frames and names alike; NULL: out of memory. */
const char *resolver_intern(struct resolver *r, const char *s);

#endif
