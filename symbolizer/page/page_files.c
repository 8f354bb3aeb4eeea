/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/page/page_files.h"

/* Aligned: s390x addresses what is a symbol by halves (larl). */
#define X(name, file)                                                                              \
	__asm__(".pushsection .rodata\n"                                                           \
		".balign 8\n"                                                                      \
		".globl page_files_" #name "\n"                                                    \
		".hidden page_files_" #name "\n"                                                   \
		"page_files_" #name ":\n"                                                          \
		".incbin \"symbolizer/page/" file "\"\n"                                           \
		".byte 0\n"                                                                        \
		".popsection\n");
PAGE_FILES(X)
#undef X
