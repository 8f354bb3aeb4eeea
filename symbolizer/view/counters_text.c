/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/view/counters_print.h"

/* Times in ms, as perf stat has them; all else in its unit: as it was counted, or would have been all the time. */
static void
count_text(const struct counted *c, char text[static COUNT_UNIT_TEXT_BYTES])
{
	uint64_t n = read_total_scaled(&c->total);

	if (counted_is_time(c))
		(void)snprintf(text, COUNT_UNIT_TEXT_BYTES, "%.2f", (double)n / 1e6);
	else
		count_unit_text(&c->unit, n, text);
}

static const char *
unit_of(const struct counted *c)
{
	return counted_is_time(c) ? "msec" : c->unit.name;
}

static double
seconds_of(const struct counters_row *row)
{
	return ((double)row->until_ns - (double)row->start_ns) / 1e9;
}

void
counters_text_header(FILE *out, bool per_cpu)
{
	(void)fprintf(out, "# %12s %s%20s %-6s  %s\n", "time", per_cpu ? "CPU     " : "", "counts",
		      "unit", "events");
}

/* Of 1234567 "1.235 M": four digits say what a ratio can. */
static void
put_ratio(FILE *out, const char *before, const struct count_ratio *ratio)
{
	char unit[COUNT_RATIO_UNIT_BYTES], *escaped;
	static const char *const prefixes[] = { "", " K", " M", " G", " T" };
	double value = ratio->value;
	size_t i = 0;

	while (value >= 1000 && i < 4) {
		value /= 1000;
		i++;
	}
	count_ratio_unit(ratio, unit);
	escaped = escape_dup(unit);
	(void)fprintf(out, "%s %.3f%s %s", before, value, prefixes[i], escaped ? escaped : "");
	free(escaped);
}

static void
text_line(FILE *out, const struct counters_row *row, size_t which, bool per_cpu)
{
	const struct counted *c = &row->counted->v[which];
	struct count_ratio ratios[COUNT_RATIOS_MAX];
	size_t n = count_ratios(row->counted, which, row->counted_ns, ratios);
	char *name = escape_dup(c->name), *unit = escape_dup(unit_of(c)),
	     text[COUNT_UNIT_TEXT_BYTES];

	if (row->total)
		(void)fprintf(out, "  %12s ", "total");
	else
		(void)fprintf(out, "  %12.6f ", seconds_of(row));
	if (per_cpu)
		(void)fprintf(out, "CPU%-5" PRIu32, row->cpu);
	count_text(c, text);
	(void)fprintf(out, "%20s %-6s  %-24s", text, unit ? unit : "",
		      name ? name : "(out of memory)");
	for (size_t i = 0; i < n; i++)
		put_ratio(out, i ? "," : " #", &ratios[i]);
	if (read_total_shared(&c->total))
		(void)fprintf(out, "  (%.2f%%)", read_total_percent(&c->total));
	(void)fputc('\n', out);
	free(name);
	free(unit);
}

void
counters_text(FILE *out, const struct counters_row *row, bool per_cpu)
{
	for (size_t i = 0; i < row->counted->nr; i++)
		text_line(out, row, i, per_cpu);
}

/* A name, or a unit, may have the separator in it: pmu/event=1,umask=2/. */
static void
put_field(FILE *out, const char *field, const char *separator)
{
	char *text = escape_dup(field);

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
		char text[COUNT_UNIT_TEXT_BYTES], unit[COUNT_RATIO_UNIT_BYTES];

		(void)fprintf(out, "%.9f%s", seconds_of(row), s);
		if (per_cpu)
			(void)fprintf(out, "CPU%" PRIu32 "%s", row->cpu, s);
		count_text(c, text);
		(void)fprintf(out, "%s%s", text, s);
		put_field(out, unit_of(c), s);
		(void)fputs(s, out);
		put_field(out, c->name, s);
		(void)fprintf(out, "%s%" PRIu64 "%s%.2f%s", s, c->total.running_ns, s,
			      read_total_percent(&c->total), s);
		if (n > 0)
			(void)fprintf(out, "%.3f", ratios[0].value);
		(void)fputs(s, out);
		if (n > 0) {
			count_ratio_unit(&ratios[0], unit);
			put_field(out, unit, s);
		}
		(void)fputc('\n', out);
	}
}
