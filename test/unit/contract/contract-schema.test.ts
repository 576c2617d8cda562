import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseBatchInput } from '../../../src/contract/batch/parse-batch-input';
import * as batchMessages from '../../../src/contract/batch/batch-messages';
import type { BatchFailureType, TaskFailureType } from '../../../src/contract/failure-details';
import { failureTypes, type FailureType } from '../../../src/contract/failure-types';
import { parseTaskInput } from '../../../src/contract/parse-task-input';
import * as taskMessages from '../../../src/contract/task-messages';
import { contractSchemaFile, makeContractSchema } from '../../../tools/contract-schema';
import { contractSchema, schemaProblems } from '../../support/contract-schema';

/** The properties that a schema names, in alphabetical order. */
function propertiesOf(...path: readonly string[]): string[] {
  const found = path.reduce<unknown>(
    (node, name) => (node as { properties: Record<string, unknown> }).properties[name],
    contractSchema.definitions['Contract'],
  );
  return Object.keys((found as { properties: object }).properties).sort();
}

function namesOf(kind: 'signal' | 'query' | 'update', messages: object): string[] {
  const definitions = Object.values(messages) as { readonly type: string; readonly name: string }[];
  return definitions.flatMap(({ type, name }) => (type === kind ? [name] : [])).sort();
}

function failureTypesOf(definition: string): string[] {
  const { anyOf } = contractSchema.definitions[definition] as {
    anyOf: { properties: { type: { const: string } } }[];
  };
  return anyOf.map(({ properties }) => properties.type.const);
}

describe('docs/reference/contract.schema.json', () => {
  it('is what the types say: npm run contract:schema', () => {
    expect(readFileSync(contractSchemaFile, 'utf8')).toBe(makeContractSchema());
  });

  it('has every signal, query and update of the workflows', () => {
    expect(propertiesOf('task', 'signals')).toEqual(namesOf('signal', taskMessages));
    expect(propertiesOf('task', 'queries')).toEqual(namesOf('query', taskMessages));
    expect(propertiesOf('task', 'updates')).toEqual(namesOf('update', taskMessages));
    expect(propertiesOf('batch', 'queries')).toEqual(namesOf('query', batchMessages));
    expect(propertiesOf('batch', 'updates')).toEqual(namesOf('update', batchMessages));
    expect(namesOf('signal', batchMessages)).toEqual([]);
  });

  it('has the failures that docs/reference/contract.md says can end a task, and a batch', () => {
    const page = readFileSync(join(__dirname, '../../../docs/reference/contract.md'), 'utf8');
    const listed = (what: string): string[] => {
      const [, types = ''] = new RegExp(`^\\| ${what} +\\| (.*) \\|$`, 'm').exec(page) ?? [];
      return [...types.matchAll(/`(\w+)`/g)].map(([, type = '']) => type);
    };
    const [ofTasks, ofBatches] = [failureTypesOf('TaskFailure'), failureTypesOf('BatchFailure')];
    expect(listed('task').sort()).toEqual(ofTasks.sort());
    expect(listed('batch').sort()).toEqual(ofBatches.sort());
    const others = Object.keys(failureTypes).filter((type) => ![...ofTasks, ...ofBatches].includes(type));
    expect(listed('neither: it is tried again')).toEqual(others);
  });

  it('has failures of the durable types only', () => {
    const ofTasks: readonly FailureType[] = failureTypesOf('TaskFailure') as TaskFailureType[];
    const ofBatches: readonly FailureType[] = failureTypesOf('BatchFailure') as BatchFailureType[];
    expect(Object.keys(failureTypes)).toEqual(expect.arrayContaining([...ofTasks, ...ofBatches]));
  });
});

const duration = fc.oneof(fc.constantFrom('90 seconds', '12h', '500ms'), fc.integer({ min: 1, max: 1_000_000 }));
const word = fc.stringMatching(/^[A-Za-z0-9._-]{1,80}$/);
const key = fc.stringMatching(/^[0-9]{1,4}:[A-Za-z][A-Za-z .:]{0,20}[.][a-z_]{1,10}$/);
const count = fc.integer({ min: 1, max: 1_000 });
const value = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.record(
    {
      file: fc.stringMatching(/^[a-z/]{1,20}[.]png$/),
      as: fc.constantFrom('url' as const, 'name' as const, 'id' as const),
    },
    { requiredKeys: ['file'] },
  ),
);
const common = {
  account: word,
  archive: fc.constantFrom('', 'campaign 7/Entwürfe'),
  watch: fc.constantFrom('timer', 'activity'),
  deadlines: fc.record({ queue: duration, run: duration, total: duration }, { requiredKeys: [] }),
  createNumber: count,
  tuning: fc.record({ poll: fc.constant({ minMs: 5, maxMs: 9 }), retryMaxMs: count }, { requiredKeys: [] }),
};
const newTask = fc.record(
  {
    ...{ webAppId: count, inputs: fc.dictionary(key, value), ...common },
    suppressPreviewOutput: fc.boolean(),
    onUncertain: fc.constantFrom('hold', 'fail', 'recreate'),
    uncertainWait: duration,
  },
  { requiredKeys: ['webAppId', 'inputs'] },
);
const adoptedTask = fc.record(
  { adopt: fc.record({ requestId: fc.uuid() }), webAppId: count, ...common },
  { requiredKeys: ['adopt'] },
);
const batch = fc.record(
  {
    id: word.filter((id) => !id.startsWith('.')),
    rows: fc.record({
      location: fc.constant('s3://rows/photos.jsonl'),
      digest: fc.stringMatching(/^[0-9a-f]{64}$/),
      rows: fc.nat(),
      pages: fc.nat(),
    }),
    ...{ source: fc.constant('photos.csv'), badRows: fc.nat(), names: fc.constant('{batch}/{key}-{index}{ext}') },
    ...{ archive: fc.constant('campaign-7'), watch: common.watch, retryFailed: fc.boolean() },
    concurrency: fc.integer({ min: 1, max: 500 }),
    ...{
      attempts: fc.integer({ min: 1, max: 10 }),
      budget: fc.constant('20EUR'),
      allowChanged: fc.boolean(),
      allowNew: fc.boolean(),
    },
  },
  { requiredKeys: ['id', 'rows'] },
);

describe('the schema of what a workflow is started with', () => {
  it('takes every input that the workflow takes', () => {
    fc.assert(
      fc.property(fc.oneof(newTask, adoptedTask), (input) => {
        const { problems } = parseTaskInput(input);
        // Any text may happen to be a signed link.
        fc.pre(problems === undefined);
        expect(schemaProblems('TaskInput', input)).toBe('');
      }),
    );
    fc.assert(
      fc.property(batch, (input) => {
        fc.pre(parseBatchInput(input).problems === undefined);
        expect(schemaProblems('BatchInput', input)).toBe('');
      }),
    );
  });

  const task = { webAppId: 7, inputs: { '2:ImageScale.width': 512 } };
  it.each<[string, unknown]>([
    ['no app', { inputs: {} }],
    ['an app as text', { ...task, webAppId: '7' }],
    ['half an app', { ...task, webAppId: 1.5 }],
    ['inputs as a list', { ...task, inputs: [] }],
    ['a flag as an input', { ...task, inputs: { '1:A.b': true } }],
    ['an input that is null', { ...task, inputs: { '1:A.b': null } }],
    ['a key without a class', { ...task, inputs: { width: 512 } }],
    ['an unknown field', { ...task, webappId: 7 }],
    ['an unknown deadline', { ...task, deadlines: { totals: '2h' } }],
    ['null for a field that is left out', { ...task, account: null }],
    ['an account with a space', { ...task, account: 'a b' }],
    ['an unknown policy', { ...task, onUncertain: 'wait' }],
    ['a create and an adoption', { ...task, adopt: { requestId: 'x' } }],
    ['a request id with a space', { adopt: { requestId: 'a b' } }],
    ['a request id alone', { adopt: 'x' }],
  ])('refuses %s, as the workflow of a task does', (_what, input) => {
    expect(schemaProblems('TaskInput', input, 'contract')).not.toBe('');
    expect(parseTaskInput(input).problems).toBeDefined();
  });

  const rows = { location: '/srv/photos.jsonl', digest: 'd', rows: 3, pages: 1 };
  it.each<[string, unknown]>([
    ['no rows', { id: 'photos' }],
    ['an id that hides its folder', { id: '.photos', rows }],
    ['too many rows at a time', { id: 'photos', rows, concurrency: 501 }],
    ['no attempt', { id: 'photos', rows, attempts: 0 }],
    ['a budget as a number', { id: 'photos', rows, budget: 20 }],
    ['a digest that leads out', { id: 'photos', rows: { ...rows, digest: '../x' } }],
  ])('refuses %s, as the workflow of a batch does', (_what, input) => {
    expect(schemaProblems('BatchInput', input, 'contract')).not.toBe('');
    expect(parseBatchInput(input).problems).toBeDefined();
  });
});
