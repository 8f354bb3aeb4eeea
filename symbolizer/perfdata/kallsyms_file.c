/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/kallsyms_file.h"

#include <inttypes.h>
#include <string.h>

static void
kallsyms_file_put(FILE *out, uint64_t address, char type, const char *name, const char *dso)
{
	fprintf(out, "%016" PRIx64 " %c %s", address, type, name);
	if (dso && strcmp(dso, KERNEL_DSO) != 0)
		fprintf(out, "\t%s", dso);
	fputc('\n', out);
}

/* BPF programs and trampolines are their own objects, and perf knows them by KSYMBOL records. */
static bool
is_listed(const struct kernel_symbol *s)
{
	return s->dso[0] == '[';
}

void
kallsyms_file_write(const struct kernel_symbols *symbols, uint64_t text, FILE *out)
{
	struct kernel_symbol s, next = { 0 };
	bool more = kernel_symbols_next(symbols, 0, &s);

	/* perf looks for the one that the recording's map of the kernel is named after. */
	if (text) {
		kallsyms_file_put(out, text, 'T', "_stext", NULL);
		kallsyms_file_put(out, text, 'T', "_text", NULL);
	}
	if (text && more && s.start > text)
		kallsyms_file_put(out, text + 1, 't', "unknown", NULL);
	while (more) {
		bool last = s.start == UINT64_MAX ||
			!kernel_symbols_next(symbols, s.start + 1, &next);

		if (is_listed(&s)) {
			kallsyms_file_put(out, s.start, 't', s.name, s.dso);
			if (last || next.start > s.end || !is_listed(&next))
				kallsyms_file_put(out, s.end, 't', "unknown", s.dso);
		}
		more = !last;
		s = next;
	}
}
