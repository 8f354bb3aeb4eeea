/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input_set: what -i names, as recordings in their order: one recording, or those of an archive that can have
 * anything of the window. An archive is a directory (archive_list), or a file that spoor pack made of one
 * (input_parts).
 *
 * One is open at a time, unless it is detached. What is damaged, or was deleted before it could be
 * opened, is told on stderr, once, and passed over. Counts of loss add up; times of later recordings are
 * put on the clock of the first one by adding shift_ns.
 */
#ifndef SYMBOLIZER_INPUT_INPUT_SET_H
#define SYMBOLIZER_INPUT_INPUT_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "symbolizer/input/archive_list.h"
#include "symbolizer/input/covered_span.h"
#include "symbolizer/input/input.h"
#include "symbolizer/input/input_parts.h"
#include "symbolizer/profile/filter.h"

struct input_set {
	const char *path;      /* as shown */
	bool archive;	       /* several may be in it: a directory, or a file with parts */
	bool once;	       /* standard input: it cannot be opened again */
	struct filter *filter; /* borrowed; NULL: everything */
	struct input in;       /* the recording that is open; in.reader NULL: none is */
	struct archive_list list;
	int dirfd;
	struct input_parts parts; /* parts.file NULL: there are none */
	size_t next;		  /* in list */
	bool silent;		  /* what is wrong with them has been said */
	char *shown;		  /* of the open one, escaped */

	struct clock_triple start; /* of the first recording */
	uint8_t boot_id[16];
	uint64_t shift_ns; /* what times of the open one need (modulo 2^64) to be on its clock */
	/* Of the first recording; "" and 0: not known. NULL: none was opened. */
	char *hostname, *release, *arch, *cmdline;
	uint64_t frequency_hz; /* that it got */

	size_t opened;		    /* recordings that input_set_next() opened */
	size_t read;		    /* of them, those that are finished */
	size_t skipped;		    /* that could not be opened */
	struct input_access access; /* of all that were opened */
	/*
	 * Of finished recordings, before filters but inside the window; times on the first's
	 * clock.
	 */
	uint64_t samples, first_ns, last_ns;
	uint64_t bad_records;
	struct loss *loss;
	struct gap_list gaps; /* on the first one's clock */
	/* Of those that were opened; looked for only when asked, for that takes another walk. */
	bool wants_spans;
	struct covered_span *spans;
	size_t nr_spans, cap_spans;
};

/*
 * path NULL: ./recording.spoor, or else the archive in /var/lib/spoor. 0, or an exit status
 * after a message. input_set_close() in any case.
 */
int input_set_open(struct input_set *s, const char *path, struct filter *filter);
void input_set_close(struct input_set *s);

/* How many there are to be opened, at most. */
size_t input_set_count(const struct input_set *s);

/*
 * Opens the next one, its stream ready to be read through the filter's window: 1; 0: that was
 * all; -1: it failed, with a message (a single recording that cannot be read, no recording
 * that can; no memory).
 */
int input_set_next(struct input_set *s);

/* Of an archive of which all were opened: the next one is the first one again. Those that failed are passed over. */
void input_set_rewind(struct input_set *s);

/*
 * Of a directory: the name of the open one there, and its bytes for another reader, who closes them; NULL: out of
 * memory.
 */
const char *input_set_name(const struct input_set *s);
struct io_source *input_set_bytes(const struct input_set *s);

/*
 * After the open one's stream has ended: says what is damaged, adds up what was lost, and is done
 * with it. 0, -FMT_E_NOMEM.
 */
int input_set_finish(struct input_set *s);
/* Is done with the open one without a word, for those who read blocks. */
void input_set_leave(struct input_set *s);

/*
 * Takes the open one out, so that the next one can be opened while it is read. It goes back, in
 * the order in which they were opened and when none is open, for input_set_finish().
 */
struct input_detached {
	struct input in;
	char *shown;
	uint64_t shift_ns;
};
void input_set_detach(struct input_set *s, struct input_detached *ret);
void input_set_attach(struct input_set *s, const struct input_detached *d);

/*
 * From the first sample to the last, whatever the window: of one recording by its clock, of an
 * archive since 1970, and samples tells only whether there are any. After the last one was read;
 * the archive's are opened again. 0, -1.
 */
int input_set_range(struct input_set *s, struct input_range *ret);

/*
 * How many ns of the window were looked at, as far as headers and names tell; before the first recording
 * is opened. 0: none, or nobody knows.
 */
uint64_t input_set_extent(struct input_set *s);

/* Is it one recording, of tasks, and not of CPUs? Before it is read. */
bool input_set_is_of_tasks(struct input_set *s);

/* ns of the first recording's clock, since 1970, once that is open. 0: nobody knows the time of day. */
uint64_t input_set_wall(const struct input_set *s, uint64_t ns);
/* The same of a sample. 0: also when none was in what is finished. */
uint64_t input_set_realtime(const struct input_set *s, uint64_t ns);

/*
 * After the last one: says on stderr what could not be parsed and, where loss is set, what is
 * lost. What is damaged input_set_finish() said.
 */
void input_set_warn(const struct input_set *s, bool loss);

#endif
