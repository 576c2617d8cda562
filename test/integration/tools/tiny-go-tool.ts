import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoTool } from '../../../tools/go-tool';

/** A Go program with a pinned dependency that is all on disk, so that it builds in a moment and without a network. */
export function writeTinyGoTool(folder: string): GoTool {
  const moduleDir = join(folder, 'tiny');
  mkdirSync(join(moduleDir, 'dep'), { recursive: true });
  writeFileSync(
    join(moduleDir, 'go.mod'),
    'module example.test/tiny\n\ngo 1.21\n\nrequire example.test/dep v1.2.3\n\nreplace example.test/dep => ./dep\n',
  );
  writeFileSync(join(moduleDir, 'go.sum'), '');
  writeFileSync(
    join(moduleDir, 'main.go'),
    'package main\n\nimport "example.test/dep"\n\nfunc main() { println(dep.Word) }\n',
  );
  writeFileSync(join(moduleDir, 'dep', 'go.mod'), 'module example.test/dep\n\ngo 1.21\n');
  writeFileSync(join(moduleDir, 'dep', 'dep.go'), 'package dep\n\nconst Word = "tiny"\n');
  return { name: 'tiny', moduleDir, module: 'example.test/dep', goPackage: 'example.test/tiny', expectedMinutes: 1 };
}

/**
 * Makes Go's real linker take its time and note each of its runs in a file. Returns the environment that does it; the
 * build goes on after `linkSeconds`.
 */
export function watchLinker(folder: string, linkSeconds: number): { env: NodeJS.ProcessEnv; linkLog: string } {
  const linkLog = join(folder, 'links.log');
  const wrapper = join(folder, 'watch-linker.sh');
  // Go also runs the linker with -V=full to learn its version; that is no link.
  writeFileSync(
    wrapper,
    `#!/bin/sh\ncase "$1 $2" in */link\\ -V=full) ;; */link\\ *) echo link >> '${linkLog}'; sleep ${linkSeconds};; esac\nexec "$@"\n`,
  );
  chmodSync(wrapper, 0o755);
  writeFileSync(linkLog, '');
  return { env: { ...process.env, GOFLAGS: `-toolexec=${wrapper}`, LONGHAUL_TOOLS: join(folder, 'cache') }, linkLog };
}
