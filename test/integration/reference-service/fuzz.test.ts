import fc from 'fast-check';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { startService } from '../../support/start-reference-service';
import { PlainClient } from './plain-client';

const RUNS = { numRuns: 150 };
const CREATE = '/w/v1/webapp/task/openapi/create';

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService({ queueLimit: 100_000 });
  client = new PlainClient(service);
});

afterAll(() => service.stop());

const anyKey = fc.oneof(
  fc.string(),
  fc.constantFrom('2:Wait.seconds', '1:EmptyImage.width', '1:EmptyImage.color', '__proto__', '2:Wait.__proto__', ':.'),
);
const anyValue = fc.oneof(fc.jsonValue(), fc.string(), fc.double(), fc.constantFrom('0', '1e3', 'NaN', '-1'));

describe('whatever a caller sends', () => {
  it('in the input values of a create, the answer is a 202 or a refusal in an envelope', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(anyKey, anyValue), async (inputValues) => {
        const { status, body } = await client.create({ web_app_id: 5, input_values: inputValues });

        expect([202, 400]).toContain(status);
        expect(body).toMatchObject(status === 202 ? {} : { code: 20015, status: false, data: null });
      }),
      RUNS,
    );
  });

  it('as the body of a create or commit, the answer is one of the documented', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(CREATE, '/x/v1/input_resource/commit'),
        fc.oneof(fc.json(), fc.string()),
        async (path, body) => {
          const response = await fetch(`${service.url}${path}`, {
            method: 'POST',
            headers: {
              Authorization: `Bearer ${service.apiKey}`,
              'Content-Type': 'application/json',
              'X-Svc-Task-Async': 'enable',
            },
            body,
          });

          expect([202, 400, 404]).toContain(response.status);
        },
      ),
      RUNS,
    );
  });

  it('in a query, the answer is one of the documented', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          ['/x/v1/upload/token', 'file_name'],
          ['/x/v1/input_resource', 'page_size'],
          ['/x/v1/input_resource', 'ext'],
          ['/w/v1/webapp/task/openapi/detail', 'requestId'],
        ),
        fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 3 }),
        async ([path, name], values) => {
          const query = values.map((value) => `${name}=${encodeURIComponent(value)}`).join('&');
          const { status } = await client.ask('GET', `${path}?${query}&file_type=inputs`);

          expect([200, 400, 404]).toContain(status);
        },
      ),
      RUNS,
    );
  });

  it('as a scenario, the answer is one that a scenario can give', async () => {
    const header = fc.array(fc.stringMatching(/^[a-z:;=,]{0,12}$/), { maxLength: 3 }).map((parts) => parts.join(','));
    await fc.assert(
      fc.asyncProperty(header, async (scenario) => {
        const { status } = await client.ask('GET', '/x/v1/user/metadata', undefined, {
          'X-Reference-Scenario': scenario,
        });

        expect([200, 400]).toContain(status);
      }),
      RUNS,
    );
  });
});
