/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/statistics/student.h"

#include <float.h>
#include <math.h>

#include "symbolizer/statistics/beta.h"

double
student_p(double t, double df)
{
	return beta_share(df / 2, 0.5, df / (df + t * t));
}

double
student_t(double p, double df)
{
	double low = 0, high = 1;

	while (student_p(high, df) > p && high < DBL_MAX / 4)
		high *= 2;
	for (int i = 0; i < 200 && high - low > high * 1e-12; i++) {
		const double middle = low + (high - low) / 2;

		if (student_p(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}
