/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/branch_line.h"

#include <stdio.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/text/short_names.h"

#define NAME_COLUMNS_MIN 30 /* further branches are not drawn */
#define MORE "> "

int
branch_line_print(const char *branches, const char *name, int columns)
{
	const char *at = branches;
	struct short_names *s;
	int taken = 0;

	while (*at && (columns == 0 || taken < columns - NAME_COLUMNS_MIN))
		taken += screen_text_next(&at);
	printf("%.*s%s", (int)(at - branches), branches, *at ? MORE : "");
	if (columns == 0) {
		puts(name);
		return 0;
	}
	s = short_names_new(&name, 1, columns - taken - (*at ? (int)sizeof(MORE) - 1 : 0));
	if (!s)
		return -FMT_E_NOMEM;
	puts(short_names_at(s, 0));
	short_names_free(s);
	return 0;
}

void
branch_line_name(const struct frame *f, struct buf *out)
{
	static const struct stack_export plain = { .profile = NULL };

	stack_export_frame_name(&plain, f, escape, out);
	buf_u8(out, 0);
}
