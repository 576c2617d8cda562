import { parse } from 'csv-parse/sync';
import { readFile } from 'node:fs/promises';
import type { RowRecord } from '../../../../src/contract/batch/batch-rows';
import { parseRowTemplate } from '../../../../src/rows';
import { endedRow, jsonLines, RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

const failed: Partial<RowRecord> = {
  ...{ status: 'Failed', outputs: [], outputCount: 0, outputBytes: 0, manifest: null },
};

describe('the report of a batch', () => {
  it('names the columns of the sheet in failures that name the inputs which a template makes of them', async () => {
    const inputs = { '2:ImageScale.width': '{width}', '21:ImageScale.width': 'x', '3:Text.text': '{a} of {b}' };
    const template = parseRowTemplate(JSON.stringify({ webAppId: 5, key: '{name}', inputs }));
    const words = [
      ['input_values["2:ImageScale.width"]: must be a number', ' (column "width")'],
      ['node 3 (Text): out of memory', ' (columns "a", "b")'],
      ['inputs["3:Text.text", "2:ImageScale.width"]: refused', ' (columns "width", "a", "b")'],
      ['input_values["21:ImageScale.width"]: must be a number', ''],
      ['node 13 (Text): out of memory', ''],
    ] as const;
    const sheet = words.map((_, index) => `k${index};5;u;v\n`).join('');
    const [reference, rows] = await batch.prepare('sheet.csv', `name;width;a;b\n${sheet}`, {
      delimiter: ';',
      template,
    });
    await batch.open(reference);
    const failures = words.map(([message], index) =>
      endedRow(rows[index]!, 0, { ...failed, failure: { type: 'TaskRejected', message } }),
    );
    await batch.record(reference.digest, failures);

    const { unsuccessful, jsonl, csv } = await batch.report(reference);

    const named = words.map(([message, columns]) => `${message}${columns}`);
    expect(unsuccessful.map(({ message }) => message)).toEqual(named);
    expect((await jsonLines(jsonl)).map((line) => (line as { failure: object }).failure)).toMatchObject(
      named.map((message) => ({ message })),
    );
    const table: Record<string, string>[] = parse(await readFile(csv, 'utf8'), { delimiter: ';', columns: true });
    expect(table.map((line) => line['failure'])).toEqual(named);
  });
});
