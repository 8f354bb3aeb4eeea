/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resolve_miss: why an address has no name, and how sure one is of the name it has.
 */
#ifndef SYMBOLIZER_OBJECT_RESOLVE_MISS_H
#define SYMBOLIZER_OBJECT_RESOLVE_MISS_H

enum resolve_miss {
	RESOLVE_OK,
	RESOLVE_NO_MAP,	   /* no mapping holds the address */
	RESOLVE_NO_FILE,   /* the object's file is not on this machine */
	RESOLVE_MISMATCH,  /* a file is there, but its build-id is another */
	RESOLVE_UNSURE,	   /* a file is there, but no build-id was recorded, nor fits the rest */
	RESOLVE_NO_SYMBOL, /* the file names nothing at this address */
	RESOLVE_NO_NAME, /* nor that, but its call frame information tells which function it is in */
	RESOLVE_NOT_FILE, /* anonymous memory, JIT code, [heap] */
	RESOLVE_NO_KSYM,  /* the recording has no kernel symbol for it */
	RESOLVE_BAD_FILE, /* the file is not an ELF that can be read */
	RESOLVE_MISSES
};

/* How sure it is that the file which names are from is the recorded one. */
enum resolve_doubt {
	RESOLVE_SURE,
	RESOLVE_UNVERIFIED, /* no build-id was recorded; path, pages and age of the file are right */
	RESOLVE_FORCED,	    /* nor are they: it was asked for */
	RESOLVE_DOUBTS
};

const char *resolve_miss_text(enum resolve_miss miss);
const char *resolve_miss_key(enum resolve_miss miss); /* in JSON */
const char *resolve_doubt_text(enum resolve_doubt doubt);

#endif
