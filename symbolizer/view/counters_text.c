/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/view/counters_print.h"

/* Times in ms, as perf stat has them; all else as it was counted, or would have been all the time. */
static void
count_text(const struct counted *c, char *text, size_t size)
{
	uint64_t n = read_total_scaled(&c->total);

	if (counted_is_time(c))
		(void)snprintf(text, size, "%.2f", (double)n / 1e6);
	else
		(void)snprintf(text, size, "%" PRIu64, n);
}

static const char *
unit_of(const struct counted *c)
{
	return counted_is_time(c) ? "msec" : "";
}

static double
seconds_of(const struct counters_row *row)
{
	return ((double)row->until_ns - (double)row->start_ns) / 1e9;
}

void
counters_text_header(FILE *out, bool per_cpu)
{
	(void)fprintf(out, "# %12s %s%20s %-4s  %s\n", "time", per_cpu ? "CPU     " : "", "counts",
		      "unit", "events");
}

/* Of 1234567 "1.235 M": four digits say what a ratio can. */
static void
ratio_text(const struct count_ratio *ratio, char *text, size_t size)
{
	static const char *const prefixes[] = { "", " K", " M", " G", " T" };
	double value = ratio->value;
	size_t i = 0;

	while (value >= 1000 && i < 4) {
		value /= 1000;
		i++;
	}
	(void)snprintf(text, size, "%.3f%s %s", value, prefixes[i], ratio->unit);
}

static void
text_line(FILE *out, const struct counters_row *row, size_t which, bool per_cpu)
{
	const struct counted *c = &row->counted->v[which];
	struct count_ratio ratios[COUNT_RATIOS_MAX];
	size_t n = count_ratios(row->counted, which, row->counted_ns, ratios);
	char *name = escape_dup(c->name), text[64];

	if (row->total)
		(void)fprintf(out, "  %12s ", "total");
	else
		(void)fprintf(out, "  %12.6f ", seconds_of(row));
	if (per_cpu)
		(void)fprintf(out, "CPU%-5" PRIu32, row->cpu);
	count_text(c, text, sizeof(text));
	(void)fprintf(out, "%20s %-4s  %-24s", text, unit_of(c), name ? name : "(out of memory)");
	for (size_t i = 0; i < n; i++) {
		ratio_text(&ratios[i], text, sizeof(text));
		(void)fprintf(out, "%s %s", i ? "," : " #", text);
	}
	if (read_total_shared(&c->total))
		(void)fprintf(out, "  (%.2f%%)", read_total_percent(&c->total));
	(void)fputc('\n', out);
	free(name);
}

void
counters_text(FILE *out, const struct counters_row *row, bool per_cpu)
{
	for (size_t i = 0; i < row->counted->nr; i++)
		text_line(out, row, i, per_cpu);
}

/* A name may have the separator in it: pmu/event=1,umask=2/. */
static void
put_name(FILE *out, const char *name, const char *separator)
{
	char *text = escape_dup(name);

	if (text && (strstr(text, separator) || strchr(text, '"'))) {
		(void)fputc('"', out);
		for (const char *p = text; *p; p++) {
			if (*p == '"')
				(void)fputc('"', out);
			(void)fputc(*p, out);
		}
		(void)fputc('"', out);
	} else {
		(void)fputs(text ? text : "", out);
	}
	free(text);
}

void
counters_fields(FILE *out, const struct counters_row *row, bool per_cpu, const char *separator)
{
	const char *s = separator;

	for (size_t i = 0; i < row->counted->nr; i++) {
		const struct counted *c = &row->counted->v[i];
		struct count_ratio ratios[COUNT_RATIOS_MAX];
		size_t n = count_ratios(row->counted, i, row->counted_ns, ratios);
		char text[64];

		(void)fprintf(out, "%.9f%s", seconds_of(row), s);
		if (per_cpu)
			(void)fprintf(out, "CPU%" PRIu32 "%s", row->cpu, s);
		count_text(c, text, sizeof(text));
		(void)fprintf(out, "%s%s%s%s", text, s, unit_of(c), s);
		put_name(out, c->name, s);
		(void)fprintf(out, "%s%" PRIu64 "%s%.2f%s", s, c->total.running_ns, s,
			      read_total_percent(&c->total), s);
		if (n > 0)
			(void)fprintf(out, "%.3f%s%s\n", ratios[0].value, s, ratios[0].unit);
		else
			(void)fprintf(out, "%s\n", s);
	}
}
