/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Of fcntl(2): F_SETOWN, say, would have the kernel send signals to others. */
#define ALLOWED_OF_FCNTL(X) X(F_GETFD) X(F_GETFL) X(F_DUPFD_CLOEXEC)

/* What malloc(), libelf's reading, a write to a pipe, and taking a descriptor that was asked for need. */
#define ALLOWED(X)                                                                                 \
	X(read)                                                                                    \
	X(pread64)                                                                                 \
	X(write)                                                                                   \
	X(lseek)                                                                                   \
	X(fstat)                                                                                   \
	X(newfstatat)                                                                              \
	X(close)                                                                                   \
	X(mmap)                                                                                    \
	X(munmap)                                                                                  \
	X(mremap)                                                                                  \
	X(mprotect)                                                                                \
	X(madvise)                                                                                 \
	X(brk)                                                                                     \
	X(recvmsg)                                                                                 \
	X(futex)                                                                                   \
	X(getrandom)                                                                               \
	X(rt_sigaction)                                                                            \
	X(rt_sigprocmask)                                                                          \
	X(rt_sigreturn)                                                                            \
	X(restart_syscall)                                                                         \
	X(getpid)                                                                                  \
	X(gettid)                                                                                  \
	X(exit)                                                                                    \
	X(exit_group)

static void
limit(int what, uint64_t max)
{
	const struct rlimit r = { max, max };

	(void)setrlimit(what, &r);
}

/*
 * Bytes of data that the process has: RLIMIT_DATA counts them. Without stdio: another thread of the parent may have
 * held its lock.
 */
static uint64_t
data_bytes(void)
{
	enum { FIELD = 5 }; /* "size resident shared text lib data dt", in pages */
	char text[256], *at = text;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	uint64_t pages = 0;

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < FIELD && at; i++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	while (at && *at >= '0' && *at <= '9')
		pages = pages * 10 + (uint64_t)(*at++ - '0');
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
filter_system_calls(void)
{
#ifdef ARCHITECTURE
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#define X(name)                                                                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		ALLOWED(X)
#undef X
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		/* The kernel reads its lower half; little-endian as both architectures are. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
#define X(command)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, command, 0, 1),                                        \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		ALLOWED_OF_FCNTL(X)
#undef X
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

void
dwarf_sandbox_enter(pid_t parent, uint64_t memory_max, unsigned int cpu_s)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
	/* At the hard limit it would be SIGKILL, which tells nothing. */
	(void)setrlimit(RLIMIT_CPU, &(struct rlimit){ cpu_s, cpu_s + 1 });
	limit(RLIMIT_DATA, data_bytes() + memory_max);
	filter_system_calls();
}
