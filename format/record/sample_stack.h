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
 * Shortens a sample, a whole record of len bytes, in its place: of the copy dyn_size bytes stay, rounded up to 8. If less
 * was copied than was asked for, 8 more stay, so that size > dyn_size still says so. Returns the record's length. It is
 * unchanged where there is nothing to leave out, and where the record does not parse by attr.
 */
size_t sample_stack_trim(uint8_t *record, size_t len, const struct event_attr *attr);

#endif
