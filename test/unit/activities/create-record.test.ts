import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CreateRecordFile } from '../../../src/activities/create-record';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { type CreateEnd, parseCreateRecord } from '../../../src/archive/create-record';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const archive = new FolderArchive(folder.path);
const eur = { currency: 'EUR', micros: 7 };
afterAll(() => {
  folder.remove();
});

describe('a create record', () => {
  it('gives one of many claims at once the right to send', async () => {
    const claims = Array.from({ length: 20 }, () => new CreateRecordFile(archive, 'task:many', 1).claim());
    const won = (await Promise.all(claims)).filter(Boolean);
    expect(won).toHaveLength(1);
  });

  it('tells whoever comes later whether a callback was asked for, and the request id once it is known', async () => {
    const record = new CreateRecordFile(archive, 'task:called', 1, { callbackAsked: true });
    const later = new CreateRecordFile(archive, 'task:called', 1);
    expect(await later.find()).toBeUndefined();
    await record.claim();
    expect(await later.find()).toMatchObject({ outcome: 'uncertain', callbackAsked: true });
    expect(await later.claim()).toBe(false);
    await record.complete('r-1');
    expect(await later.find()).toEqual({ outcome: 'accepted', requestId: 'r-1' });
    expect(await later.claim()).toBe(false);
  });

  it('keeps how its task ended and what it cost beside all that it had, and no cost is lost again', async () => {
    const facts = { callbackAsked: true, createDigest: 'c', account: 'studio', webAppId: 5 };
    const record = new CreateRecordFile(archive, 'task:ended', 1, facts);
    const other = new CreateRecordFile(archive, 'task:ended', 1);
    const end = { status: 'Failed', createdAt: null, costTimes: { total_cost_time: 3 }, cost: eur } as const;
    await other.addEnd('r-1', end);
    expect(await archive.read(createRecordName('task:ended', 1))).toBeUndefined();

    await record.claim();
    await record.complete('r-1');
    const before = parseCreateRecord(await archive.read(createRecordName('task:ended', 1)));
    await other.addEnd('r-2', end);
    await other.addEnd('r-1', end);
    await other.addEnd('r-1', { ...end, cost: null });
    expect(parseCreateRecord(await archive.read(createRecordName('task:ended', 1)))).toEqual({ ...before, end });
    expect(before).toMatchObject({ ...facts, requestId: 'r-1' });
  });

  it('of an uncertain create is settled by the end of a task that the service created when it was sent, and by no other', async () => {
    const name = createRecordName('task:settled', 1);
    await new CreateRecordFile(archive, 'task:settled', 1, { account: 'studio' }).claim();
    const before = parseCreateRecord(await archive.read(name));
    const sentMs = Date.parse(String(before.sentAt));
    const endOf = (createdMs: number | null): CreateEnd => {
      const createdAt = createdMs === null ? null : new Date(createdMs).toISOString();
      return { status: 'Canceled', createdAt, costTimes: {}, cost: null };
    };
    const record = new CreateRecordFile(archive, 'task:settled', 1);
    await record.addEnd('r-unknown-when', endOf(null));
    await record.addEnd('r-long-before', endOf(sentMs - 3_600_000));
    await record.addEnd('r-the-day-after', endOf(sentMs + 86_400_000));
    expect(parseCreateRecord(await archive.read(name))).toEqual(before);

    await record.addEnd('r-1', endOf(sentMs + 2_000));
    await record.addEnd('r-2', endOf(sentMs + 1_000));
    expect(parseCreateRecord(await archive.read(name))).toEqual({
      ...before,
      requestId: 'r-1',
      end: endOf(sentMs + 2_000),
    });
  });

  it('of a create that is on its way is waited for: the one who comes second gets its answer', async () => {
    const first = new CreateRecordFile(archive, 'task:on-its-way', 1);
    await first.claim();
    const second = new CreateRecordFile(archive, 'task:on-its-way', 1).find(60_000);
    await first.complete('r-2');
    expect(await second).toEqual({ outcome: 'accepted', requestId: 'r-2' });
  });

  it('of a create that was refused meanwhile leaves the right to send to the one who comes second', async () => {
    const first = new CreateRecordFile(archive, 'task:refused', 1);
    await first.claim();
    const second = new CreateRecordFile(archive, 'task:refused', 1);
    const found = second.find(60_000);
    await first.release();
    expect(await found).toBeUndefined();
    expect(await second.claim()).toBe(true);
  });

  it('that was made and not written yet is one on its way, and no uncertain create', async () => {
    const name = createRecordName('task:begun', 1);
    const path = join(folder.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '');
    const found = new CreateRecordFile(archive, 'task:begun', 1).find(30_000);
    setImmediate(() => {
      void archive.replace(name, JSON.stringify({ workflowId: 'task:begun', createNumber: 1, requestId: 'r-1' }));
    });
    expect(await found).toEqual({ outcome: 'accepted', requestId: 'r-1' });
  });

  it.each([-3, 3])('of a worker whose clock is %i h off is waited for as any other', async (hours) => {
    const workflowId = `task:off-by-${hours}`;
    const sentAt = new Date(Date.now() + hours * 3_600_000).toISOString();
    const content = JSON.stringify({ workflowId, createNumber: 1, sentAt, requestId: null });
    await archive.putIfAbsent(createRecordName(workflowId, 1), content);
    const record = new CreateRecordFile(archive, workflowId, 1);
    expect(await record.find(300)).toMatchObject({ outcome: 'uncertain' });

    const found = record.find(60_000);
    await new CreateRecordFile(archive, workflowId, 1).addRequestId('r-1');
    expect(await found).toEqual({ outcome: 'accepted', requestId: 'r-1' });
  });

  it('whose claim was kept without an answer is ours for its maker, until it has an id, and for no other', async () => {
    const of = (maker: string): CreateRecordFile => new CreateRecordFile(archive, 'task:unheard', 1, { maker });
    await of('a').claim();
    expect(await of('b').claim()).toBe(false);
    expect(await of('a').claim()).toBe(true);
    await of('b').addRequestId('r-1');
    expect(await of('a').claim()).toBe(false);
  });

  it('that the archive neither gives nor lets anybody make is nobody’s, and proves no create', async () => {
    const path = archive.locate(createRecordName('task:nowhere', 1));
    await mkdir(dirname(path), { recursive: true });
    await symlink(join(folder.path, 'gone'), path);

    const record = new CreateRecordFile(archive, 'task:nowhere', 1);
    expect(await record.claim()).toBe(false);
    expect(await record.find(300)).toBeUndefined();
  });

  it('of another workflow is never taken for its own, on a file system that ignores case', async () => {
    const content = JSON.stringify({ workflowId: 'task:Order', createNumber: 1, requestId: 'of-another' });
    await archive.putIfAbsent(createRecordName('task:order', 1), content);
    await expect(new CreateRecordFile(archive, 'task:order', 1).find()).rejects.toMatchObject({
      nonRetryable: true,
      message: expect.stringMatching(/task:order is taken by task:Order.*another key/) as string,
    });
  });

  it('of another input is refused, whoever reads it, and kept whoever completes it', async () => {
    const of = (createDigest: string | undefined): CreateRecordFile => {
      return new CreateRecordFile(archive, 'task:changed', 1, { createDigest });
    };
    await of('a').claim();
    await of(undefined).addRequestId('r-3');

    const refusal = { nonRetryable: true, type: 'InputChanged' };
    await expect(of('b').find()).rejects.toMatchObject(refusal);
    expect(await of('a').find()).toEqual({ outcome: 'accepted', requestId: 'r-3' });
    expect(await of(undefined).find()).toEqual({ outcome: 'accepted', requestId: 'r-3' });
  });
});
