/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_minidebug.h"

#include <stdlib.h>

#include <lzma.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/elf_internal.h"

/* xz -9 needs 65 MiB for its dictionary, the xz -6 that rpm calls 9. */
#define DECODER_BYTES_MAX (UINT64_C(72) << 20)
#define CHUNK (256u << 10)

static int
minidebug_error(lzma_ret got)
{
	if (got == LZMA_STREAM_END)
		return 0;
	if (got == LZMA_MEM_ERROR)
		return -FMT_E_NOMEM;
	return got == LZMA_MEMLIMIT_ERROR ? -FMT_E_TOO_BIG : -FMT_E_DECOMPRESS;
}

static int
minidebug_unpack(const struct elf_bytes *packed, struct buf *out)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret got = lzma_stream_decoder(&s, DECODER_BYTES_MAX, LZMA_CONCATENATED);
	int error = 0;

	s.next_in = packed->p;
	s.avail_in = packed->len;
	while (got == LZMA_OK && !error) {
		s.next_out = buf_reserve(out, CHUNK);
		s.avail_out = CHUNK;
		if (s.next_out == NULL) {
			error = -FMT_E_NOMEM;
			break;
		}
		/* LZMA_FINISH: no more input comes, so that a cut stream is an error and no wait. */
		got = lzma_code(&s, LZMA_FINISH);
		out->len += CHUNK - s.avail_out;
		if (out->len > ELF_MINIDEBUG_BYTES_MAX)
			error = -FMT_E_TOO_BIG;
	}
	lzma_end(&s);
	return error ? error : minidebug_error(got);
}

int
elf_minidebug_symbols(struct elf_object *o, struct symtab_builder *b)
{
	struct elf_bytes packed = { .p = NULL };
	struct elf_object *inner = NULL;
	struct buf image;
	int error;

	buf_init(&image);
	error = elf_bytes_of_section(o, ".gnu_debugdata", &packed);
	if (!error)
		error = minidebug_unpack(&packed, &image);
	if (!error)
		error = elf_object_open_memory(image.p, image.len, &inner);
	if (!error) {
		elf_object_limit(inner, o->share);
		error = elf_object_symbols(inner, 0, b);
	}
	elf_object_close(inner);
	buf_done(&image);
	free(packed.p);
	return error == -FMT_E_NOMEM ? error : 0;
}
