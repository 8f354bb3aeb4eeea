/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/export_size.h"

#include <inttypes.h>

#include <bsd/stdlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/text/screen_text.h"

#define GUESSES 8
#define GUESS_BELOW 0.99

int
export_size_parse(const struct export_request *rq, uint64_t *ret)
{
	const char *text = rq->given[EXPORT_max_size];

	*ret = 0;
	if (!text)
		return 0;
	if (text[0] < '0' || text[0] > '9' || expand_number(text, ret) < 0 ||
	    *ret < EXPORT_SIZE_MIN)
		return cli_usage_error(
			"export", "--max-size %s: bytes, from 4K on; K, M and G may follow", text);
	return 0;
}

static ssize_t
count_bytes(void *cookie, const char *p, size_t n)
{
	(void)p;
	*(uint64_t *)cookie += n;
	return (ssize_t)n;
}

/* How many bytes it would write. */
static int
measure(export_size_fn *write, void *arg, size_t keep, uint64_t *ret)
{
	FILE *out = fopencookie(ret, "w", (cookie_io_functions_t){ .write = count_bytes });
	int err;

	*ret = 0;
	if (!out)
		return -FMT_E_NOMEM;
	err = write(arg, keep, out);
	if (fclose(out) != 0 && err == 0)
		err = -FMT_E_NOMEM;
	return err;
}

/* Bytes grow with what is kept, roughly evenly: the next guess is a bit below where the line says. */
int
export_size_fit(uint64_t max_bytes, size_t n, export_size_fn *write, void *arg, size_t *ret)
{
	size_t low = 0, high = n;
	uint64_t low_bytes, high_bytes, bytes;
	int err = measure(write, arg, n, &high_bytes);

	if (err == 0 && high_bytes <= max_bytes) {
		*ret = n;
		return 0;
	}
	if (err == 0)
		err = measure(write, arg, 0, &low_bytes);
	if (err == 0 && low_bytes > max_bytes)
		err = -FMT_E_TOO_BIG;
	for (int i = 0; err == 0 && i < GUESSES && high - low > 1; i++) {
		const double share =
			(double)(max_bytes - low_bytes) / (double)(high_bytes - low_bytes);
		size_t guess = low + (size_t)((double)(high - low) * share * GUESS_BELOW);

		guess = guess > low ? guess : low + 1;
		err = measure(write, arg, guess, &bytes);
		if (bytes > max_bytes) {
			high = guess;
			high_bytes = bytes;
		} else {
			low = guess;
			low_bytes = bytes;
		}
	}
	*ret = low;
	return err;
}

void
export_size_say(const char *input, uint64_t left_out, uint64_t samples, const char *which)
{
	if (left_out > 0)
		screen_text_warn("%s: --max-size: left out %s %" PRIu64 " of %" PRIu64
				 " samples (%.2f%%)",
				 input, which, left_out, samples,
				 100.0 * (double)left_out / (double)samples);
}
