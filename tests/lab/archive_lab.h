/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archive_lab: an archive in a temporary directory, and a second opinion of what is in it:
 * everything here looks with stat(2) and never asks the archive.
 */
#ifndef TESTS_LAB_ARCHIVE_LAB_H
#define TESTS_LAB_ARCHIVE_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/archive/archive.h"

struct lab {
	char dir[64]; /* the archive directory */
	char tmp[64]; /* around it */
	bool mounted; /* tmp is a tmpfs */
	struct config *config;
	struct archive *archive;
	uint64_t clock_ns; /* for names: moves with each file */
};

/* tmpfs_kib 0: on the file system of /tmp. false: a tmpfs cannot be mounted here. */
bool lab_init(struct lab *l, unsigned int tmpfs_kib);
void lab_done(struct lab *l);

void lab_open(struct lab *l); /* or the test fails */
void lab_close(struct lab *l);

struct io_sink *lab_segment(struct lab *l);
struct io_sink *lab_capture(struct lab *l);
/* Begins with the magic of a recording the first time; 0 or -errno. */
int lab_write(struct io_sink *sink, size_t n, bool first);
/* A whole sealed segment of n bytes. 0 or -errno of a write. */
int lab_file(struct lab *l, size_t n);

/* A file made by someone else, relative to the archive directory. */
void lab_plant(const struct lab *l, const char *name, const void *p, size_t n);
bool lab_exists(const struct lab *l, const char *name);

/* Bytes of all files and directories, the larger of size and blocks, links once. */
uint64_t lab_du(const struct lab *l);
/* Fails the test unless the account covers lab_du() and both are within the bound. */
void lab_check(const struct lab *l, uint64_t bound);
/* Files in a directory of the archive whose names end so. */
unsigned int lab_count(const struct lab *l, const char *subdir, const char *suffix);

#endif
