import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { startService } from '../../support/start-reference-service';
import { objectWith } from './matchers';
import { PlainClient } from './plain-client';

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService();
  client = new PlainClient(service);
});

afterAll(() => service.stop());

describe('the ledger', () => {
  it('has a line for every request, with what it was about and how it was answered', async () => {
    const requestId = await client.createTask(5, {}, { 'X-Svc-Task-Correlation': 'task:one' });
    await client.detail(requestId);
    await client.create({ web_app_id: 77, input_values: {} });

    expect(service.ledger.entries({ endpoint: 'create' })).toEqual([
      objectWith({ method: 'POST', requestId, webAppId: 5, correlation: 'task:one', status: 202 }),
      objectWith({ webAppId: 77, status: 404 }),
    ]);
    expect(service.ledger.count({ correlation: 'task:one' })).toBe(1);
    expect(service.ledger.entries({ requestId }).map(({ endpoint }) => endpoint)).toEqual(['create', 'detail']);
    expect(service.ledger.total('create')).toBe(2);
  });

  it('holds no secret', async () => {
    const token = await client.token('a.png');
    const picture = await client.upload('b.png', Buffer.from('bytes'));
    await client.createTask(
      5,
      {},
      {
        'X-Svc-Task-Authorization': 'Bearer callback-token',
        'X-Svc-Task-Correlation': 'task:two',
      },
    );
    const text = JSON.stringify(service.ledger.entries());

    expect(text).toContain(picture.objectKey);
    for (const secret of [service.apiKey, 'callback-token', 'Signature', ...Object.values(token.file).slice(1)]) {
      expect(text).not.toContain(secret);
    }
  });
});
