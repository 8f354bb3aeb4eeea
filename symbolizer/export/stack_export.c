/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/stack_export.h"

#include <string.h>

#include "format/record/off_cpu.h"

bool
stack_export_is_clock(const char *event)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		const size_t n = strlen(clocks[i]);

		/* Modifiers may follow. */
		if (strncmp(event, clocks[i], n) == 0 && (event[n] == '\0' || event[n] == ':'))
			return true;
	}
	return false;
}

bool
stack_export_is_wait(const char *event)
{
	return off_cpu_is_name(event);
}

bool
stack_export_is_time(const char *event)
{
	return stack_export_is_clock(event) || stack_export_is_wait(event);
}

bool
stack_export_stack(const struct stack_export *x, size_t i, struct profile_stack *ret)
{
	profile_stack_at(x->profile, i, ret);
	return (x->event == STACK_EXPORT_EVERY || ret->event == x->event) &&
		(!x->rank || x->rank[i] < x->keep);
}

void
stack_export_frame_name(const struct stack_export *x, const struct frame *f,
			stack_export_escape_fn *escape, struct buf *out)
{
	const char *dso = f->dso ? f->dso : "[unknown]";
	const char *label = frame_label(f);
	const bool bare = !f->symbol && dso[0] != '[';

	if (bare)
		buf_u8(out, '[');
	escape(out, f->symbol ? f->symbol : dso);
	if (bare)
		buf_u8(out, ']');
	if (label != f->symbol) {
		buf_u8(out, ' ');
		escape(out, label);
	}
	if (x->annotate_kernel && f->kernel)
		buf_append(out, "_[k]", 4);
}
