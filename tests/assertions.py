#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/assertions.py [REVISION]: the names of what the tests of a revision (HEAD) assert, as "TIER FILE: NAME" each.
tests/assertions.py --gone REVISION: those names that REVISION has and HEAD has not, or fewer times.

A name is a quoted string on the line of an assertion of tests/lib.sh, or of a test's own function that asserts, or a
test of a unit program. So a text that is no name may be listed. A name is missed that is on another line than the word
of its assertion: the end of a string of several lines.
"""
import collections
import re
import subprocess
import sys

ASSERTS = re.compile(r'\b(ok|nok|exits|is|isnt|like|unlike|in_range|same|pass|fail|skip_or|after|hold_\w+|bounded|imports|'
                     r'check|compare|ended|hit)\b')


def git(*words):
    return subprocess.run(['git', *words], capture_output=True, text=True, errors='replace', check=True).stdout


def names(revision):
    found = collections.defaultdict(list)
    for path in git('ls-tree', '-r', '--name-only', revision, 'tests').split('\n'):
        unit = path.startswith('tests/unit/') and path.endswith('.c')
        if not unit and not path.endswith('.t') and path != 'tests/attack.sh':
            continue
        text = git('show', f'{revision}:{path}')
        tier = 'full' if re.search(r'^(#| \*) @full', text, re.M) else 'fast'
        if unit:
            for name in re.findall(r'cmocka_unit_test\w*\(\s*(\w+)', text):
                found[name].append((tier, path))
            continue
        for line in text.replace('\\\n', ' ').split('\n'):
            if ASSERTS.search(line):
                for name in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                    if re.search(r'[a-z]{2}', name):
                        found[' '.join(name.split())].append((tier, path))
    return found


if sys.argv[1:2] == ['--gone']:
    before, now = names(sys.argv[2]), names('HEAD')
    for name, places in before.items():
        if len(now[name]) < len(places):
            print(f'{len(places)} -> {len(now[name])}  {places[0][1]}: {name}')
else:
    for name, places in names((sys.argv[1:] + ['HEAD'])[0]).items():
        for tier, path in places:
            print(f'{tier} {path}: {name}')
