/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_value: what recordings say, as values of JSON: names that need not be text, and numbers
 * that need not be small.
 */
#ifndef SYMBOLIZER_TEXT_JSON_VALUE_H
#define SYMBOLIZER_TEXT_JSON_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "format/bytes/buf.h"

/* A name, a path, any bytes up to a NUL: what is not UTF-8 is escaped. NULL: out of memory. */
json_t *json_value_text(const char *s);
/* The same to a file, whose ferror() has failed writes. False: out of memory. */
bool json_value_write(const char *s, FILE *out);
/*
 * As json_dumpf(), fit for a terminal as well: what escape_printable() refuses, which can be in names
 * alone, is \uXXXX.
 */
int json_value_dump(const json_t *j, FILE *out, size_t flags);
/* The same of JSON that jansson made, or of a part of it that ends between two characters. */
void json_value_print(const char *text, size_t len, FILE *out);
/* The same appended to bytes, for whoever writes many. */
void json_value_append(struct buf *out, const char *s);
/* At most 2^63 - 1, where JSON's integers end here; only a forged file has more. */
json_t *json_value_number(uint64_t n);
/* Likewise, and null for 0. */
json_t *json_value_known(uint64_t n);

#endif
