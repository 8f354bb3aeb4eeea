/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern: one copy of every string, so that equal strings are the same pointer.
 *
 * Strings live as long as the table. Each has one note, a pointer for its user: the
 * resolver keeps a name's demangled form there, so that no name is demangled twice.
 */
#ifndef SYMBOLIZER_TEXT_INTERN_H
#define SYMBOLIZER_TEXT_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* Longer strings are cut: no name or path that a person reads is near it. */
#define INTERN_LENGTH_MAX 4095
#define INTERN_SHORT_MAX 255 /* for intern_keep_short() */

/* 500,000 names of the usual length of C++ names. */
#define INTERN_BYTES_MAX (64u << 20)
#define INTERN_LEFT_OUT "[name left out]"
#define INTERN_GROUP_PART                                                                          \
	2 /* what intern_add_for() lets a group of owners have of the room that all others leave */

struct intern;

/*
 * What comes above bytes_max, of all strings together, is one name for all, and counted each time it is
 * asked for. NULL: out of memory.
 */
struct intern *intern_new(size_t bytes_max);
void intern_free(struct intern *t);
/*
 * For strings of many who do not know each other: those above INTERN_SHORT_MAX have half of the room at most, so that
 * a few long ones never cost all others theirs.
 */
void intern_keep_short(struct intern *t);

/* The one copy of len bytes of s (up to a NUL among them); NULL: out of memory. */
const char *intern_add(struct intern *t, const char *s, size_t len);
const char *intern_string(struct intern *t, const char *s);

/*
 * The same for one owner of names among many, an object for instance, who has no more than a fair_part.
 * *owner and *group are the bytes that new strings of the owner, and of its group of owners, took so far, 0 at first;
 * group may be NULL. A new string that would be too much of either is left out, as above bytes_max.
 */
const char *intern_add_for(struct intern *t, const char *s, size_t len, size_t *owner,
			   size_t *group);

/* Of all strings, with what is kept of each: what bytes_max is about. */
size_t intern_bytes(const struct intern *t);

/* How often INTERN_LEFT_OUT was returned instead of a string. */
uint64_t intern_left_out(const struct intern *t);

/* The note of a string that intern_add() returned; NULL at first. */
const char **intern_note(struct intern *t, const char *interned);

#endif
