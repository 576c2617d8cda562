// Who may import whom (docs: ARCHITECTURE.md). test/unit/architecture plants a breach of every rule.
const folder = (names) => `^src/(${names})/`;
const temporal = (packages) => `node_modules/@temporalio/(${packages})/`;
/** Start something when they are loaded: the process is theirs. */
const programs = '^(src/cli|reference-service/main|tools/(demo|build|ensure-tools))\\.ts$';
const entries = '^src/(index|files|row-files|operator|testing|states|cli|worker|receiver|replay)\\.ts$';

const forbid = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });

/** `from` may import itself and what `allowed` names, and of the outside world only what `dependencyTypesNot` names. */
const only = (name, comment, from, allowed, outside = []) =>
  forbid(name, comment, { path: from }, { pathNot: [from, ...allowed], dependencyTypesNot: outside });
const partsOfWorker = folder('activities|archive|client|config|contract|core|money|reconcile|servers|service|storage');
const traces = ['^src/client/traces/', '^src/worker/worker-traces\\.ts$'];
const libraries = ['npm', 'npm-dev', 'npm-peer', 'npm-optional', 'core'];

/** What src imports to build it, or where there is no build; the build inlines the other two. */
const builtModules = '^src/(archive/report/page-assets|storage/s3/aws-sdk|client/traces/opentelemetry-sdk)\\.ts$';

module.exports = {
  forbidden: [
    forbid('no-cycles', 'A cycle has no layer and no order of initialization', {}, { circular: true }),
    forbid('no-unresolved', 'It would fail when it is loaded', {}, { couldNotResolve: true }),

    only('core-imports-nothing', 'Pure and deterministic', folder('core'), []),
    only('money-imports-only-core', 'Pure and deterministic', folder('money'), [folder('core')]),
    only('contract-imports-only-pure-code-and-message-definitions', 'It outlives every process', folder('contract'), [
      folder('core|money|archive'),
      temporal('common'),
      'node_modules/(@noble/hashes|valibot)/',
    ]),
    forbid(
      'contract-imports-the-archive-as-types',
      'Workflows load the contract; the files of the archive are read outside of them',
      { path: folder('contract') },
      { path: folder('archive'), dependencyTypesNot: ['type-only'] },
    ),
    only('workflows-import-only-pure-code', 'Everything here is replayed', folder('workflows'), [
      folder('core|money|contract'),
      temporal('workflow|common'),
      'node_modules/valibot/',
      '^src/activities/index\\.ts$',
    ]),
    forbid(
      'workflows-import-activities-as-types',
      'An activity imported as code would run I/O in the workflow sandbox',
      { path: folder('workflows') },
      { path: folder('activities'), dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'workflows-are-loaded-by-path',
      'Workflow code runs in the bundle that the worker loads, and nowhere else',
      { path: '^src/', pathNot: folder('workflows') },
      { path: folder('workflows'), dependencyTypesNot: ['type-only'] },
    ),

    forbid(
      'archive-and-rows-know-no-temporal',
      'A file of the archive can be read, and a row file checked, where there is no Temporal',
      { path: folder('archive|rows') },
      { path: 'node_modules/@temporalio/', reachable: true },
    ),
    only(
      'report-imports-no-storage',
      'A page is made of what the archive’s files say, wherever they come from',
      '^src/archive/report/',
      [folder('core|money|contract'), '^src/archive/[^/]+$'],
      libraries,
    ),
    forbid(
      'report-page-imports-of-src-only-what-a-browser-runs',
      'It is bundled for a browser: money is pure, the form of the data is types',
      { path: '^report-page/' },
      { path: '^src/', pathNot: ['^src/money/money\\.ts$', '^src/archive/report/report-data\\.ts$'] },
    ),
    forbid(
      'service-and-storage-know-no-temporal',
      'A client of the service needs no Temporal, and an archive outlives it',
      { path: folder('service|storage') },
      { path: 'node_modules/@temporalio/' },
    ),
    only(
      'service-imports-only-core-and-storage',
      'A client of one service; storage is where it uploads to',
      folder('service'),
      [folder('core|storage')],
      libraries,
    ),
    forbid(
      'service-loads-no-storage-client-until-it-uploads',
      'The AWS SDK is heavy: by import(), in the methods that need it',
      { path: '^src/service/(?!(file-upload|upload-credentials)\\.ts)' },
      {
        path: folder('storage'),
        pathNot: '^src/storage/(errors|connections)\\.ts$',
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    ),
    forbid(
      'connections-are-opened-in-one-place',
      'With one set of limits, every address of a host, and a user agent; other parts take what it opens',
      { path: '^src/', pathNot: ['^src/storage/connections\\.ts$', '^src/service/exchange\\.ts$'] },
      { path: 'node_modules/undici/', dependencyTypesNot: ['type-only'] },
    ),
    only('storage-imports-only-core', 'Bytes, from and to', folder('storage'), [folder('core')], libraries),
    only(
      'rows-import-only-core-and-contract',
      'From a row file to inputs of tasks: of use to the command line, a backend and an activity',
      folder('rows'),
      [folder('core|money|contract')],
      libraries,
    ),
    only(
      'activities-import-only-what-they-act-on',
      'What they need is given to them by the composition root',
      folder('activities'),
      [folder('archive|contract|core|money|rows|service|storage')],
      libraries,
    ),
    forbid(
      'activities-know-no-workflow-worker-or-client',
      'An activity runs in any worker; only the workflow decides what comes next',
      { path: folder('activities') },
      { path: temporal('workflow|worker|client|testing') },
    ),
    only(
      'client-imports-no-worker-side',
      'A backend that starts tasks loads neither the service client nor the storage',
      folder('client'),
      [folder('archive|config|contract|core|money')],
      libraries,
    ),
    forbid(
      'client-reaches-no-worker-side',
      'Nor by a detour: the AWS SDK and the worker are heavy, and a backend needs neither',
      { path: [folder('client'), '^src/index\\.ts$'] },
      {
        path: [folder('workflows|activities|service|storage'), temporal('worker|workflow'), '/@aws-sdk/'],
        reachable: true,
      },
    ),
    only(
      'servers-import-only-what-they-need',
      'A receiver faces the internet: it has no key of the service, and no way to the archive',
      folder('servers'),
      [folder('config|contract|core'), '^src/client/codec/payload-cipher\\.ts$'],
      libraries,
    ),
    forbid(
      'servers-know-of-temporal-only-the-client',
      'A receiver signals, and runs nothing',
      { path: folder('servers') },
      { path: temporal('workflow|worker|activity|testing') },
    ),
    forbid(
      'receiver-reaches-no-worker-side',
      'Nor by a detour: what it does not load, nobody can reach through it',
      { path: ['^src/receiver\\.ts$', folder('servers')] },
      { path: [folder('workflows|activities|service|storage'), temporal('worker'), '/@aws-sdk/'], reachable: true },
    ),
    only(
      'codec-imports-only-what-a-payload-needs',
      'A backend’s client loads it, and a server that has nothing but keys',
      '^src/client/codec/',
      [folder('config|contract|core')],
      libraries,
    ),
    forbid(
      'codec-knows-of-temporal-only-payloads',
      'Clients and workers take their data converter from it, and not the other way round',
      { path: '^src/client/codec/' },
      { path: temporal('workflow|worker|client|activity|testing') },
    ),
    only(
      'reconcile-imports-only-whom-it-asks',
      'It compares what others know; of what a worker does it settles create records',
      folder('reconcile'),
      [folder('archive|client|contract|core|money|service|storage'), '^src/activities/create-record\\.ts$'],
      libraries,
    ),
    only(
      'archive-imports-only-what-an-archive-holds',
      'What an archive has of tasks and batches, read from the archive alone: no Temporal and no service',
      folder('archive'),
      [folder('contract|core|money|storage')],
      libraries,
    ),
    forbid(
      'only-traces-know-opentelemetry',
      'Without traces nothing of it is loaded: the modules there are loaded on demand',
      { path: '^src/', pathNot: traces },
      { path: 'node_modules/@opentelemetry/' },
    ),
    forbid(
      'traces-are-loaded-on-demand',
      'By import(), and only where traces are on',
      { path: '^src/', pathNot: traces },
      { path: traces, dependencyTypesNot: ['type-only', 'dynamic-import'] },
    ),
    only('worker-imports-no-command', 'The entry composes it', folder('worker'), [partsOfWorker], libraries),
    only('config-imports-only-core', 'It reads the environment', folder('config'), [folder('core|money')], libraries),
    forbid(
      'only-config-reads-the-environment',
      'eslint sees to process.env itself, this to the modules that hand it out',
      { path: '^src/', pathNot: folder('config') },
      { path: ['^(node:)?process$', temporal('envconfig')] },
    ),

    forbid(
      'entries-are-imported-by-nothing',
      'but the command that runs one, and those that share the classes of index',
      { path: '^src/', pathNot: [folder('commands'), '^src/(operator|testing)\\.ts$'] },
      { path: entries },
    ),
    only(
      'commands-import-no-workflow-or-activity',
      'What a person asks for is done by the library, or by the worker or receiver that is run',
      folder('commands'),
      [folder('archive|client|config|contract|core|money|reconcile|rows|servers|service|storage|worker'), entries],
      libraries,
    ),
    forbid(
      'commands-import-no-entry-but-those-they-run',
      'The command line runs a worker or a receiver; it is not a user of the library',
      { path: folder('commands') },
      { path: entries, pathNot: '^src/(worker|receiver|replay)\\.ts$' },
    ),
    forbid('programs-are-imported-by-nothing', 'Loading one starts it', {}, { path: programs }),

    forbid(
      'src-imports-no-development-part',
      'It is not installed where src runs',
      { path: '^src/' },
      { path: '^(reference-service|tools|test|bench|examples)/' },
    ),
    forbid(
      'reference-service-imports-nothing-of-src',
      'A mistake shared by both sides of the contract could not be found',
      { path: '^reference-service/' },
      { path: '^src/' },
    ),
    forbid(
      'reference-service-imports-tools-only-to-run-alone',
      'Its storage is given to it',
      { path: '^reference-service/', pathNot: '^reference-service/main\\.ts$' },
      { path: '^tools/' },
    ),
    forbid('nothing-but-tests-imports-tests', 'It may break without notice', { pathNot: '^test/' }, { path: '^test/' }),
    forbid(
      'examples-import-only-the-public-library',
      'An example shows what a reader can write',
      { path: '^examples/' },
      { path: '^(src|reference-service|tools)/', pathNot: '^src/(index|files|row-files|service/index)\\.ts$' },
    ),
    forbid(
      'no-development-dependency-in-src',
      'It is not installed where src runs; the build inlines some, and bundles the page of a report where there is no build',
      { path: '^src/', pathNot: builtModules },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    forbid('no-undeclared-dependency', 'There by chance', {}, { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
