import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { loadCodecServerConfig } from '../../../src/config/codec-keys';
import { variablesReadBy } from '../../../src/config/variables';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import {
  archiveTaskQueue,
  transferTaskQueue,
  watchTaskQueue,
  workflowTaskQueue,
} from '../../../src/contract/task-queues';
import { composeText, projectRoot } from './compose-file';
import { manifestsIn as documents, problemsOf } from './manifests';

const folder = join(projectRoot, 'deploy/kubernetes');
const kustomizations = readdirSync(folder).map((name) => join(folder, name));

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly literals: readonly string[] }[];
}

const text = (...path: string[]): string => readFileSync(join(...path), 'utf8');
const kustomizationIn = (of: string): Kustomization => parse(text(of, 'kustomization.yaml')) as Kustomization;

const base = kustomizationIn(join(folder, 'base'));
const files = [...(base.resources ?? []).map((name) => `base/${name}`), 'encryption/codec-server.yaml'];
const sources = files.map((name) => text(folder, name)).join('\n---\n');
const manifests = documents(sources);
const pods = manifests.flatMap(({ kind, metadata, spec }) =>
  spec.template === undefined ? [] : [{ kind, name: metadata.name, pod: spec.template.spec }],
);

describe('the manifests for Kubernetes', () => {
  it('have the fields of its types and no other', () => {
    expect(problemsOf(manifests)).toEqual([]);
  });

  it('would be found out with an unknown field', () => {
    const wrong = sources.replace('enableServiceLinks: false', 'enableServiceLink: false');
    expect(problemsOf(documents(wrong))).not.toEqual([]);
  });

  it('are named by kustomizations whose files are there', () => {
    for (const of of kustomizations) {
      const { resources = [], components = [] } = kustomizationIn(of);
      for (const path of [...resources, ...components]) expect(existsSync(join(of, path))).toBe(true);
    }
  });

  it('run the image that the overlay to copy names, in this version', () => {
    const { version } = JSON.parse(text(projectRoot, 'package.json')) as { version: string };
    const overlay = `{ name: longhaul, newName: registry.example/longhaul, newTag: ${version} }`;
    expect(text(folder, 'production/kustomization.yaml')).toContain(overlay);
    for (const { pod } of pods) expect(pod.containers.map((each) => each.image)).toEqual(['longhaul']);
  });
});

/** What the only container of a pod finds in its environment; secrets are made up. */
function environmentOf(name: string): Record<string, string> {
  const [container] = pods.find((each) => each.name === name)?.pod.containers ?? [];
  const maps = (container?.envFrom ?? []).map(({ configMapRef }) => configMapRef?.name);
  const literals = (base.configMapGenerator ?? []).filter((map) => maps.includes(map.name));
  const pairs = literals.flatMap((map) => map.literals.map((literal) => literal.split(/=(.*)/s, 2)));
  const own = (container?.env ?? []).map((each) => [each.name, each.value ?? 'a-secret-of-the-cluster']);
  return Object.fromEntries([...pairs, ...own]) as Record<string, string>;
}

describe('the pods', () => {
  it.each(pods)('$name get no variables of Services, and run confined', ({ pod }) => {
    expect(pod).toMatchObject({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const { securityContext } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it.each(pods.filter(({ kind }) => kind === 'Deployment'))(
    '$name are asked whether they live and are ready',
    ({ name, pod }) => {
      for (const { livenessProbe, startupProbe = livenessProbe, readinessProbe } of pod.containers) {
        for (const probe of [startupProbe, livenessProbe, readinessProbe])
          expect(probe).toMatchObject({ timeoutSeconds: 5 });
        // A restart does not bring back an archive or a Temporal that is away.
        for (const probe of [startupProbe, livenessProbe]) expect(probe).toMatchObject({ httpGet: { path: '/live' } });
        // The codec server needs nothing that could be away.
        const path = name === 'longhaul-codec-server' ? '/live' : '/ready';
        expect(readinessProbe).toMatchObject({ httpGet: { path } });
      }
    },
  );

  it('that ask Temporal get its credentials where there are some', () => {
    const asking = pods.filter(({ name }) => name !== 'longhaul-codec-server');
    expect(asking.map(({ name }) => name)).toEqual(['longhaul-setup', 'longhaul-worker', 'longhaul-receiver']);
    for (const { pod } of asking) {
      const secretRef = { name: 'longhaul-temporal', optional: true };
      for (const { envFrom } of pod.containers) expect(envFrom).toContainEqual({ secretRef });
    }
  });

  it('of workers read nothing from a map of their own that receivers read, too', () => {
    const literals = (base.configMapGenerator ?? []).find(({ name }) => name === 'longhaul-worker')?.literals ?? [];
    const names = literals.map((literal) => literal.split('=', 1)[0]);
    const shared: readonly string[] = variablesReadBy('receiver');
    expect(names.filter((name = '') => shared.includes(name))).toEqual([]);
  });

  it('of workers end in the time that compose gives them', () => {
    const worker = pods.find(({ name }) => name === 'longhaul-worker');
    expect(composeText).toContain(`stop_grace_period: ${worker?.pod.terminationGracePeriodSeconds ?? 0}s`);
  });

  it.each([
    [
      ...(['longhaul-worker', 'worker', loadWorkerConfig, 'a-key'] as const),
      {
        health: { host: '::', port: 8090 },
        callback: { url: environmentOf('longhaul-worker')['LONGHAUL_CALLBACK_URL'] },
      },
    ],
    ['longhaul-receiver', 'receiver', loadReceiverConfig, 'a-token-of-32-characters-or-more', { port: 8080 }],
    [
      ...(['longhaul-codec-server', 'codec server', loadCodecServerConfig] as const),
      JSON.stringify({ current: 'a', keys: { a: Buffer.alloc(32, 7).toString('base64') } }),
      {},
    ],
  ] as const)(
    'of %s start with what they are given, and with nothing that they do not read',
    (name, reader, load, secret, expected) => {
      const env = environmentOf(name);
      const { config, warnings } = load(env, () => secret);
      expect(warnings).toEqual([]);
      expect(config).toMatchObject(expected);
      const own = Object.keys(env).filter((variable) => variable.startsWith('LONGHAUL_'));
      expect(variablesReadBy(reader)).toEqual(expect.arrayContaining(own));
    },
  );

  it('are scaled by the task queues that workers poll', () => {
    const [scaled] = documents(text(folder, 'keda/scaled-object.yaml'));
    const queues = (scaled?.spec.triggers ?? []).map(({ metadata }) => metadata['taskQueue']);
    expect(queues).toEqual([workflowTaskQueue, watchTaskQueue(), transferTaskQueue(), archiveTaskQueue()]);
  });
});
