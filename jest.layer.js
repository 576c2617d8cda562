// The AWS SDK prints a notice about this Node in every process; the version is pinned.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const transform = { '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2023' } }] };

/**
 * A layer of tests, as a project of jest: the suites of `test/<name>`. With `servers`, Temporal's dev server is started
 * once for all the layers of a run, and its address lent to every suite; with `storage`, the S3 server is made sure of.
 */
function layer(name, { servers = false, storage = false } = {}) {
  return {
    displayName: name,
    rootDir: __dirname,
    testEnvironment: 'node',
    runtime: require.resolve('./jest.runtime.js'),
    testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
    transform,
    // Sources that are loaded on demand are named as the build has them.
    moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'] },
    ...(storage && { globalSetup: '<rootDir>/test/support/find-storage.ts' }),
    ...(servers && {
      globalSetup: '<rootDir>/test/support/start-servers.ts',
      globalTeardown: '<rootDir>/test/support/stop-servers.ts',
    }),
  };
}

/** Suites side by side. On two processors two suites wait for servers for 35 to 45 % of their time. */
const workers = 4;

/** Of a process that runs suites, before another one takes its place: a larger one takes longer to end than jest waits. */
const workerMemory = '400MB';

module.exports = { layer, workers, workerMemory };
