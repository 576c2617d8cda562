import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadWorkerConfig } from '../../src/config/worker-config';
import { buildGoTool } from '../../tools/build-go-tool';
import { kustomizeTool } from '../../tools/go-tool';
import { codeBlocks, markdownPages } from '../support/markdown';
import { temporaryFolder } from '../support/temporary-folder';
import { projectRoot } from '../unit/deployment/compose-file';
import { type Labels, type Manifest, manifestsIn, problemsOf } from '../unit/deployment/manifests';

const deploy = join(projectRoot, 'deploy/kubernetes');
const folder = temporaryFolder();
let kustomize: string;
beforeAll(async () => {
  kustomize = await buildGoTool(kustomizeTool);
}, 600_000);
afterAll(folder.remove);

/** What kustomize makes of a folder. */
function rendered(path: string): Manifest[] {
  return manifestsIn(execFileSync(kustomize, ['build', path], { encoding: 'utf8' }));
}

interface Overlay {
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly [field: string]: unknown;
}

/** Writes an overlay whose resources and components are folders of deploy/kubernetes; returns its folder. */
function overlay({ resources, components = [], ...rest }: Overlay, files: Labels = {}): string {
  mkdirSync(join(folder.path, 'overlays'), { recursive: true });
  const path = mkdtempSync(join(folder.path, 'overlays', 'one-'));
  const pathOf = (name: string): string => relative(path, name.startsWith('/') ? name : join(deploy, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  const kustomization = { resources: resources.map(pathOf), components: components.map(pathOf), ...rest };
  writeFileSync(join(path, 'kustomization.yaml'), stringify(kustomization));
  return path;
}

const v2 = {
  nameSuffix: '-v2',
  labels: [{ pairs: { 'app.kubernetes.io/instance': 'longhaul-v2' }, includeSelectors: true }],
};
const everything = {
  resources: ['base'],
  components: ['encryption', 'pod-monitor', 'accounts', 'prices', 'webhooks'],
  configMapGenerator: [{ name: 'longhaul-prices', files: ['prices.json'] }],
};
const priceFile = { 'prices.json': '{"prices": [{"webAppId": 5, "currency": "EUR", "perTask": "0.02"}]}' };

function named(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return found;
}

const kindsOf = (manifests: readonly Manifest[]): string[] =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.name.replace(/-[a-z0-9]{10}$/, '')}`).sort();

/** The labels of the pods that are made of these manifests. */
const podLabels = (manifests: readonly Manifest[]): Labels[] =>
  manifests.flatMap(({ kind, spec }) => {
    const labels = kind === 'Deployment' ? spec.template?.metadata.labels : undefined;
    return labels === undefined ? [] : [labels];
  });

/** What each manifest selects pods by: one of them may select in several ways. */
function selectorsOf(manifests: readonly Manifest[]): { readonly of: string; readonly labels: Labels }[] {
  return manifests
    .filter(({ kind }) => ['Deployment', 'PodDisruptionBudget', 'NetworkPolicy'].includes(kind))
    .flatMap(({ kind, metadata, spec }) => {
      const spreads = spec.template?.spec.topologySpreadConstraints ?? [];
      const all = [spec.selector, spec.podSelector, ...spreads.map(({ labelSelector }) => labelSelector)];
      return all.flatMap((one) =>
        one === undefined ? [] : [{ of: `${kind} ${metadata.name}`, labels: one.matchLabels }],
      );
    });
}

const matches = (labels: Labels, pod: Labels): boolean =>
  Object.entries(labels).every(([name, value]) => pod[name] === value);

describe('the manifests as kustomize renders them', () => {
  it.each(['base', 'production', 'production-v2'])(
    'of %s have the fields of Kubernetes’ types and no other',
    (name) => {
      expect(problemsOf(rendered(join(deploy, name)))).toEqual([]);
    },
  );

  it('of a second version select no pod of the first, and the other way round', () => {
    const [first, second] = [rendered(join(deploy, 'production')), rendered(join(deploy, 'production-v2'))];

    for (const [own, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const selectors = selectorsOf(own);
      expect(selectors).toHaveLength(4);
      for (const { labels } of selectors) {
        expect(podLabels(own).some((pod) => matches(labels, pod))).toBe(true);
        expect(podLabels(other).filter((pod) => matches(labels, pod))).toEqual([]);
      }
    }
  });

  it('of a second version have its workers alone, with an autoscaler of their own', () => {
    const first = overlay(everything, priceFile);
    const second = rendered(overlay({ resources: [first], components: ['another-version'], ...v2 }));

    expect(kindsOf(second).filter((name) => !name.startsWith('ConfigMap'))).toEqual(
      ['Deployment', 'HorizontalPodAutoscaler', 'NetworkPolicy', 'PodDisruptionBudget'].map(
        (kind) => `${kind} longhaul-worker-v2`,
      ),
    );
    const scaler = named(second, 'HorizontalPodAutoscaler', 'longhaul-worker-v2');
    expect(scaler.spec.scaleTargetRef?.name).toBe('longhaul-worker-v2');
  });

  it('of a second version are scaled by KEDA under their own name', () => {
    const second = rendered(overlay({ resources: ['keda'], components: ['another-version'], ...v2 }));

    const { spec } = named(second, 'ScaledObject', 'longhaul-worker-v2');
    expect(spec.scaleTargetRef?.name).toBe(named(second, 'Deployment', 'longhaul-worker-v2').metadata.name);
  });

  it('without a receiver ask for no callback token, and workers start without callbacks', () => {
    const manifests = rendered(overlay({ resources: ['base'], components: ['no-receiver'] }));

    expect(JSON.stringify(manifests)).not.toMatch(/callback/i);
    expect(kindsOf(manifests).filter((name) => name.endsWith('receiver'))).toEqual([]);
    const { config, warnings } = loadWorkerConfig(workerEnvironment(manifests), () => 'a-key');
    expect({ callback: config.callback, warnings }).toEqual({ callback: null, warnings: [] });
  });

  it('with accounts, prices, webhooks and keys give workers files that they read', () => {
    const manifests = rendered(overlay(everything, priceFile));
    const files: Labels = {
      '/run/secrets/longhaul/api-key': 'a-key',
      '/run/secrets/longhaul-accounts/accounts.json': '{"studio": {"apiKey": "another-key"}}',
      '/run/secrets/longhaul-codec/keys.json': JSON.stringify({
        current: 'k1',
        keys: { k1: Buffer.alloc(32, 1).toString('base64') },
      }),
      '/run/secrets/longhaul-webhooks/webhooks.json': JSON.stringify({
        orders: { url: 'https://shop.example/hooks', secrets: [`whsec_${Buffer.alloc(32, 2).toString('base64')}`] },
      }),
      '/etc/longhaul/prices.json': priceFile['prices.json'],
    };
    const { config } = loadWorkerConfig(workerEnvironment(manifests), (path) => files[path] ?? '');

    expect([...config.accounts.keys()]).toEqual(['default', 'studio']);
    expect([...config.webhooks.keys()]).toEqual(['orders']);
    const text = JSON.stringify(named(manifests, 'Deployment', 'longhaul-worker'));
    const [, prices] = /"configMap":\{"name":"(longhaul-prices-[a-z0-9]+)"\}/.exec(text) ?? [];
    expect(named(manifests, 'ConfigMap', prices ?? '').data).toEqual(priceFile);
    for (const path of Object.keys(files)) expect(text).toContain(`"${path.replace(/\/[^/]+$/, '')}"`);
  });

  it('with a private authority give workers its certificates', () => {
    const components = ['no-receiver', 'private-authority'];
    const configMapGenerator = [{ name: 'longhaul-ca', files: ['ca.pem'] }];
    const manifests = rendered(overlay({ resources: ['base'], components, configMapGenerator }, { 'ca.pem': 'PEM' }));

    expect(problemsOf(manifests)).toEqual([]);
    const [, folderOfFile, file = ''] =
      /^(.*)\/(.*)$/.exec(workerEnvironment(manifests)['NODE_EXTRA_CA_CERTS'] ?? '') ?? [];
    const worker = JSON.stringify(named(manifests, 'Deployment', 'longhaul-worker'));
    expect(worker).toContain(JSON.stringify({ mountPath: folderOfFile, name: 'ca', readOnly: true }));
    const [, authority = ''] = /"configMap":\{"name":"(longhaul-ca-[a-z0-9]+)"\}/.exec(worker) ?? [];
    expect(named(manifests, 'ConfigMap', authority).data).toHaveProperty([file], 'PEM');
  });
});

describe('the patches of the guide', () => {
  /** The patches of the block that holds `text`. */
  function patchesWith(text: string): unknown {
    const guide = markdownPages().filter(({ path }) => path === 'docs/guides/deployment.md');
    const blocks = guide.flatMap(codeBlocks).filter(({ code }) => code.startsWith('patches:') && code.includes(text));
    expect(blocks).toHaveLength(1);
    return (parse(blocks[0]?.code ?? '') as { readonly patches: unknown }).patches;
  }

  it('take away what mounts the key where no account is called default', () => {
    const patches = patchesWith('LONGHAUL_API_KEY_FILE');
    const manifests = rendered(overlay({ resources: ['base'], components: ['no-receiver', 'accounts'], patches }));

    expect(problemsOf(manifests)).toEqual([]);
    const text = JSON.stringify(named(manifests, 'Deployment', 'longhaul-worker'));
    expect(text).not.toMatch(/LONGHAUL_API_KEY_FILE|"api-key"|"\/run\/secrets\/longhaul"/);
    const { config } = loadWorkerConfig(workerEnvironment(manifests), () => '{"studio": {"apiKey": "another-key"}}');
    expect([...config.accounts.keys()]).toEqual(['studio']);
  });

  it('reach what stands in files of a component and of KEDA', () => {
    const patches = patchesWith('temporal.my.example');
    const manifests = rendered(overlay({ resources: ['keda'], components: ['encryption'], patches }));

    expect(problemsOf(manifests.filter(({ kind }) => kind !== 'ScaledObject'))).toEqual([]);
    const text = JSON.stringify(manifests);
    expect(text.match(/temporal\.my\.example:7233/g)).toHaveLength(4);
    expect(text.match(/"namespace":"my-namespace"/g)).toHaveLength(4);
    expect(text).toContain('"name":"LONGHAUL_CODEC_ORIGINS","value":"https://temporal.my.example"');
    expect(text).toContain('LONGHAUL_CODEC_KEYS_FILE');
    expect(text).not.toMatch(/https:\/\/temporal\.example"|"endpoint":"temporal-frontend/);
  });
});

/** What a worker finds in its environment; secrets are made up. */
function workerEnvironment(manifests: readonly Manifest[]): Record<string, string> {
  const { spec } = named(manifests, 'Deployment', 'longhaul-worker');
  const [container] = spec.template?.spec.containers ?? [];
  const maps = (container?.envFrom ?? []).map(({ configMapRef }) =>
    configMapRef === undefined ? {} : named(manifests, 'ConfigMap', configMapRef.name).data,
  );
  const own = (container?.env ?? []).map(({ name, value = 'a-secret-of-the-cluster' }) => [name, value] as const);
  return Object.assign({}, ...maps, Object.fromEntries(own)) as Record<string, string>;
}

it('the replay of the guide has the codec keys of the Secret that workers have, and Temporal’s credentials', () => {
  const [guide] = markdownPages().filter(({ path }) => path === 'docs/guides/versions.md');
  const [, overrides = ''] =
    /^kubectl run longhaul-replay .*--overrides '(\{.*?\})' -- replay$/ms.exec(guide?.text ?? '') ?? [];
  const worker = JSON.stringify(rendered(overlay(everything, priceFile)));
  const [, secretName = 'none'] = /"secretName":"(longhaul-codec[^"]*)"/.exec(worker) ?? [];
  const replay = JSON.stringify(JSON.parse(overrides));
  expect(replay).toContain(`"secretName":"${secretName}"`);
  expect(replay).toContain('"secretRef":{"name":"longhaul-temporal","optional":true}');
});
