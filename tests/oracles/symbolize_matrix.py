#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""symbolize_matrix.py SPOOR SOURCES [COUNT]: every compiler, version of DWARF and optimisation with every way to link
and to store what is made of them; TAP. Objects are compiled once for all ways to link, and llvm-symbolizer is
asked once for all ways to store, which change no address: at the boundaries of all functions and at COUNT random
addresses of each program. Of a stripped program with MiniDebugInfo the function is compared alone."""
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import symbolize_oracle as oracle

COMPILERS = {'gcc': ('gcc', 'g++'), 'clang': ('clang', 'clang++')}
LEVELS = {'O0': ['-O0'], 'O2': ['-O2'], 'LTO': ['-O2', '-flto']}
LINKS = {
    'plain': [],
    'gc-sections': ['-Wl,--gc-sections'],
    'lld': ['-fuse-ld=lld'],
    'non-PIE': ['-no-pie'],
    'static-pie': ['-static-pie'],
    'noseparate-code': ['-Wl,-z,noseparate-code'],
}
OTHERS_MAX = 2000  # addresses without a line: of a static program most are


class Lacking(Exception):
    """This machine's tools cannot make it: why."""


def run(*command, **kind):
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', check=False, **kind)
    if done.returncode:
        raise Lacking(f"{' '.join(command[:3])}: {(done.stderr.strip().splitlines() or ['failed'])[0]}")
    return done.stdout


def dwz_version():
    """(0,): there is none."""
    if not shutil.which('dwz'):
        return (0,)
    return tuple(map(int, run('dwz', '--version').split()[2].split('.')))


def make_zlib(plain, out):
    run('objcopy', '--compress-debug-sections=zlib', plain, out)


def make_zstd(plain, out):
    run('objcopy', '--compress-debug-sections=zstd', plain, out)


def make_dwz(plain, out):
    shutil.copy(plain, out)
    run('dwz', out)


def make_debuglink(plain, out):
    name = os.path.basename(out) + '.debug'
    directory = os.path.dirname(out)
    run('objcopy', '--only-keep-debug', plain, f'{directory}/{name}')
    run('objcopy', '--strip-all', '--remove-section=.note.gnu.build-id', plain, out)
    run('objcopy', f'--add-gnu-debuglink={name}', os.path.basename(out), cwd=directory)


def make_build_id(plain, out):
    build_id = oracle.re.search(r'Build ID: ([0-9a-f]+)', run('readelf', '-nW', plain))[1]
    directory = f"{os.environ['HOME']}/.debug/.build-id/{build_id[:2]}/{build_id[2:]}"
    os.makedirs(directory)
    run('objcopy', '--only-keep-debug', plain, f'{directory}/debug')
    run('objcopy', '--strip-all', plain, out)


def make_minidebug(plain, out):
    run('objcopy', '--strip-debug', plain, f'{out}.symbols')
    run('xz', f'{out}.symbols')
    run('objcopy', '--strip-all', f'--add-section=.gnu_debugdata={out}.symbols.xz', '--remove-section=.note.gnu.build-id',
        plain, out)


STORES = {'zlib': make_zlib, 'zstd': make_zstd, 'dwz': make_dwz, 'debuglink': make_debuglink, 'build-id': make_build_id,
          'MiniDebugInfo': make_minidebug}


def fewer(addresses, theirs):
    """All with a line, and some others."""
    if len(addresses) != len(theirs):
        return addresses, theirs
    others = [i for i, t in enumerate(theirs) if not t[0][1]]
    dropped = set(random.Random(1).sample(others, max(0, len(others) - OTHERS_MAX)))
    kept = [i for i in range(len(addresses)) if i not in dropped]
    return [addresses[i] for i in kept], [theirs[i] for i in kept]


def compare(ours, theirs, symbols, addresses):
    """-> why they differ, or None, and the figures."""
    if len(ours) != len(addresses) or len(theirs) != len(addresses):
        return f'{len(ours)} and {len(theirs)} answers', ''
    bad = [i for i, o in enumerate(ours) if not oracle.same(o, theirs[i], symbols)]
    known = sum(bool(o[0][1]) for o in ours)
    deep = sum(len(o) > 1 for o in ours)
    figures = f'{len(addresses)} addresses, {known} with a line, {deep} inlined, {len(bad)} disagree'
    if bad:
        return f'{addresses[bad[0]]:#x}: spoor {ours[bad[0]]}\n# llvm {theirs[bad[0]]}', figures
    return (None if known >= 100 else 'too few lines'), figures


class Base:
    """What one compiler makes with one version and one optimisation."""

    def __init__(self, spoor, sources, count, key):
        self.spoor, self.sources, self.count = spoor, sources, count
        self.compiler, self.version, self.level = key
        self.name = '-'.join(map(str, key))
        self.directory = f'{os.getcwd()}/{self.name}'
        self.lines = []

    def tell(self, what, why, figures=''):
        self.lines.append((why is None, f'{self.name} {what}: {figures}', why))

    def compile(self):
        cc, cxx = COMPILERS[self.compiler]
        os.mkdir(self.directory)
        self.flags = [*LEVELS[self.level], f'-gdwarf-{self.version}']
        every = [*self.flags, '-fPIE', '-ffunction-sections', '-c']
        run(cc, *every, f'{self.sources}/nested.c', cwd=self.directory)
        run(cxx, *every, f'{self.sources}/shapes.cc', cwd=self.directory)
        run('gcc', '-g', '-c', f'{self.sources}/leaf.s', cwd=self.directory)

    def link(self, how):
        cxx = COMPILERS[self.compiler][1]
        lto = ['-fuse-ld=lld'] if self.compiler == 'clang' and self.level == 'LTO' else []
        run(cxx, *self.flags, 'nested.o', 'shapes.o', 'leaf.o', '-o', how, *lto, *LINKS[how], cwd=self.directory)
        return f'{self.directory}/{how}'

    def check_link(self, how):
        path = self.link(how)
        # Of a static program most code is libc's.
        addresses = oracle.addresses_of(path, self.count * (20 if how == 'static-pie' else 1))
        theirs = list(oracle.ask_llvm(path, addresses))
        addresses, theirs = fewer(addresses, theirs)
        symbols = oracle.symbols_of(path)
        ours = oracle.ask_ours(self.spoor, path, addresses)
        self.tell(how, *compare(ours, theirs, symbols, addresses))
        return path, addresses, theirs, symbols, ours

    def check_store(self, how, plain, addresses, theirs, symbols, plain_ours):
        path = f'{self.directory}/{how}'
        STORES[how](plain, path)
        ours = oracle.ask_ours(self.spoor, path, addresses)
        if how == 'MiniDebugInfo':
            # The function around all inlined ones. Other symbols than those of functions are not in it.
            bad = [i for i, o in enumerate(plain_ours) if ours[i][-1][0] != o[-1][0]]
            self.tell(how, f'{addresses[bad[0]]:#x}: {ours[bad[0]]}, not {plain_ours[bad[0]]}' if bad else None,
                      f'{len(addresses)} addresses, {len(bad)} disagree')
        else:
            self.tell(how, *compare(ours, theirs, symbols, addresses))

    def cell(self, what, check, *arguments):
        try:
            return check(what, *arguments)
        except Lacking as lacking:
            self.lines.append((None, f'{self.name} {what}: {lacking}', None))
        except SystemExit as failed:
            self.tell(what, str(failed))
        return None

    def check(self):
        self.compile()
        plain = self.cell('plain', self.check_link)
        for how in STORES if plain else []:
            # dwz, up to 0.15, knows clang's sections of DWARF 5 not at all.
            if how == 'dwz' and (self.compiler, self.version) == ('clang', 5) and dwz_version() < (0, 16):
                continue
            self.cell(how, self.check_store, *plain)
        for how in LINKS:
            # It is linked once more for each; clang's is lld's anyway.
            if how != 'plain' and (self.level != 'LTO' or how in ('gc-sections', 'non-PIE')):
                self.cell(how, self.check_link)
        return self


def main():
    spoor, sources = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    bases = [Base(spoor, sources, count, (c, v, level)) for level in LEVELS for c in COMPILERS for v in (4, 5)]
    number = 0
    with ThreadPoolExecutor(2) as pool:
        for base in pool.map(Base.check, bases):
            for good, text, why in base.lines:
                number += 1
                if good is None:
                    print(f'ok {number} # SKIP {text}')
                    continue
                print(f"{'ok' if good else 'not ok'} {number} - {text}", flush=True)
                if why:
                    print(f'# {why}'[:2000], file=sys.stderr)
    print(f'1..{number}')


if __name__ == '__main__':
    main()
