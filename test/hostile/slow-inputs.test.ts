import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import type { RunningTask } from '../support/task-environment';
import { photoFolder, TaskStack } from '../support/task-stack';
import { type RawServer, startRawServer } from '../support/start-raw-server';
import { temporaryFolder } from '../support/temporary-folder';

/** The reference service's app that hands a file back. */
const courier = 11;
/** More than a worker has slots for uploads. */
const slowInputs = 20;

const folder = temporaryFolder();
let dripping: RawServer;
let stack: TaskStack;
const slow: RunningTask[] = [];

beforeAll(async () => {
  dripping = await startRawServer({
    onFirstBytes: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 4_000);
      socket.once('close', () => {
        clearInterval(timer);
      });
    },
  });
  const accounts = join(folder.path, 'accounts.json');
  writeFileSync(accounts, JSON.stringify({ slow: { apiKeyFile: join(folder.path, 'key') } }));
  writeFileSync(join(folder.path, 'key'), 'key-of-the-slow');
  stack = await TaskStack.open({
    env: { LONGHAUL_INPUT_HOSTS: `127.0.0.1:${dripping.port}`, LONGHAUL_ACCOUNTS_FILE: accounts },
  });
});
afterAll(async () => {
  await Promise.all(slow.map((task) => task.terminate('the test is over')));
  await dripping.close();
  await stack.close();
  folder.remove();
});

it('inputs of a byte every four seconds keep neither the uploads of other accounts nor any archive waiting', async () => {
  const inputs = { '1:LoadFile.file': { file: `${dripping.url}/film.mp4` } };
  for (let count = 0; count < slowInputs; count += 1) {
    slow.push(await stack.start({ account: 'slow', webAppId: courier, inputs }));
  }
  await eventually(() => dripping.openCount() === 12, { what: 'the share to be used up' });

  const photo = { '1:LoadFile.file': { file: join(photoFolder, 'chelsea.png') } };
  const other = await stack.start({ webAppId: courier, inputs: photo });
  expect(await other.result()).toMatchObject({ status: 'Success' });
  expect(dripping.openCount()).toBe(12);
}, 90_000);
