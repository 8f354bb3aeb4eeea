/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unnamed: processes whose samples have no name, in words and as JSON: which process, how much of it, and the command or
 * the option by which its runtime tells the names of the code that it made.
 */
#ifndef SYMBOLIZER_VIEW_UNNAMED_H
#define SYMBOLIZER_VIEW_UNNAMED_H

#include <stdbool.h>

#include <jansson.h>

#include "format/bytes/buf.h"
#include "symbolizer/profile/profile.h"

/* Processes in text: as many, of those with such a share of all samples; and in JSON. */
#define UNNAMED_SHOWN 5
#define UNNAMED_PERCENT 1.0
#define UNNAMED_JSON_MAX 1000

#define UNNAMED_COMMAND_BYTES 40

/* Appends "java (pid 4242), Java 17", escaped, without a NUL. */
void unnamed_who(struct buf *out, const struct sampled_process *p);
/* Appends how much of its samples lacks names that its runtime has, likewise. */
void unnamed_part(struct buf *out, const struct sampled_process *p);
/*
 * Appends what would name code that it made at run time, likewise: commands and options stand between ` and `. What
 * asks a running process is not told of one that has ended.
 */
void unnamed_help(struct buf *out, const struct sampled_process *p);
/*
 * The command that asks it for its names while it runs; false: it has ended, or its runtime cannot be asked, as far as
 * its version is known.
 */
bool unnamed_command(const struct sampled_process *p, char ret[UNNAMED_COMMAND_BYTES]);
/* The option of its next start; NULL: its runtime is not known, or this version of it has none. */
const char *unnamed_option(const struct sampled_process *p);

/*
 * Those that made most of the code without a name, as many as are shown: share is of all samples, line the rest:
 * unnamed_who(), unnamed_part() and unnamed_help(). Then, where there are more, line NULL, their
 * number and share. 0, -FMT_E_NOMEM.
 */
typedef void unnamed_line_fn(void *arg, double share, const char *line, size_t more);
int unnamed_tell(const struct profile *p, unnamed_line_fn *tell, void *arg);
/* The same as lines with a NUL at the end of each, for pictures: none where all code has names. 0, -FMT_E_NOMEM. */
int unnamed_keep(const struct profile *p, struct buf *lines);

/* An array of the processes that have samples without a name, most of them first. NULL: out of memory. */
json_t *unnamed_json(const struct profile *p);

#endif
