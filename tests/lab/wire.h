/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire: records written byte by byte, as the uapi header's comments draw them. It shares
 * nothing with format/, so that a mistake made twice there cannot hide here.
 */
#ifndef TESTS_LAB_WIRE_H
#define TESTS_LAB_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "format/record/perf_record.h"

struct wire {
	size_t len;
	uint8_t bytes[1 << 17];
};

void wire_clear(struct wire *w);
void wire_u8(struct wire *w, uint8_t v);
void wire_u16(struct wire *w, uint16_t v);
void wire_u32(struct wire *w, uint32_t v);
void wire_u64(struct wire *w, uint64_t v);
void wire_bytes(struct wire *w, const void *p, size_t n);
/* With its NUL, and zeros up to the next word. */
void wire_string(struct wire *w, const char *s);
void wire_pad(struct wire *w);
/* Empties w and writes a header; wire_end() writes the size into it. */
void wire_begin(struct wire *w, uint32_t type, uint16_t misc);
void wire_end(struct wire *w);
void wire_size(uint8_t *record, uint16_t size);
/* The trailer that sample_type asks for, from sid, in the header file's order. */
void wire_trailer(struct wire *w, uint64_t sample_type, const struct perf_sample_id *sid);

/*
 * A copy that ends where an unreadable page begins: one byte read past it is a SIGSEGV.
 * Good until the next call.
 */
struct span wire_guard(const void *p, size_t n);

/*
 * Parses a record in a guarded copy, and again in a copy on the heap of its exact size (for
 * the sanitizers); both have to agree. ret points into the guarded copy.
 */
int wire_parse(const void *p, size_t n, const struct event_attr *attr, struct perf_record *ret);

/*
 * Cuts the record at every byte, with header.size left alone and with it made to fit, and
 * asserts that every cut is refused.
 */
void wire_cut_everywhere(const struct wire *w, const struct event_attr *attr);

#endif
