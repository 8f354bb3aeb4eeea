/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_answer.h"

#include <stdarg.h>
#include <stdio.h>

void
names_answer_say(struct names_answer *a, enum names_verdict verdict, const char *format, ...)
{
	va_list ap;

	a->verdict = verdict;
	va_start(ap, format);
	(void)vsnprintf(a->text, sizeof(a->text), format, ap);
	va_end(ap);
}

bool
names_answer_check(struct names_answer *a, pid_t pid)
{
	a->comm[sizeof(a->comm) - 1] = '\0';
	a->runtime[sizeof(a->runtime) - 1] = '\0';
	a->text[sizeof(a->text) - 1] = '\0';
	return a->pid == pid && a->verdict < NAMES_NR_VERDICTS;
}
