/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_answer: what became of asking one process. It comes through a pipe from the process that asked, in one write(2).
 */
#ifndef SYMBOLIZER_NAMES_NAMES_ANSWER_H
#define SYMBOLIZER_NAMES_NAMES_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NAMES_TEXT_BYTES 512

/* verdict, its word in JSON, is it said of a process that was not named one by one, does it fail */
#define NAMES_VERDICTS(X)                                                                          \
	X(NAMED, "named", true, false)                                                             \
	X(CANNOT, "cannot", true, false) /* its runtime takes an option at its start alone */      \
	X(FAILED, "failed", true, true)                                                            \
	X(NONE, "none", false, false)	 /* it makes no code at run time, as far as is known */    \
	X(GONE, "gone", false, true)	 /* it has ended, or there was none */                     \
	X(OTHERS, "others", false, true) /* another user's, or not to be looked into */

enum names_verdict {
#define X(verdict, word, said, fails) NAMES_##verdict,
	NAMES_VERDICTS(X) NAMES_NR_VERDICTS
#undef X
};

/* Strings are the observed process's: they end in NUL, and are to be escaped before a person sees them. */
struct names_answer {
	int32_t pid;
	uint32_t verdict; /* enum names_verdict */
	char comm[32];
	char runtime[32]; /* "JVM"; "": not known */
	char text[NAMES_TEXT_BYTES];
};

/* The verdict, and why, which is cut where there is no room. */
void names_answer_say(struct names_answer *a, enum names_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Is it whole, of this process? Strings end then. */
bool names_answer_check(struct names_answer *a, pid_t pid);

#endif
