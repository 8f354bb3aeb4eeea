/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/frame_regex.h"

#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/text/bounded_regex.h"

enum verdict { NOT_ASKED, FOUND, NOT_FOUND };

struct frame_regex {
	regex_t compiled;
	uint8_t *verdicts; /* by frame */
	size_t nr, cap;
};

int
frame_regex_new(const char *text, char why[static BOUNDED_REGEX_WHY_MAX], struct frame_regex **ret)
{
	struct frame_regex *re = calloc(1, sizeof(*re));
	int err;

	if (!re)
		return -FMT_E_NOMEM;
	err = bounded_regex_compile(&re->compiled, text, why);
	if (err == 0) {
		*ret = re;
		return 0;
	}
	free(re);
	return err == REG_ESPACE ? -FMT_E_NOMEM : -FMT_E_UNSUPPORTED;
}

void
frame_regex_free(struct frame_regex *re)
{
	if (!re)
		return;
	regfree(&re->compiled);
	free(re->verdicts);
	free(re);
}

int
frame_regex_finds(struct frame_regex *re, const struct profile *p, uint32_t frame)
{
	const char *symbol;

	while (re->nr <= frame) {
		int err = array_reserve(re->verdicts, re->nr, re->cap, 1);

		if (err < 0)
			return err;
		re->verdicts[re->nr++] = NOT_ASKED;
	}
	if (re->verdicts[frame] == NOT_ASKED) {
		symbol = profile_frame(p, frame)->symbol;
		re->verdicts[frame] = symbol && regexec(&re->compiled, symbol, 0, NULL, 0) == 0
			? FOUND
			: NOT_FOUND;
	}
	return re->verdicts[frame] == FOUND;
}

int
frame_regex_first(struct frame_regex *re, const struct profile *p, const struct profile_stack *s,
		  uint32_t *ret)
{
	int found = 0;

	for (uint32_t i = 0; i < s->nr_frames && found == 0; i++) {
		found = frame_regex_finds(re, p, s->frames[i]);
		*ret = s->frames[i];
	}
	return found;
}
