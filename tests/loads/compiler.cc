/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <algorithm>
#include <map>
#include <string>
#include <vector>
int
main()
{
	std::map<std::string, std::vector<int>> m;
	std::vector<int> v(10);

	for (int i = 0; i < 9; i++)
		m[std::to_string(i)].push_back(i);
	std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
	return m.size() + v[0];
}
