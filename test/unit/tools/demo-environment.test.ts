import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withoutOtherDemo, writeEnvironment } from '../../../tools/demo-environment';
import { readDemoOptions, usage } from '../../../tools/demo-options';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(folder.remove);

const newFolder = (): string => mkdtempSync(join(folder.path, 'demo-'));

describe('the file with the variables of a demo', () => {
  it('is one of its own while another demo runs, but not while a killed one left its own, and is gone when its demo has ended', () => {
    const place = newFolder();
    // What a killed demo left; no system gives a process such a number.
    writeFileSync(join(place, 'environment.sh'), "# of process 99999999\nexport TEMPORAL_ADDRESS='gone:1'\n");
    const first = writeEnvironment(place, { TEMPORAL_ADDRESS: 'first:1' });
    const second = writeEnvironment(place, { TEMPORAL_ADDRESS: 'second:2' });

    expect([first, second].map(({ path }) => basename(path))).toEqual([
      'environment.sh',
      `environment-${process.pid}.sh`,
    ]);
    expect(readFileSync(first.path, 'utf8')).toContain("export TEMPORAL_ADDRESS='first:1'");
    first.remove();
    second.remove();
    expect([first, second].map(({ path }) => existsSync(path))).toEqual([false, false]);
  });

  it('keeps another demo, started in that shell, from joining this one, and leaves it what this one was given', () => {
    const own = { TEMPORAL_ADDRESS: 'first:1', LONGHAUL_ARCHIVE: 'archive/first' };
    const taken = { LONGHAUL_PRICES_FILE: 'prices.json', LONGHAUL_ARCHIVE: 'mine' };
    const { path } = writeEnvironment(newFolder(), own, taken);
    const exported = [...readFileSync(path, 'utf8').matchAll(/^export (\w+)='(.*)'$/gm)];
    const shell = Object.fromEntries(exported.map(([, name = '', value]) => [name, value]));

    expect(shell).toMatchObject({ LONGHAUL_PRICES_FILE: 'prices.json', LONGHAUL_ARCHIVE: 'archive/first' });
    expect(withoutOtherDemo({ ...shell, HOME: '/home/me' })).toEqual({
      ...{ env: { HOME: '/home/me', LONGHAUL_PRICES_FILE: 'prices.json' }, isOther: true },
    });
    expect(withoutOtherDemo({ TEMPORAL_ADDRESS: 'mine:1' })).toEqual({
      ...{ env: { TEMPORAL_ADDRESS: 'mine:1' }, isOther: false },
    });
  });
});

describe('the options of the demo', () => {
  it.each([
    [['--nonsense'], usage],
    [['nonsense'], usage],
    [['--drill'], usage],
    [['--stay', '--once'], 'exclude each other'],
    [['--batch', '--drill', 'archive'], 'exclude each other'],
  ])('are refused when they are %j', (args, words) => {
    expect(() => readDemoOptions(args)).toThrow(words);
  });
});
