/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/disassembly.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <capstone/capstone.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fd_range.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_sandbox.h"

#define MEMORY_MAX (UINT64_C(512) << 20)
#define SECONDS_MAX 30
#define WRITE_BYTES (64u << 10)
#define MNEMONIC_COLUMNS 6 /* objdump's */

#if CS_API_MAJOR >= 6
#define MACHINE_AARCH64 CS_ARCH_AARCH64
#else
#define MACHINE_AARCH64 CS_ARCH_ARM64
#endif

struct disassembly {
	struct disassembly_instruction *v;
	size_t nr, cap;
	char *text; /* theirs */
};

struct machine {
	uint16_t machine;
	bool is64;
	cs_arch arch;
	int mode;
};

static const struct machine machines[] = {
	{ EM_X86_64, true, CS_ARCH_X86, CS_MODE_64 },
	{ EM_X86_64, false, CS_ARCH_X86, CS_MODE_64 }, /* x32 */
	{ EM_386, false, CS_ARCH_X86, CS_MODE_32 },
	{ EM_AARCH64, true, MACHINE_AARCH64, CS_MODE_LITTLE_ENDIAN },
	{ EM_PPC64, true, CS_ARCH_PPC, CS_MODE_64 | CS_MODE_LITTLE_ENDIAN },
#if CS_API_MAJOR >= 5
	{ EM_RISCV, true, CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC },
#endif
};

static const struct machine *
machine_of(const struct disassembly_code *code)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == code->machine && machines[i].is64 == code->is64 &&
		    cs_support((int)machines[i].arch))
			return &machines[i];
	return NULL;
}

/* --- the process that disassembles ------------------------------------------------------- */

/* An instruction, as disassembly_read() wants it. */
static void
put(struct buf *out, size_t size, uint64_t target, const char *text)
{
	size_t len = strnlen(text, DISASSEMBLY_TEXT_MAX);

	buf_u8(out, (uint8_t)size);
	buf_u8(out, (uint8_t)len);
	buf_u64(out, target);
	buf_append(out, text, len);
}

static void
flush(struct buf *out, int fd, size_t least)
{
	const uint8_t *p = out->p;

	if (buf_failed(out))
		_exit(1);
	if (out->len < least)
		return;
	while (out->len > 0) {
		ssize_t n = write(fd, p, out->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		p += n;
		out->len -= (size_t)n;
	}
}

/* Of a jump or a call, the last operand where it is a number. */
static uint64_t
target_of(csh handle, const cs_insn *insn)
{
	const char *last = strrchr(insn->op_str, ' ');
	unsigned long long target;
	char *end;

	if (!cs_insn_group(handle, insn, CS_GRP_JUMP) && !cs_insn_group(handle, insn, CS_GRP_CALL))
		return 0;
	last = last ? last + 1 : insn->op_str;
	last += *last == '#';
	if (*last < '0' || *last > '9')
		return 0;
	target = strtoull(last, &end, 0);
	return *end ? 0 : target;
}

static void
put_instructions(csh handle, const struct disassembly_code *code, cs_insn *insn, int fd)
{
	char text[DISASSEMBLY_TEXT_MAX + 1];
	const uint8_t *p = code->bytes.p;
	size_t left = code->bytes.len;
	uint64_t address = code->address;
	struct buf out;

	buf_init(&out);
	while (left > 0) {
		const uint8_t *at = p;

		if (cs_disasm_iter(handle, &p, &left, &address, insn) && insn->size > 0) {
			snprintf(text, sizeof(text), "%-*s%s%s", MNEMONIC_COLUMNS, insn->mnemonic,
				 *insn->op_str ? " " : "", insn->op_str);
			for (size_t n = strlen(text); n > 0 && text[n - 1] == ' ';)
				text[--n] = '\0';
			put(&out, insn->size, target_of(handle, insn), text);
		} else {
			snprintf(text, sizeof(text), "%-*s 0x%02x", MNEMONIC_COLUMNS, ".byte", *at);
			put(&out, 1, 0, text);
			p = at + 1;
			address++;
			left = code->bytes.len - (size_t)(p - code->bytes.p);
		}
		flush(&out, fd, WRITE_BYTES);
	}
	flush(&out, fd, 1);
}

static void __attribute__((noreturn))
disassemble(const struct disassembly_code *code, const struct machine *m, int fd, pid_t parent)
{
	cs_insn *insn;
	csh handle;

	if (fd > 0)
		fd_range_close(0, (unsigned int)fd - 1);
	fd_range_close((unsigned int)fd + 1, UINT_MAX);
	dwarf_sandbox_enter(parent, MEMORY_MAX, SECONDS_MAX);
	if (cs_open(m->arch, (cs_mode)m->mode, &handle) != CS_ERR_OK)
		_exit(1);
	if (m->arch == CS_ARCH_X86 && !code->intel)
		(void)cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	(void)cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	if (!insn)
		_exit(1);
	put_instructions(handle, code, insn, fd);
	_exit(0);
}

/* --- ours -------------------------------------------------------------------------------- */

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until the pipe's end, or too long: false. */
static bool
read_all(int fd, size_t max, struct buf *out)
{
	const int64_t deadline = now_ms() + SECONDS_MAX * INT64_C(1000);
	ssize_t n = 1;

	while (n != 0) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - now_ms();
		uint8_t *to = buf_reserve(out, WRITE_BYTES);

		if (!to || out->len > max || left <= 0)
			return false;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(fd, to, WRITE_BYTES);
		if (n < 0 && errno != EINTR)
			return false;
		out->len += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* What came through the pipe is whole, or it is nothing. */
static int
parse(const struct disassembly_code *code, struct span s, struct disassembly *d)
{
	size_t done = 0, used = 0;

	d->text = malloc(s.len + 1);
	if (!d->text)
		return -FMT_E_NOMEM;
	while (s.len > 0) {
		struct disassembly_instruction i = { .address = code->address + done };
		struct span text;
		uint8_t len;

		if (!span_u8(&s, &i.size) || !span_u8(&s, &len) || !span_u64(&s, &i.target) ||
		    !span_take(&s, len, &text) || i.size == 0 || i.size > code->bytes.len - done)
			return -FMT_E_CORRUPT;
		if (array_reserve(d->v, d->nr, d->cap, 1) < 0)
			return -FMT_E_NOMEM;
		if (len > 0)
			memcpy(d->text + used, text.p, len);
		d->text[used + len] = '\0';
		i.text = d->text + used;
		used += len + 1u;
		done += i.size;
		d->v[d->nr++] = i;
	}
	return done == code->bytes.len ? 0 : -FMT_E_CORRUPT;
}

static int
run(const struct disassembly_code *code, const struct machine *m, struct buf *out)
{
	const size_t max = code->bytes.len * (DISASSEMBLY_TEXT_MAX + 10u);
	const pid_t parent = getpid();
	int ends[2], status = 0;
	bool whole;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -FMT_E_NOMEM;
	pid = fork();
	if (pid == 0)
		disassemble(code, m, ends[1], parent);
	close(ends[1]);
	whole = pid > 0 && read_all(ends[0], max, out);
	close(ends[0]);
	if (pid < 0 || buf_failed(out))
		whole = false;
	/* Its pipe has ended: it is dying, or pretends to. */
	if (pid > 0)
		kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || buf_failed(out))
		return -FMT_E_NOMEM;
	if (whole && WIFEXITED(status) && WEXITSTATUS(status) == DWARF_SANDBOX_REFUSED)
		return -FMT_E_REFUSED;
	/* Did it end by itself? Whether it said all is for parse() to see. */
	return whole && WIFEXITED(status) ? 0 : -FMT_E_CORRUPT;
}

int
disassembly_read(const struct disassembly_code *code, struct span told, struct disassembly **ret)
{
	struct disassembly *d = calloc(1, sizeof(*d));
	int error = d ? parse(code, told, d) : -FMT_E_NOMEM;

	if (error)
		disassembly_free(d);
	else
		*ret = d;
	return error;
}

int
disassembly_make(const struct disassembly_code *code, struct disassembly **ret)
{
	const struct machine *m = machine_of(code);
	struct buf told;
	int error;

	if (!m)
		return -FMT_E_UNSUPPORTED;
	buf_init(&told);
	error = run(code, m, &told);
	if (!error)
		error = disassembly_read(code, buf_span(&told), ret);
	buf_done(&told);
	return error;
}

void
disassembly_free(struct disassembly *d)
{
	if (!d)
		return;
	free(d->v);
	free(d->text);
	free(d);
}

size_t
disassembly_count(const struct disassembly *d)
{
	return d->nr;
}

const struct disassembly_instruction *
disassembly_at(const struct disassembly *d, size_t i)
{
	return &d->v[i];
}
