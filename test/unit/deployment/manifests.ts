import { join } from 'node:path';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';

/** A container, as far as the tests look at it. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string; readonly optional?: boolean };
  }[];
  readonly ports?: readonly { readonly name: string }[];
  readonly securityContext: object;
  readonly startupProbe?: object;
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
}

/** Pairs of labels. */
export type Labels = Readonly<Record<string, string>>;

interface Selector {
  readonly matchLabels: Labels;
}

/** A manifest, as far as the tests look at it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly selector?: Selector;
    readonly podSelector?: Selector;
    readonly scaleTargetRef?: { readonly name: string };
    readonly template?: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly enableServiceLinks: boolean;
        readonly terminationGracePeriodSeconds?: number;
        readonly topologySpreadConstraints?: readonly { readonly labelSelector: Selector }[];
        readonly containers: readonly Container[];
      };
    };
    readonly triggers?: readonly { readonly metadata: Readonly<Record<string, string>> }[];
  };
}

/** The manifests of a text with several documents. */
export function manifestsIn(source: string): Manifest[] {
  return parseAllDocuments(source, { merge: true }).map((document) => document.toJS() as Manifest);
}

/** What Kubernetes' own types find wrong, with unknown fields; in the words of the compiler. */
export function problemsOf(all: readonly Manifest[]): string[] {
  const lines = all.map(({ apiVersion, kind, ...rest }, index) => {
    const path = (apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`).replace(/\.k8s\.io/, '');
    const manifest = JSON.stringify({ apiVersion, kind, ...rest });
    return `export const m${index}: import('kubernetes-types/${path}').${kind} = ${manifest};`;
  });
  const name = join(__dirname, 'checked-manifests.ts');
  const options: ts.CompilerOptions = { strict: true, noEmit: true, skipLibCheck: true, types: [] };
  Object.assign(options, { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 });
  const host = ts.createCompilerHost(options);
  const found = { getSourceFile: host.getSourceFile.bind(host), fileExists: host.fileExists.bind(host) };
  host.fileExists = (file) => file === name || found.fileExists(file);
  host.getSourceFile = (file, language) =>
    file === name ? ts.createSourceFile(file, lines.join('\n'), language) : found.getSourceFile(file, language);
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
