/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wake: one thread tells another, over an eventfd(2), that there is something to look at.
 */
#ifndef RECORDER_GROUND_WAKE_H
#define RECORDER_GROUND_WAKE_H

/*
 * Makes an eventfd readable. One that is full is so already. From any thread and from signal
 * handlers; errno stays.
 */
void wake_signal(int fd);

#endif
