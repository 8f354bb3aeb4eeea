/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfod_client: asks debuginfod servers, by the library that elfutils has for it. Only in the
 * process that object_fetch makes for it, whose life is this.
 *
 * The library is loaded when it is asked for (libdebuginfod.so.1, as libdw loads it): with it come
 * libcurl and what that needs.
 */
#ifndef SYMBOLIZER_OBJECT_DEBUGINFOD_CLIENT_H
#define SYMBOLIZER_OBJECT_DEBUGINFOD_CLIENT_H

#include <sys/types.h>

/*
 * Answers requests that come through the socket, until it or parent ends. cache: the directory where
 * files are kept; it is made.
 */
void debuginfod_client_serve(pid_t parent, int fd, const char *cache) __attribute__((noreturn));

#endif
