/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_stack: a sample without the bytes of its copied stack that mean nothing.
 *
 * The kernel reserves as many bytes as the event asks for, and copies as many as there are (dyn_size).
 */
#ifndef FORMAT_RECORD_SAMPLE_STACK_H
#define FORMAT_RECORD_SAMPLE_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "format/record/event_attr.h"

/*
 * Writes a sample, a whole record of len bytes, to to, which has room for them, or is the record itself: of the copied stack
 * dyn_size bytes, rounded up to 8. If less was copied than was asked for, 8 more stay, so that size > dyn_size still says so.
 * Returns the bytes written: len where there is nothing to leave out, and where the record does not parse by attr. Bytes that
 * are left out are not read.
 */
size_t sample_stack_trim(uint8_t *to, const uint8_t *record, size_t len,
			 const struct event_attr *attr);

#endif
