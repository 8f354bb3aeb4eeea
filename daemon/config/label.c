/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config/label.h"

#include <string.h>

bool
label_good(const char *s)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t n = strspn(s, letters);

	return n > 0 && n <= LABEL_BYTES_MAX && !s[n] && s[0] != '.';
}
