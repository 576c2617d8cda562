import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPin, versitygwTool } from '../../../tools/go-tool';
import { composeEnvironment, composeService, projectRoot } from './compose-file';

const instructions = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => line.split(/\s+/));
const argumentsOf = (name: string): string[][] =>
  instructions.filter(([first]) => first === name).map((one) => one.slice(1));

describe('the Dockerfile', () => {
  it('builds and runs on one Node, which is maintained and which the project supports', () => {
    const bases = argumentsOf('FROM').flatMap(([image = '']) => (image.startsWith('node:') ? [image] : []));
    expect(bases.length).toBeGreaterThan(1);
    expect(new Set(bases).size).toBe(1);
    const [, version = ''] = /^node:(\d+\.\d+\.\d+)-bookworm-slim$/.exec(bases[0] ?? '') ?? [];
    const { engines } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    expect(engines.node).toMatch(/^>=20\./);
    // Node 20 is not maintained any more since April 2026; 24 is until April 2028.
    expect(Number(version.split('.')[0])).toBe(24);
  });

  it('builds the storage of the demo from the pinned module, with a Go that is new enough, as a version that is found', () => {
    const { version, goVersion } = readPin(versitygwTool);
    const [go = ''] = argumentsOf('FROM').flatMap(
      ([image = '']) => /^golang:([\d.]+)-bookworm$/.exec(image)?.[1] ?? [],
    );
    expect(go.localeCompare(goVersion, 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
    const build = argumentsOf('RUN')
      .find((words) => words.includes('CGO_ENABLED=0'))
      ?.join(' ');
    expect(build).toContain(`-mod=readonly -buildvcs=false -trimpath -ldflags='-s -w -X main.Version=${version}'`);
    expect(build).toContain(versitygwTool.goPackage);
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
    expect(last).toContainEqual(['USER', '1000:1000']);
    const { LONGHAUL_ARCHIVE = '', LONGHAUL_INPUT_ROOTS = '' } = composeEnvironment('worker', {
      LONGHAUL_SERVICE_URL: 'https://service.example',
    });
    const folders = `${LONGHAUL_ARCHIVE} ${LONGHAUL_INPUT_ROOTS}`;
    expect(last.map((words) => words.join(' '))).toContainEqual(`RUN mkdir ${folders} && chown node:node ${folders}`);
  });

  it('puts the licence beside the program, and has what the compose file builds', () => {
    const copied = argumentsOf('COPY').filter(([first]) => first === '--from=build');
    expect(copied.flatMap((words) => words.slice(1, -1))).toContain('/build/LICENSE');
    const targets = argumentsOf('FROM').flatMap(([, as, name]) => (as === 'AS' ? [name] : []));
    expect(targets).toContain('demo');
    // An image of its own, when that of the workers is another: nothing but the checkout has it.
    const demo = { build: { context: '.', target: 'demo' }, image: 'longhaul-demo:local' };
    expect(composeService('reference-service')).toMatchObject(demo);
    expect(composeService('worker').build).toBe('.');
  });

  it('runs the command line', () => {
    const { bin } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      bin: { longhaul: string };
    };
    const entrypoint = argumentsOf('ENTRYPOINT').at(-1) ?? [];
    expect(JSON.parse(entrypoint.join(' '))).toEqual(['node', bin.longhaul]);
  });
});
