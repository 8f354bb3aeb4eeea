/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that this tree does not call: they cannot be told how much room there is, hide errors,
 * or answer from one static buffer. Every compilation includes this file first (-include); a call
 * of one of them is an error that names what to use instead (before gcc 12, a warning).
 *
 * The declarations come before those of the C library, so that its inline versions inherit them.
 * Beside types, nothing is included here: what a source file needs it includes itself.
 */
#ifndef BANNED_H
#define BANNED_H

#include <stdarg.h>
#include <sys/types.h>

struct tm;

#if __has_attribute(unavailable)
#define BANNED(instead) __attribute__((unavailable(instead)))
#else
#define BANNED(instead) __attribute__((deprecated(instead)))
#endif

BANNED("use strlcpy") char *strcpy(char *, const char *);
BANNED("use strlcpy") char *stpcpy(char *, const char *);
BANNED("use strlcat") char *strcat(char *, const char *);
BANNED("use strlcpy or memcpy") char *strncpy(char *, const char *, size_t);
BANNED("use strlcat") char *strncat(char *, const char *, size_t);
BANNED("use snprintf") int sprintf(char *, const char *, ...);
BANNED("use vsnprintf") int vsprintf(char *, const char *, va_list);
BANNED("use strsep or strtok_r") char *strtok(char *, const char *);
BANNED("use strtonum") int atoi(const char *);
BANNED("use strtonum") long atol(const char *);
BANNED("use strtonum") long long atoll(const char *);
BANNED("use strtod") double atof(const char *);
BANNED("use gmtime_r") struct tm *gmtime(const time_t *);
BANNED("use localtime_r") struct tm *localtime(const time_t *);
BANNED("use strftime") char *ctime(const time_t *);
BANNED("use strftime") char *ctime_r(const time_t *, char *);
BANNED("use strftime") char *asctime(const struct tm *);
BANNED("use strftime") char *asctime_r(const struct tm *, char *);
BANNED("use mkstemp") char *mktemp(char *);
BANNED("use mkstemp") char *tmpnam(char[20]);
BANNED("use mkstemp") char *tempnam(const char *, const char *);

#undef BANNED

#endif
