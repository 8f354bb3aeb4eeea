/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uevents: a descriptor that wakes when the kernel says that something came or went. It is only the wake, since not
 * everybody may have the socket, nor is told in each namespace.
 */
#ifndef RECORDER_HOST_UEVENTS_H
#define RECORDER_HOST_UEVENTS_H

#define UEVENTS_CPUS 1u	   /* something about CPUs */
#define UEVENTS_MODULES 2u /* a module came or went */

int uevents_open(void); /* -1: there is none */

/* Reads what the socket has: UEVENTS_*. Of what was lost, all. */
unsigned int uevents_read(int fd);

#endif
