/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_channel: what the recorder says to the unwinder: the memory, sockets from which files come, and that there are
 * entries. By recvmsg(2) alone.
 */
#ifndef SYMBOLIZER_UNWINDER_UNWIND_CHANNEL_H
#define SYMBOLIZER_UNWINDER_UNWIND_CHANNEL_H

#include "symbolizer/unwinder/numbered_files.h"

struct unwind_channel {
	int fd;
	int offers; /* -1: none */
};

/* On the descriptor UNWIND_SOCKET, which is made to wait. -errno: it is no such socket. */
int unwind_channel_init(struct unwind_channel *c);

/*
 * The first message, and the memory that came with it, mapped. 0; -EPROTO: it is none, or of another version, or the
 * memory can be made smaller; -errno of mmap(2); -ENOTCONN: the recorder is gone.
 */
int unwind_channel_start(struct unwind_channel *c, struct unwind_start *ret, void **ret_memory,
			 size_t *ret_bytes);

/* Takes all files that were offered so far, by whichever socket. */
void unwind_channel_look(struct unwind_channel *c, struct numbered_files *files);
/* Waits for a message, and takes all that there are. False: the recorder is gone. */
bool unwind_channel_wait(struct unwind_channel *c, struct numbered_files *files);

#endif
