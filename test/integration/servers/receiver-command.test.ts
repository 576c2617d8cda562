import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { longhaulCommand } from '../../support/product-build';
import { serverEnvironment } from '../../../tools/start-server';
import { supervise } from '../../../tools/supervise';
import { eventually } from '../../support/eventually';
import { runLonghaul } from '../../support/run-longhaul';

const token = 'token-of-the-callback-receiver';

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    ...serverEnvironment(),
    TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'],
    LONGHAUL_CALLBACK_URL: 'http://127.0.0.1/callback',
    LONGHAUL_CALLBACK_TOKEN: token,
    LONGHAUL_CALLBACK_PORT: '0',
    ...more,
  };
}

describe('longhaul receiver', () => {
  it('listens, tells its health, and stops gracefully with 0 at SIGTERM', async () => {
    const root = join(__dirname, '../../..');
    const receiver = await supervise({ ...longhaulCommand(['receiver']), env: environment(), cwd: root });
    try {
      const started = await eventually(() => /\{.*"msg":"receiver started".*\}/.exec(receiver.output()), {
        withinMs: 60_000,
        what: 'the receiver to start',
      });
      const { port, path, encryptsWith } = JSON.parse(started?.[0] ?? '') as Record<string, unknown>;
      expect([path, encryptsWith]).toEqual(['/callback', null]);
      expect((await fetch(`http://127.0.0.1:${String(port)}/health`)).status).toBe(200);
      expect((await fetch(`http://127.0.0.1:${String(port)}${String(path)}`, { method: 'POST' })).status).toBe(401);
    } finally {
      await receiver.stop();
    }
    expect(await receiver.ended).toEqual({ code: 0, signal: null });
    expect(receiver.output()).toContain('"msg":"receiver stopped"');
    expect(receiver.output()).not.toContain(token);
  });

  it.each([
    ['where Temporal does not answer', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, '127.0.0.1:1'],
    ['in a namespace that does not exist', { TEMPORAL_NAMESPACE: 'nowhere' }, 'no namespace "nowhere"'],
  ])('does not start %s, and says so', async (_where, env, words) => {
    const { exitCode, stderr } = await runLonghaul(['receiver'], environment(env));
    expect(exitCode).toBe(6);
    expect(stderr).toContain(words);
  });

  it('does not start on a port that is taken, and says so', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, resolve));
    const port = String((other.address() as AddressInfo).port);
    const { exitCode, stderr } = await runLonghaul(['receiver'], environment({ LONGHAUL_CALLBACK_PORT: port }));
    await new Promise((resolve) => other.close(resolve));

    expect(exitCode).toBe(2);
    expect(stderr).toMatch(new RegExp(`LONGHAUL_CALLBACK_PORT is ${port}, which cannot be listened on .EADDRINUSE.`));
  });
});
