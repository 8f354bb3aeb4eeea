/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_ring: memory that the recorder shares with the process that unwinds stacks (spoor-unwind).
 *
 * Two parts. In the ring the recorder puts entries: files, maps of address spaces, and which stack is to be walked in
 * which of them. The unwinder takes them in order. Behind the ring is room for stacks, which is the recorder's to
 * divide: the unwinder finds a stack by its entry, and writes the answer over it.
 *
 * The unwinder reads files of others, and so the recorder does not trust it: of what it writes into the memory only
 * `taken`, the answers, and the numbers of the header are read, each once, and checked. The unwinder trusts the
 * recorder, and checks lengths all the same.
 */
#ifndef FORMAT_UNWIND_UNWIND_RING_H
#define FORMAT_UNWIND_UNWIND_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/block/unwind_stops.h"
#include "format/bytes/buildid.h"

#define UNWIND_RING_BYTES (1u << 20) /* of the ring with its header; the stacks are behind it */
#define UNWIND_FILES_MAX 4096u	     /* numbers of files are below it; 0: no file */
#define UNWIND_SPACES_MAX 1024u	     /* numbers of address spaces are below it */

#define UNWIND_VERSION 4u /* of this protocol */

/*
 * To the unwinder, first of all, on its descriptor UNWIND_SOCKET (SOCK_SEQPACKET), with the descriptor of the memory,
 * which is sealed against being made smaller or larger. A message that has a descriptor after that brings a socket from
 * which files come, instead of the one before; one without says that there are entries.
 */
#define UNWIND_SOCKET 3
struct unwind_start {
	uint32_t version;
	uint32_t reserved;
	char machine[32]; /* as uname -m; ends with a NUL */
};

/* From the worker that finds files, with a descriptor. */
struct unwind_offer {
	uint64_t serial; /* of the question that it answers */
	struct buildid id;
	int32_t pid;  /* through whom it was found */
	uint32_t uid; /* whose process it is; TASK_USER_UNKNOWN */
	uint32_t maj, min;
};

/* Of an answer, beside enum unwind_stop. */
#define UNWIND_NO_SPACE 0x100u /* the space is not known, and to be given again */
#define UNWIND_NO_FILE 0x101u  /* `used` is the number of a file that is to be offered again */

enum unwind_kind {
	UNWIND_PAD,   /* nothing, up to the end of the memory */
	UNWIND_FILE,  /* what the number of a file means from here on */
	UNWIND_SPACE, /* a whole address space, which replaces the one of that number */
	UNWIND_WALK,  /* a stack */
};

/* Each begins with it. bytes: of the whole entry, a multiple of 8. */
struct unwind_entry {
	uint32_t kind;
	uint32_t bytes;
};

/*
 * A descriptor of it was passed before, with this serial. Nothing else tells which one: anybody can make a file of any
 * path and build-id.
 */
struct unwind_file {
	struct unwind_entry entry;
	uint32_t number;
	uint32_t uid; /* the user to whom its memory is charged */
	uint64_t serial;
};

#define UNWIND_MAP_VDSO 1u /* the kernel's own code; no file */
#define UNWIND_MAP_VSYSCALL 2u

struct unwind_map {
	uint64_t start, end;
	uint64_t pgoff; /* file offset of start */
	uint32_t file;	/* 0: none has it */
	uint32_t flags;
};

/* Behind it nr maps of code, by address. */
struct unwind_space {
	struct unwind_entry entry;
	uint32_t number;
	uint32_t nr;
	uint32_t uid; /* the user to whom the time of long walks is charged */
	uint32_t reserved;
};

struct unwind_walk {
	struct unwind_entry entry;
	uint32_t space;
	uint32_t bytes; /* of the struct unwind_stack with what is behind it */
	uint64_t at;	/* where it is among the stacks; a multiple of 8 */
};

/* Behind it the words of the registers, one for each bit of mask, and then the bytes of the stack. */
struct unwind_stack {
	uint64_t mask;
	uint32_t abi;	      /* PERF_SAMPLE_REGS_ABI_* */
	uint32_t stack_bytes; /* that were copied */
	uint32_t asked_bytes; /* that the kernel was to copy */
	uint32_t reserved;
};

/* What the unwinder writes over it; nr addresses behind it. */
struct unwind_answer {
	uint32_t stop; /* enum unwind_stop; UNWIND_BUSY: it was not walked */
	uint32_t nr;
	uint32_t used; /* bytes of the copied stack that the walk needed */
	uint32_t reserved;
};

struct unwind_shared;

/* One side's view of it. */
struct unwind_ring {
	struct unwind_shared *shared;
	uint8_t *entries;
	uint64_t bytes;	   /* of entries */
	uint64_t head;	   /* the recorder's: put in since the beginning */
	uint64_t reserved; /* likewise: bytes of what is being put in */
	uint64_t next;	   /* the unwinder's: taken, and told as `taken` when it is done */
	uint8_t *stacks;
	uint64_t stacks_bytes;
};

/* Of memory of so many bytes, zeroed by whoever made it. False: it is too small. */
bool unwind_ring_init(struct unwind_ring *r, void *memory, size_t bytes);

/* --- the recorder --- */

/* Bytes that are free now. */
uint64_t unwind_ring_room(const struct unwind_ring *r);
/* Room for an entry of so many bytes, kind and bytes filled in; NULL: there is none now. */
void *unwind_ring_reserve(struct unwind_ring *r, enum unwind_kind kind, size_t bytes);
/* The unwinder may take what was reserved last. When that is done, so many bytes are taken. */
uint64_t unwind_ring_publish(struct unwind_ring *r);
/* Bytes that it has done, since the beginning: what it says, if that can be. */
uint64_t unwind_ring_taken(const struct unwind_ring *r);
/*
 * The answer in the place of a stack, which is done. nr of its addresses are copied, as many as there is room for. Its
 * stop is UNWIND_BUSY if what is there is no answer.
 */
struct unwind_answer unwind_ring_answer(const struct unwind_ring *r, uint64_t at, size_t bytes,
					uint64_t *addresses, size_t cap);

/* What the unwinder said last: its CPU time, and which file it reads (0: none). */
uint64_t unwind_ring_cpu_ns(const struct unwind_ring *r);
uint32_t unwind_ring_reading(const struct unwind_ring *r);

/* --- the unwinder --- */

/* The next entry, whole and of a length that its kind can have; NULL: there is none now. The one before is done. */
struct unwind_entry *unwind_ring_next(struct unwind_ring *r);
/* What comes after it, one after another from *cursor 0 on; NULL: no more is there yet. It is not taken. */
const struct unwind_entry *unwind_ring_ahead(const struct unwind_ring *r, uint64_t *cursor);
/* The stack of a walk, whole; NULL: it has none that can be. */
struct unwind_stack *unwind_ring_stack(const struct unwind_ring *r, const struct unwind_walk *walk);
/* Over it. The addresses that there is no room for are left out. */
void unwind_ring_reply(struct unwind_stack *stack, size_t bytes, struct unwind_answer answer,
		       const uint64_t *addresses);
void unwind_ring_tell(struct unwind_ring *r, uint64_t cpu_ns);
/* Before a file is read, and with 0 after it: should the unwinder end over it, the recorder knows which one it was. */
void unwind_ring_reads(struct unwind_ring *r, uint32_t file);

#endif
