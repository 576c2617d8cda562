import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lockfile = join(__dirname, '../../../package-lock.json');
const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

describe('package-lock.json', () => {
  // `npm ci` refuses a lockfile that lacks one; `npm install` leaves out those that its registry does not have.
  it('has every dependency, for every platform, so that npm ci accepts it', () => {
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !isLocked(path, name)),
    );
    expect(missing).toEqual([]);
  });

  // The registry that the lockfile was made with has no hash of native parts for other machines.
  it('has the hash of every package but native parts for other platforms', () => {
    const unhashed = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !isHash(integrity));
    const platforms = /-(android|darwin|freebsd|openharmony|win32|linux-(arm-|ppc64|riscv64|s390x|loong64))/;
    const others = /^node_modules\/@(oxc-parser\/binding|swc\/core|unrs\/resolver-binding)-/;

    expect(unhashed.filter(([path, { optional }]) => !(optional && others.test(path) && platforms.test(path)))).toEqual(
      [],
    );
  });

  it('names no registry', () => {
    expect(readFileSync(lockfile, 'utf8')).not.toMatch(/"resolved"/);
  });
});

function isHash(integrity = ''): boolean {
  return /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
}

/** Whether a package finds this dependency of its own: beside it, or further out. */
function isLocked(path: string, name: string): boolean {
  const folders = path === '' ? [] : path.split('/node_modules/');
  const places = folders.map((_, index) => `${folders.slice(0, folders.length - index).join('/node_modules/')}/`);
  return [...places, ''].some((place) => `${place}node_modules/${name}` in packages);
}
