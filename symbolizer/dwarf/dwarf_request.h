/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_request: how a worker, which can open nothing, gets the files with split units: it asks for one
 * by a socket, and is given a descriptor or told that there is none.
 *
 * A request is one packet: 'P' for the package; or 'F', the file's name and a NUL, and where its
 * compiler ran and a NUL, if that is known. The answer is a byte, with the descriptor or without.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_REQUEST_H
#define SYMBOLIZER_DWARF_DWARF_REQUEST_H

#include <stdbool.h>

#include "symbolizer/dwarf/dwarf_split.h"

/* Both ends, the worker's second. 0, -1. */
int dwarf_request_pair(int ret[2]);

/* The worker's side; a dwarf_split_fn, but for its socket. */
int dwarf_request_ask(int fd, const char *dir, const char *name);

/*
 * Ours: takes the request that has come, and answers by what open says. False: the worker is gone, or
 * asked what no worker of ours would.
 */
bool dwarf_request_serve(int fd, dwarf_split_fn *open, void *arg);

#endif
