/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_pokes: what the kernel wrote over its own code while it was recorded (PERF_RECORD_TEXT_POKE): static
 * keys, tracepoints, ftrace, kprobes. From it, and code as it was at any time, the code at another time.
 */
#ifndef SYMBOLIZER_CODE_CODE_POKES_H
#define SYMBOLIZER_CODE_CODE_POKES_H

#include <stddef.h>
#include <stdint.h>

#include "format/recording/record_stream.h"

/* ftrace rewrites the beginning of each of 60,000 functions, and again when it is turned off. */
#define CODE_POKES_MAX (1u << 20)
#define CODE_POKES_BYTES_MAX (32u << 20)

struct code_pokes;

struct code_pokes *code_pokes_new(void); /* NULL: out of memory */
void code_pokes_free(struct code_pokes *p);

/*
 * Those of a whole stream, from which nothing has been read; of several, in the order of their times. shift_ns is
 * added to these. 0, -FMT_E_NOMEM; what is damaged is passed over, for who read it before has told it.
 */
int code_pokes_read(struct code_pokes *p, struct record_stream *stream, uint64_t shift_ns);
/* For want of room. */
uint64_t code_pokes_left_out(const struct code_pokes *p);

/*
 * Makes len bytes of code from an address on, as they were at any time, what they were at at_ns: what was
 * written there last, or else what was there before it was written to first. What nobody wrote to stays.
 * 0, -FMT_E_NOMEM. The first question after reading sorts what was read.
 */
int code_pokes_apply(struct code_pokes *p, uint64_t at_ns, uint64_t address, uint8_t *bytes,
		     size_t len);
/*
 * How often anything of len bytes from an address on was written after from_ns, up to until_ns. times, if it
 * is not NULL, has one number for each of the bytes, which grows by that of the byte.
 */
size_t code_pokes_count(struct code_pokes *p, uint64_t from_ns, uint64_t until_ns, uint64_t address,
			size_t len, uint32_t *times);

#endif
