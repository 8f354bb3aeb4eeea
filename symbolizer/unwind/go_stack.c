/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/go_stack.h"

#include <stddef.h>
#include <string.h>

#define RUNTIME "runtime."

enum go_stack_end
go_stack_end_of(const char *name)
{
	static const char *const ends[] = { "goexit",	 "mstart",	"rt0_go",    "mcall",
					    "morestack", "systemstack", "asmcgocall" };
	size_t len;

	/* It is static in assembly, and has no package. */
	if (name && strcmp(name, "gogo") == 0)
		return GO_STACK_ENDS;
	if (!name || strncmp(name, RUNTIME, sizeof(RUNTIME) - 1) != 0)
		return GO_STACK_GOES_ON;
	name += sizeof(RUNTIME) - 1;
	len = strcspn(name, ".");
	if (name[len] && strcmp(name + len, ".abi0") != 0)
		return GO_STACK_GOES_ON;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (len == strlen(ends[i]) && strncmp(name, ends[i], len) == 0)
			return GO_STACK_ENDS;
	/* sigreturn__sigaction since Go 1.19. */
	return strncmp(name, "sigreturn", strlen("sigreturn")) == 0 ? GO_STACK_SIGNAL
								    : GO_STACK_GOES_ON;
}
