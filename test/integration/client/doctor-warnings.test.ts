import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { runCommandLine } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';
import { temporaryFolder } from '../../support/temporary-folder';
import { ClientEnvironment } from './client-environment';

let environment: ClientEnvironment;
const folder = temporaryFolder();
beforeAll(async () => {
  environment = await ClientEnvironment.open();
});
afterAll(async () => {
  await environment.close();
  folder.remove();
});

describe('what the doctor warns of', () => {
  it('is what a worker would log of its configuration, and nothing twice that commands read, too', async () => {
    const context = new FakeContext({
      TEMPORAL_ADDRESS: environment.address,
      LONGHAUL_SERVICE_URL: 'http://127.0.0.1:1',
      LONGHAUL_API_KEY: 'a-key',
      LONGHAUL_ARCHIVE: join(folder.path, 'archive'),
      LONGHAUL_ARCHIV: '/srv',
      NODE_EXTRA_CA_CERTS: join(folder.path, 'ca.pem'),
    });
    await runCommandLine(['doctor', '--task-queue', randomUUID()], context);

    const lines = context.stderr.text.split('\n').filter((line) => line.startsWith('warning: '));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('LONGHAUL_ARCHIV is ignored');
    expect(lines[1]).toMatch(/NODE_EXTRA_CA_CERTS is ".*ca\.pem".*ENOENT/);
  });
});
