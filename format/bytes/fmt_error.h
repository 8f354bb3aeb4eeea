/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fmt_error: what can go wrong between bytes and structs, in format/ and symbolizer/.
 *
 * Functions return 0 or a negative FMT_* value; iterators return 1 for an item, 0 at the
 * end, and a negative value on error. Nothing here prints; the layer that decides does.
 */
#ifndef FORMAT_BYTES_FMT_ERROR_H
#define FORMAT_BYTES_FMT_ERROR_H

#include <stdint.h>

/* name, text for a person */
#define FMT_ERRORS(X)                                                                              \
	X(IO, "input/output error")                                                                \
	X(NOT_RECORDING, "not a spoor recording")                                                  \
	X(VERSION, "made by a newer spoor: needs a feature that this one does not have")           \
	X(CORRUPT, "damaged")                                                                      \
	X(TRUNCATED, "ends in the middle")                                                         \
	X(TOO_BIG, "a length is over its limit")                                                   \
	X(CHECKSUM, "checksum does not match")                                                     \
	X(DECOMPRESS, "cannot be decompressed")                                                    \
	X(NOMEM, "out of memory")                                                                  \
	X(UNKNOWN_ID, "event id that no event of the recording has")                               \
	X(MISMATCH, "build-id does not match")                                                     \
	X(UNSUPPORTED, "not supported")                                                            \
	X(EMPTY, "empty file")                                                                     \
	X(HIDDEN, "addresses are hidden from this user")                                           \
	X(REFUSED, "refused by the kernel")

enum fmt_error {
	FMT_OK = 0,
#define X(name, text) FMT_E_##name,
	FMT_ERRORS(X)
#undef X
		FMT_E_MAX
};

/* Where an error happened and what was wrong, so that a person can find the byte. */
struct fmt_where {
	uint64_t offset;  /* file offset of the block or record at fault */
	int saved_errno;  /* errno of the failed call, 0 when there was none */
	char detail[160]; /* "record of 12 bytes overruns the block"; may be empty */
};

/* Text of a (negative or positive) error value; never NULL. */
const char *fmt_error_text(int error);

/*
 * Fills *w (w may be NULL) and returns the error, a value of enum fmt_error, as a negative number,
 * whichever sign it was given with: so that a failing function can end in
 * "return fmt_fail(where, FMT_E_CORRUPT, offset, "...", ...)". errno is saved for FMT_E_IO.
 */
int fmt_fail(struct fmt_where *w, int error, uint64_t offset, const char *detail, ...)
	__attribute__((format(printf, 4, 5)));

#endif
