/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input: what -i names, opened for reading, with the messages that a person needs.
 *
 * Every reading command opens its recording here, so that the defaults, the errors and the
 * words about damage and loss are the same everywhere. Prints to stderr with err(3)-style
 * program name; returns an exit status for main.
 */
#ifndef SYMBOLIZER_INPUT_INPUT_H
#define SYMBOLIZER_INPUT_INPUT_H

#include "format/recording/record_stream.h"
#include "format/recording/recording_reader.h"
#include "symbolizer/input/input_access.h"
#include "symbolizer/profile/filter.h"

struct input {
	const char *path;     /* as shown: "-" is "standard input" */
	bool live;	      /* still being written, by its name: it need not have an end */
	bool incomplete;      /* what it was read from was damaged or cut, which was said */
	bool parts;	      /* it has no records, and others stand behind it: input_parts */
	uint64_t perfdata_ns; /* a perf.data: when the file was written last (CLOCK_REALTIME), 1 of
				 a pipe; else 0 */
	struct input_access access;
	/*
	 * What has its packed objects, for another reader: its bytes once more (one of io_source_share()), or of a part
	 * those of the recording before the parts. Who takes it sets NULL.
	 */
	struct io_source *source;
	struct recording_reader *reader;
	struct record_stream *stream;
};

/* Says what io_open() or io_source_fd() has against a file; false: it is the errno that tells. */
bool input_say_unreadable(const char *shown, int error);

/* Is it a file that begins as a recording or a perf.data does? Says nothing if not. */
bool input_is_recording(const char *path);
/*
 * Of two arguments, a name and the file that it is looked for in, which people write in either order: is the first one
 * the file? It is a recording, or a directory, and the second one is neither.
 */
bool input_is_first(const char *first, const char *second);

/*
 * One recording. path NULL: ./recording.spoor. 0, or an exit status (1) after a message on
 * stderr. For what may also be an archive: input_set.
 */
int input_open(struct input *in, const char *path);
/*
 * From a descriptor, which is the input's from here on; shown is borrowed. A file that grows is read as far as it is
 * now.
 */
int input_open_fd(struct input *in, int fd, const char *shown);
/* From its bytes, which are the input's from here on, also on failure; of a recording, and as long as they are now. */
int input_open_source(struct input *in, struct io_source *source, const char *shown,
		      const struct input_access *access);
void input_close(struct input *in);

struct input_range {
	uint64_t first_ns, last_ns; /* UINT64_MAX and 0 when there are no samples */
	uint64_t samples;
};

/*
 * Time of the first and the last record of the blocks with samples, by their headers. Rewinds the
 * reader. 0, negative.
 */
int input_range(struct input *in, struct input_range *ret, struct fmt_where *where);

/*
 * Resolves the filter's percent times, and gives the stream the filter's window (*ret_windowed,
 * may be NULL: there is one). 0, negative: for input_failed().
 */
int input_window(struct input *in, struct filter *filter, bool *ret_windowed,
		 struct fmt_where *where);

/* After the stream's end: says on stderr what is damaged. */
void input_warn_damage(const struct input *in);
/* Says on stderr what is lost, of so many samples. */
void input_warn_loss(const char *path, const struct loss *loss, uint64_t samples);
/* Says an error of the reader or the stream; returns the exit status 1. */
int input_failed(const struct input *in, int error, const struct fmt_where *where);
/* "12 samples", "0.250 s" */
void input_loss_text(enum loss_cause cause, uint64_t n, char *out, size_t size);
/* "CPU 1, +1.250 s to +2.500 s: time a CPU was offline"; times are from start_ns on. */
void input_gap_text(const struct gap *gap, uint64_t start_ns, char *out, size_t size);

#endif
