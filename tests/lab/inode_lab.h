/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inode_lab: what a kernel's record tells of a mapped file's inode.
 */
#ifndef TESTS_LAB_INODE_LAB_H
#define TESTS_LAB_INODE_LAB_H

#include <stdint.h>

/* FS_IOC_GETVERSION; 0: the file system tells none, or has none of its first files. */
uint32_t lab_generation(const char *path);

#endif
