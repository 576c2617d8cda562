import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { listFiles } from '../../support/list-files';
import { anchors, type Link, links, markdownPages, type Page } from '../../support/markdown';

const root = join(__dirname, '../../..');
const pages = markdownPages();
const anchorsOf = new Map(pages.map((page) => [page.path, anchors(page)]));

/** What is wrong with a link within the repository; `undefined` for one that leads somewhere, and for one outside. */
function problemOf(from: string, { target, place }: Link): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? from : normalize(join(dirname(from), decodeURI(path))).replace(/\/$/, '');
  if (!existsSync(join(root, file))) return `${place}: there is no ${file}`;
  if (anchor === undefined) return undefined;
  if (anchorsOf.get(file)?.has(anchor) === true) return undefined;
  if (/^L\d+/.test(anchor) && !statSync(join(root, file)).isDirectory()) return undefined;
  return `${place}: ${file} has no #${anchor}`;
}

const problemsOf = (page: Page): string[] => links(page).flatMap((link) => problemOf(page.path, link) ?? []);

describe('the links of the documentation', () => {
  it('lead to files and headings that exist', () => {
    expect(pages.length).toBeGreaterThan(50);
    expect(pages.flatMap(links).length).toBeGreaterThan(300);

    expect(pages.flatMap(problemsOf)).toEqual([]);
  });

  it('would be found when they lead nowhere', () => {
    const text = '# Here\n[a](gone.md)\n[b](#there)\n[c](#documentation)\n[d](tutorial.md#gone)\n[e](tutorial.md)';
    const path = 'docs/README.md';
    expect(problemsOf({ path, text })).toEqual([
      'docs/README.md:2: there is no docs/gone.md',
      'docs/README.md:3: docs/README.md has no #there',
      'docs/README.md:5: docs/tutorial.md has no #gone',
    ]);
  });

  it('lead from the map of the documentation to every page of it', () => {
    const map = pages.find(({ path }) => path === 'docs/README.md');
    const listed = new Set(map === undefined ? [] : links(map).map(({ target }) => normalize(join('docs', target))));
    const known = pages.map(({ path }) => path).filter((path) => /^docs\/(?!README|decisions\/)/.test(path));

    expect(known.filter((path) => !listed.has(path))).toEqual([]);
  });
});

it('no comment of the sources links to a page: the declarations that a backend installs have none beside them', () => {
  const isLinked = (path: string): boolean => /\]\([^)\s]+\.md\b/.test(readFileSync(join(root, path), 'utf8'));
  expect(filesOf('src').filter(isLinked)).toEqual([]);
});

it('what a page names of the sources exists', () => {
  // Decisions tell of what was there when they were taken, the changelog of what was changed.
  const named = pages
    .filter(({ path }) => path !== 'CHANGELOG.md' && !path.startsWith('docs/decisions/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|test|tools|bench|deploy|reference-service|packages)\/[\w./-]*\w)`/g)].map(
        ([, source = '']) => ({ path, source }),
      ),
    );
  expect(named.length).toBeGreaterThan(40);
  const isThere = (source: string): boolean => ['', '.ts'].some((end) => existsSync(join(root, `${source}${end}`)));
  expect(named.filter(({ source }) => !isThere(source))).toEqual([]);
});

it('a page that the program, its deployment or an example names exists', () => {
  const files = ['.env.example', 'docker-compose.yml', ...['src', 'tools', 'deploy', 'examples'].flatMap(filesOf)];
  const named = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/(?<![\w/-])docs\/[\w/.-]+\.(?:md|json)\b/g)].map(
      ([path]) => path,
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

function filesOf(folder: string): string[] {
  return listFiles(join(root, folder)).map((name) => `${folder}/${name}`);
}
