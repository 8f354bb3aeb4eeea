/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mark: magic (16), u32 version, u32 flags, u64 length of the ELF file, u32 uid, u8 kind and u8
 * size of the id, its bytes (20), u16 rules, u32 CRC32C of all before it. Readers of before there were rules pass over
 * them.
 */
#include "format/stored/stored_object.h"

#include <stdio.h>
#include <string.h>

#include <bsd/sys/endian.h>

#include "format/bytes/crc32c.h"
#include "format/bytes/fmt_error.h"

#define MAGIC "\x89spoor object\r\n"
#define SUFFIX ".debug"
#define VERSION 1
#define WHOLE UINT32_C(1)

enum {
	AT_VERSION = 16,
	AT_FLAGS = 20,
	AT_SIZE = 24,
	AT_UID = 32,
	AT_KIND = 36,
	AT_ID_SIZE = 37,
	AT_ID = 38,
	AT_RULES = AT_ID + BUILDID_MAX,
	AT_CRC = STORED_MARK_BYTES - 4
};

_Static_assert(sizeof(MAGIC) == AT_VERSION, "the magic fills its place, with its NUL");
_Static_assert(AT_RULES + 2 <= AT_CRC, "the id and the rules fit");

bool
stored_object_name(const struct buildid *id, char ret_dir[3], char ret_name[STORED_NAME_BYTES])
{
	char hex[2 * BUILDID_MAX + 1];

	if (id->size < 2 || id->size > BUILDID_MAX)
		return false;
	for (size_t i = 0; i < id->size; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	(void)snprintf(ret_dir, 3, "%.2s", hex);
	(void)snprintf(ret_name, STORED_NAME_BYTES, "%s" SUFFIX, hex + 2);
	return true;
}

bool
stored_object_name_of(const struct buildid *id, uint32_t uid, char ret_dir[3],
		      char ret_name[STORED_NAME_BYTES])
{
	size_t n;

	if (!stored_object_name(id, ret_dir, ret_name))
		return false;
	n = strlen(ret_name) - strlen(SUFFIX);
	(void)snprintf(ret_name + n, STORED_NAME_BYTES - n, ".%u" SUFFIX, (unsigned int)uid);
	return true;
}

bool
stored_object_is_user(const char *name, const char *first, uint32_t *ret_uid)
{
	const size_t n = strlen(first) - strlen(SUFFIX);
	char again[STORED_NAME_BYTES];
	unsigned int uid;

	if (strncmp(name, first, n) != 0 || sscanf(name + n, ".%10u", &uid) != 1)
		return false;
	(void)snprintf(again, sizeof(again), "%.*s.%u" SUFFIX, (int)n, first, uid);
	*ret_uid = uid;
	return strcmp(name, again) == 0;
}

void
stored_mark_put(const struct stored_mark *m, uint8_t ret[STORED_MARK_BYTES])
{
	memset(ret, 0, STORED_MARK_BYTES);
	memcpy(ret, MAGIC, sizeof(MAGIC));
	le32enc(ret + AT_VERSION, VERSION);
	le32enc(ret + AT_FLAGS, m->whole ? WHOLE : 0);
	le64enc(ret + AT_SIZE, m->elf_size);
	le32enc(ret + AT_UID, m->uid);
	ret[AT_KIND] = m->id.kind;
	ret[AT_ID_SIZE] = m->id.size;
	memcpy(ret + AT_ID, m->id.bytes, BUILDID_MAX);
	le16enc(ret + AT_RULES, m->rules);
	le32enc(ret + AT_CRC, crc32c(0, ret, AT_CRC));
}

int
stored_mark_read(struct io_source *file, struct stored_mark *ret)
{
	int64_t size = file->size(file);
	uint8_t mark[STORED_MARK_BYTES];
	uint64_t elf_size;
	ssize_t n;

	if (size < 0)
		return -FMT_E_IO;
	if (size < STORED_MARK_BYTES)
		return -FMT_E_CORRUPT;
	elf_size = (uint64_t)size - STORED_MARK_BYTES;
	n = file->read(file, elf_size, mark, sizeof(mark));
	if (n < 0)
		return -FMT_E_IO;
	if (n != STORED_MARK_BYTES || memcmp(mark, MAGIC, sizeof(MAGIC)) != 0 ||
	    le32dec(mark + AT_CRC) != crc32c(0, mark, AT_CRC) ||
	    le32dec(mark + AT_VERSION) != VERSION || le64dec(mark + AT_SIZE) != elf_size ||
	    mark[AT_KIND] > BUILDID_SURROGATE || mark[AT_ID_SIZE] > BUILDID_MAX)
		return -FMT_E_CORRUPT;
	*ret = (struct stored_mark){
		.id = buildid_of((enum buildid_kind)mark[AT_KIND], mark + AT_ID, mark[AT_ID_SIZE]),
		.whole = le32dec(mark + AT_FLAGS) & WHOLE,
		.uid = le32dec(mark + AT_UID),
		.elf_size = elf_size,
		.rules = le16dec(mark + AT_RULES),
	};
	return 0;
}
