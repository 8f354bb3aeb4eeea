/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gzip_stream: bytes to a file, compressed as they come (RFC 1952).
 */
#ifndef SYMBOLIZER_EXPORT_GZIP_STREAM_H
#define SYMBOLIZER_EXPORT_GZIP_STREAM_H

#include <stddef.h>
#include <stdio.h>

struct gzip_stream;

/* out is borrowed. NULL: out of memory. */
struct gzip_stream *gzip_stream_new(FILE *out);
/* Failed writes stay in ferror(). */
void gzip_stream_write(struct gzip_stream *g, const void *p, size_t n);
/* Writes what is left, and frees. NULL: nothing. */
void gzip_stream_end(struct gzip_stream *g);

#endif
