/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option_wrong: what is wrong with an option that getopt_long() did not take, in words, with the
 * options that can have been meant. All programs say the same. Prints nothing.
 */
#ifndef FORMAT_BYTES_OPTION_WRONG_H
#define FORMAT_BYTES_OPTION_WRONG_H

#include <getopt.h>
#include <stddef.h>

#define OPTION_WRONG_BYTES 1024 /* for the words below, whatever was typed */

/*
 * Of what getopt_long() has just returned, '?' or (with a ':' in front of its letters) ':'. The words are
 * "unknown option '--freqency'; did you mean --frequency?" and the like, cut to size; what was typed is in
 * them as it is.
 */
void option_wrong_text(int why, char *const *argv, const struct option *longs, char *out,
		       size_t size);

/*
 * Of what an option of processes or threads (letter 'p' or 't') got and is no number: the name of a command gets the
 * pgrep(1) that has its numbers, in what the shell puts in its place. Likewise.
 */
void option_wrong_task_text(const char *typed, char letter, char *out, size_t size);

/* -e event stands behind -G group, of one control group, which had an event before it: perf would have event sample all. */
void option_wrong_order_text(const char *event, const char *group, char *out, size_t size);

#endif
