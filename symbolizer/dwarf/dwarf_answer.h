/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_answer: what a worker writes, and its reader, who believes nothing of it.
 *
 * Messages, integers little-endian:
 *
 *	u32 'S', u32 length, length bytes    a string; they are numbered from 1 as they come
 *	u32 'A', u32 address, u32 frames,    of an address of the job, by its number: per frame the numbers
 *	     frames x { u32, u32, u32 }      of its function and its file (0: none), and the line
 *	u32 'P', the same                    likewise, but its unit's functions are in a file that is
 *	                                     not here; there may be no frame
 *	u32 'L', u32 units                   of how many units they are, if there are any
 *	u32 'E', u32 error                   the end: enum fmt_error, or 0
 */
#ifndef SYMBOLIZER_DWARF_DWARF_ANSWER_H
#define SYMBOLIZER_DWARF_DWARF_ANSWER_H

#include "format/bytes/span.h"
#include "symbolizer/dwarf/dwarf_worker.h"

struct dwarf_answer;

struct dwarf_answer *dwarf_answer_new(int fd); /* fd is borrowed; NULL: out of memory */
/* Equal strings have to be one pointer. 0, -FMT_E_NOMEM, -FMT_E_IO. */
int dwarf_answer_add(struct dwarf_answer *a, size_t i, const struct dwarf_frame *frames, size_t nr,
		     bool partial);
void dwarf_answer_end(struct dwarf_answer *a, int error, uint32_t lacking);

/*
 * Gives found what the whole answer has, and sets job->outcome and lacking. One without its end, or with what
 * cannot be, is DWARF_CRASHED: nothing of it is given. 0, -FMT_E_NOMEM, or what found returned.
 */
int dwarf_answer_read(struct span answer, struct dwarf_job *job, size_t number, dwarf_job_fn *found,
		      void *arg);

#endif
