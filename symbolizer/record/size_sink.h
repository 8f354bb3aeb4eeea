/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_sink: a file that says when so much was written to it. */
#ifndef SYMBOLIZER_RECORD_SIZE_SINK_H
#define SYMBOLIZER_RECORD_SIZE_SINK_H

#include <stdint.h>

struct io_sink;

/*
 * A sink over a descriptor, as io_sink_fd(); once that many bytes have been written, full() is called at each
 * write, on the thread that writes. NULL: out of memory, and fd is still the caller's.
 */
struct io_sink *size_sink_new(int fd, uint64_t bytes, void (*full)(void *arg), void *arg);

#endif
