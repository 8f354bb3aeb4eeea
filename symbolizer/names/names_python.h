/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_python: has a Python tell the names of what it calls from now on: sys.remote_exec() of an interpreter of the same
 * build gives it a script, which switches its perf trampoline on (PEP 768; sys.activate_stack_trampoline).
 *
 * The interpreter is the process's own file, or the one beside its libpython. It runs as the process's user, in its mount, PID
 * and user namespaces and its root, with no descriptor but /dev/null and a pipe. Where the process is not in the caller's network,
 * IPC, UTS or control group namespace it is not there either, but in a new one. A process with a seccomp filter must not be asked:
 * the interpreter has none.
 */
#ifndef SYMBOLIZER_NAMES_NAMES_PYTHON_H
#define SYMBOLIZER_NAMES_NAMES_PYTHON_H

#include <stdint.h>

#include "symbolizer/names/names_process.h"

struct names_python {
	pid_t child;
	int fd; /* what it says */
	int64_t since_s;
};

/*
 * With the caller's rights, which it needs for namespaces: starts the interpreter. 0; -1, said. The caller has given up its
 * rights before names_python_end(), which waits for it until the deadline and ends it.
 */
int names_python_start(struct names_python *y, const struct names_process *p, int64_t deadline_ns,
		       struct names_answer *a);
void names_python_end(struct names_python *y, const struct names_process *p, int64_t deadline_ns,
		      struct names_answer *a);

#endif
