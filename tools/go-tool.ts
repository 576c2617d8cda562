import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from './tool-error';

/** A program that is built from a Go module pinned in this repository. */
export interface GoTool {
  /** File name of the program, and its name in messages. */
  readonly name: string;
  /** Folder of the `go.mod` and `go.sum` that pin the program and all it is built from. */
  readonly moduleDir: string;
  /** Module that the pinned version is of. */
  readonly module: string;
  /** Package to build. */
  readonly goPackage: string;
  /** How long a first build takes on a small machine, for the reader's patience. */
  readonly expectedMinutes: number;
  /** What else satisfies the need, in words that complete "Otherwise …". */
  readonly alternative?: string;
}

/** Temporal's CLI, for its dev server with the Web UI. */
export const temporalTool: GoTool = {
  name: 'temporal',
  moduleDir: join(__dirname, 'temporal'),
  module: 'github.com/temporalio/cli',
  goPackage: 'github.com/temporalio/cli/cmd/temporal',
  expectedMinutes: 7,
  alternative:
    'put Temporal’s CLI (server 1.30 or newer) on PATH, or set TEMPORAL_ADDRESS to a Temporal server that runs',
};

/** The S3 server. Its version is exact: the temporary credentials use an internal protocol of that version. */
export const versitygwTool: GoTool = {
  name: 'versitygw',
  moduleDir: join(__dirname, 's3'),
  module: 'github.com/versity/versitygw',
  goPackage: 'github.com/versity/versitygw/cmd/versitygw',
  expectedMinutes: 4,
  alternative: 'put versitygw of exactly the pinned version on PATH',
};

/** Temporal's server as it is deployed: it keeps its data in a database of its own. */
export const temporalServerTool: GoTool = {
  name: 'temporal-server',
  moduleDir: join(__dirname, 'temporal-server'),
  module: 'go.temporal.io/server',
  goPackage: 'go.temporal.io/server/cmd/server',
  expectedMinutes: 5,
};

/** Makes and upgrades the databases of {@link temporalServerTool}. */
export const temporalSqlTool: GoTool = {
  ...temporalServerTool,
  name: 'temporal-sql-tool',
  goPackage: 'go.temporal.io/server/cmd/tools/sql',
  expectedMinutes: 1,
};

/** Temporal's Web UI as it is deployed, by itself. */
export const temporalUiTool: GoTool = {
  name: 'temporal-ui-server',
  moduleDir: join(__dirname, 'temporal-ui'),
  module: 'github.com/temporalio/ui-server/v2',
  goPackage: 'github.com/temporalio/ui-server/v2/cmd/server',
  expectedMinutes: 1,
};

/** Renders the manifests for Kubernetes. */
export const kustomizeTool: GoTool = {
  name: 'kustomize',
  moduleDir: join(__dirname, 'kustomize'),
  module: 'sigs.k8s.io/kustomize/kustomize/v5',
  goPackage: 'sigs.k8s.io/kustomize/kustomize/v5',
  expectedMinutes: 1,
};

/** What a tool's `go.mod` asks for. */
export interface Pin {
  /** Version of the tool's module, such as `v1.8.2`. */
  readonly version: string;
  /** Oldest Go that builds it, such as `1.26.4`. */
  readonly goVersion: string;
}

/** Reads the pinned version of a tool and the Go it needs from its `go.mod`; throws a `ToolError` if it has none. */
export function readPin(tool: GoTool): Pin {
  const lines = readFileSync(join(tool.moduleDir, 'go.mod'), 'utf8')
    .split('\n')
    .map((line) => line.trim().replace(/^require\s+/, ''));
  const valueOf = (key: string): string | undefined =>
    lines
      .find((line) => line.startsWith(`${key} `))
      ?.slice(key.length + 1)
      .split(' ')[0];
  const version = valueOf(tool.module);
  const goVersion = valueOf('go');
  if (!version || !goVersion) throw new ToolError(`${join(tool.moduleDir, 'go.mod')} does not pin ${tool.module}.`);
  return { version, goVersion };
}
