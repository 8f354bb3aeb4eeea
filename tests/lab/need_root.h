/* SPDX-License-Identifier: GPL-2.0-or-later */
/* need_root: skips the test for everybody else, with the reason. */
#ifndef TESTS_LAB_NEED_ROOT_H
#define TESTS_LAB_NEED_ROOT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

/* may: what only root may do, as the end of "only root ...". */
static inline void
need_root(const char *may)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: only root %s\n", may);
	skip();
}

#endif
