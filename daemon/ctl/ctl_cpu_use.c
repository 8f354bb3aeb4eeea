/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ctl/ctl_cpu_use.h"

#include <stdbool.h>
#include <stdio.h>

#include "daemon/ctl/ctl_print.h"

/* What takes how much of it, if more than a hundredth of a percent. */
static void
print_part(const char *what, const char *whose, const json_t *percent, bool *any)
{
	if (!(json_number_value(percent) >= 0.01))
		return;
	printf("%s%s", *any ? ", " : "", what);
	ctl_print_text(stdout, whose);
	printf(" %.2f %%", json_number_value(percent));
	*any = true;
}

static void
print_parts(const json_t *use)
{
	static const char *const parts[][2] = { { "samples", "samples" },
						{ "sideband", "side-band" },
						{ "helpers", "helpers" },
						{ "flight_recorder", "flight recorder" },
						{ "rest", "the rest" } };
	json_t *captures = json_object_get(use, "captures"), *percent;
	bool any = false;
	const char *uid;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		print_part(parts[i][1], "", json_object_get(use, parts[i][0]), &any);
	json_object_foreach(captures, uid, percent)
		print_part(*uid ? "captures of user " : "captures of others", uid, percent, &any);
}

void
ctl_cpu_use_print(const json_t *use)
{
	const json_t *one;
	char since[CTL_PRINT_BYTES];
	size_t i;

	if (json_is_true(json_object_get(use, "exceeded"))) {
		printf("OVER BUDGET cpu_budget of %.3f %% since %s: %.2f %% of a CPU (",
		       json_number_value(json_object_get(use, "budget_percent")),
		       ctl_print_time(since,
				      json_integer_value(json_object_get(use, "exceeded_since_s"))),
		       json_number_value(json_object_get(use, "percent")));
		print_parts(use);
		puts(")");
	}
	json_array_foreach(json_object_get(use, "given_up"), i, one)
	{
		fputs(i ? "            " : "given up    ", stdout);
		ctl_print_text(stdout, json_string_value(one));
		puts("");
	}
}
