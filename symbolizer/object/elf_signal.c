/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_signal.h"

#include <string.h>

#include <elf.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"
#include "symbolizer/object/elf_bytes.h"

#define CODE_PIECE                                                                                 \
	(32u << 10) /* bytes of code that are looked at at once, which a CPU's cache has room for */
#define CODE_BYTES_MAX (128u << 20) /* that are looked at */

static const struct signal_code codes[] = {
	/* mov $15,%rax; syscall */
	{ .kind = SIGNAL_X86_64_RT,
	  .machine = EM_X86_64,
	  .len = 9,
	  .bytes = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
	  .name = "__restore_rt" },
	/* mov $173,%eax; int $0x80 */
	{ .kind = SIGNAL_I386_RT,
	  .machine = EM_386,
	  .len = 7,
	  .bytes = { 0xb8, 0xad, 0, 0, 0, 0xcd, 0x80 },
	  .name = "__restore_rt" },
	/* pop %eax; mov $119,%eax; int $0x80 */
	{ .kind = SIGNAL_I386,
	  .machine = EM_386,
	  .len = 8,
	  .bytes = { 0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80 },
	  .name = "__restore" },
	/* mov x8, #139; svc #0 */
	{ .kind = SIGNAL_AARCH64_RT,
	  .machine = EM_AARCH64,
	  .len = 8,
	  .bytes = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 },
	  .name = "__restore_rt" },
};

const struct signal_code *
signal_code_at(uint16_t machine, size_t i)
{
	for (size_t k = 0; k < sizeof(codes) / sizeof(codes[0]); k++)
		if (codes[k].machine == machine && i-- == 0)
			return &codes[k];
	return NULL;
}

/* Those that begin in the first CODE_PIECE bytes: others are of the next piece. */
static void
find_in(uint16_t machine, struct span piece, uint64_t vaddr, struct elf_signals *s)
{
	const struct signal_code *code;

	for (size_t i = 0; (code = signal_code_at(machine, i)) != NULL; i++) {
		const uint8_t *at = piece.p, *end = piece.p + piece.len, *found;

		while (s->nr < ELF_SIGNALS_MAX &&
		       (found = memmem(at, (size_t)(end - at), code->bytes, code->len)) != NULL &&
		       (size_t)(found - piece.p) < CODE_PIECE) {
			s->at[s->nr++] =
				(struct elf_signal){ vaddr + (uint64_t)(found - piece.p), code };
			at = found + 1;
		}
	}
}

int
elf_signals_find(struct elf_object *o, struct elf_signals *ret)
{
	const uint16_t machine = elf_object_code_machine(o, &(bool){ false });
	struct elf_signals found = { .nr = 0 };
	const struct elf_segment *s;
	const size_t nr = elf_object_segments(o, &s);
	uint64_t left = signal_code_at(machine, 0) ? CODE_BYTES_MAX : 0;
	uint8_t piece[CODE_PIECE + SIGNAL_CODE_BYTES_MAX];

	for (size_t i = 0; i < nr; i++)
		for (uint64_t at = 0; s[i].exec && at < s[i].filesz && left >= CODE_PIECE;
		     at += CODE_PIECE, left -= CODE_PIECE) {
			size_t n;
			int err = elf_bytes_into(o, s[i].vaddr + at, piece, sizeof(piece), &n);

			if (err == -FMT_E_NOMEM)
				return err;
			if (err == 0)
				find_in(machine, span_of(piece, n), s[i].vaddr + at, &found);
		}
	*ret = found;
	return 0;
}

int
elf_signals_symbols(struct elf_object *o, struct symtab_builder *b)
{
	struct elf_signals s;
	int err = elf_signals_find(o, &s);

	for (size_t i = 0; err == 0 && i < s.nr; i++) {
		const char *name = s.at[i].code->name;
		uint32_t base;

		err = symtab_builder_strings(b, name, strlen(name) + 1, &base);
		if (err == 0)
			err = symtab_builder_add(b, s.at[i].vaddr, s.at[i].code->len,
						 s.at[i].vaddr + s.at[i].code->len, base,
						 SYMBOL_WEAK);
	}
	return err;
}

bool
elf_signal_is_name(const char *name)
{
	static const char *const names[] = { "__restore_rt", "__restore", "__kernel_sigreturn",
					     "__kernel_rt_sigreturn" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0 &&
		    strlen(names[i]) == symbol_name_length(name))
			return true;
	return false;
}
