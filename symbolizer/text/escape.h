/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * escape: names that a hostile process chose (comm, paths, symbols), made fit for a
 * terminal, a line of text, or JSON.
 *
 * Valid printable UTF-8 passes. What could move the cursor, end a line, or make text read
 * as something else does not: control characters (C0, DEL, C1), line separators,
 * bidirectional overrides and invisible characters become \ooo, byte by byte; bytes that
 * are not UTF-8 become \xHH. A backslash passes: names are shown, never read back.
 */
#ifndef SYMBOLIZER_TEXT_ESCAPE_H
#define SYMBOLIZER_TEXT_ESCAPE_H

#include <stdint.h>

#include "format/bytes/buf.h"

/* Appends s, escaped, without a NUL. */
void escape(struct buf *out, const char *s);
/* Only bytes that are not UTF-8: for JSON, which has its own way with the rest. */
void escape_utf8(struct buf *out, const char *s);
/* As escape(), for a frame of a folded stack: ';' becomes ':'. */
void escape_folded(struct buf *out, const char *s);

/* s, escaped, which the caller frees; NULL: out of memory. */
char *escape_dup(const char *s);

/*
 * Takes one character off the front of *s (not at its end): its code point, or -1 for a byte
 * that begins no valid sequence, which is then the one taken.
 */
int32_t escape_next(const char **s);
/* May a terminal see it? Not what moves the cursor, ends a line, or is not to be seen. */
bool escape_printable(int32_t c);

#endif
