import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeService, projectRoot } from './compose-file';

const instructions = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => line.split(/\s+/));
const argumentsOf = (name: string): string[][] =>
  instructions.filter(([first]) => first === name).map((one) => one.slice(1));

describe('the Dockerfile', () => {
  it('builds and runs on the Node that the project is tested with', () => {
    const version = readFileSync(join(projectRoot, '.nvmrc'), 'utf8').trim();
    const bases = argumentsOf('FROM').map(([image]) => image);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(new RegExp(`^node:${version.replace('.', '\\.')}\\.\\d+-bookworm-slim$`));
  });

  it('copies what exists, and nothing that .dockerignore keeps out', () => {
    const ignored = readFileSync(join(projectRoot, '.dockerignore'), 'utf8').split('\n');
    const sources = argumentsOf('COPY')
      .filter(([first]) => first?.startsWith('--from') !== true)
      .flatMap((paths) => paths.slice(0, -1));
    expect(sources).toContain('package-lock.json');
    for (const source of sources) expect(existsSync(join(projectRoot, source))).toBe(true);
    // Everything is kept out but what is named; so nothing else gets in, `.env` least of all.
    const rules = ignored.filter((line) => line !== '' && !line.startsWith('#'));
    expect(rules).toEqual(['*', ...sources.map((source) => `!${source}`)]);
  });

  it('does not run as root, and owns the archive and the inputs', () => {
    const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
    expect(last).toContainEqual(['USER', 'node']);
    const { LONGHAUL_ARCHIVE = '', LONGHAUL_INPUT_ROOTS = '' } = composeService('worker').environment;
    const folders = `${LONGHAUL_ARCHIVE} ${LONGHAUL_INPUT_ROOTS}`;
    expect(last.map((words) => words.join(' '))).toContainEqual(`RUN mkdir ${folders} && chown node:node ${folders}`);
  });

  it('runs the command line', () => {
    const { bin } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      bin: { longhaul: string };
    };
    const [entrypoint = []] = argumentsOf('ENTRYPOINT');
    expect(JSON.parse(entrypoint.join(' '))).toEqual(['node', bin.longhaul]);
  });
});
