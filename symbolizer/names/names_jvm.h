/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_jvm: asks a HotSpot JVM for the names of its code: Compiler.perfmap, by its attach socket.
 *
 * The JVM listens on /tmp/.java_pidPID once it was asked to: by a file .attach_pidPID of its own user in its directory, or in
 * /tmp, and SIGQUIT. A request is the version ("1"), the command and three arguments, each ended by NUL; the answer a number in a
 * line, 0 for success, and text. Source: VirtualMachineImpl.java of jdk.attach for Linux, attachListener_linux.cpp.
 */
#ifndef SYMBOLIZER_NAMES_NAMES_JVM_H
#define SYMBOLIZER_NAMES_NAMES_JVM_H

#include <stdint.h>

#include "symbolizer/names/names_process.h"

/*
 * Do its command line, or its variables of options, forbid to attach? By SIGQUIT it would then print its threads, and no
 * more. With the caller's rights: an environment is its owner's.
 */
bool names_jvm_forbids(const struct names_process *p);

/*
 * As the user that the process is. Without a socket yet it gets SIGQUIT, if it catches the signal: any process that does
 * not would end by it. The caller knows that it has libjvm.so, and that it does not forbid to attach.
 */
void names_jvm_ask(const struct names_process *p, int64_t deadline_ns, struct names_answer *a);

#endif
