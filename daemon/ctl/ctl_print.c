/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ctl/ctl_print.h"

#include <bsd/string.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "format/block/loss.h"

void
ctl_print_text(FILE *f, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= 0x20 && c < 0x7f)
			fputc(c, f);
		else
			fprintf(f, "\\%03o", c);
	}
}

void
ctl_print_loss(FILE *f, const char *key, int64_t n)
{
	bool time = false;

	for (int i = 0; i < LOSS_CAUSES; i++)
		if (strcmp(key, loss_key((enum loss_cause)i)) == 0)
			time = strcmp(loss_unit((enum loss_cause)i), "ns") == 0;
	ctl_print_text(f, key);
	if (time)
		fprintf(f, " %.3f s", (double)n / 1e9);
	else
		fprintf(f, " %lld", (long long)n);
}

char *
ctl_print_size(char *to, int64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double n = (double)bytes;
	size_t i = 0;

	while (n >= 1024 && i + 1 < sizeof(units) / sizeof(units[0])) {
		n /= 1024;
		i++;
	}
	snprintf(to, CTL_PRINT_BYTES, "%.*f %s", i ? 1 : 0, n, units[i]);
	return to;
}

char *
ctl_print_time(char *to, int64_t s)
{
	struct tm tm;

	if (!localtime_r(&(time_t){ s }, &tm) ||
	    strftime(to, CTL_PRINT_BYTES, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		(void)strlcpy(to, "?", CTL_PRINT_BYTES);
	return to;
}

char *
ctl_print_duration(char *to, int64_t s)
{
	long long n = s;

	if (n < 60)
		snprintf(to, CTL_PRINT_BYTES, "%lld s", n);
	else if (n < 3600)
		snprintf(to, CTL_PRINT_BYTES, "%lld min %lld s", n / 60, n % 60);
	else if (n < 86400)
		snprintf(to, CTL_PRINT_BYTES, "%lld h %lld min", n / 3600, n / 60 % 60);
	else
		snprintf(to, CTL_PRINT_BYTES, "%lld d %lld h", n / 86400, n / 3600 % 24);
	return to;
}
