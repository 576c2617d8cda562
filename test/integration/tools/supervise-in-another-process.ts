// Run by a test in a process of its own: supervises the server whose program is given and prints its pid. On Ctrl-C it
// stops the server in order, as the demo does, and prints all that the server said.
import { supervise } from '../../../tools/supervise';
import { eventually } from '../../support/eventually';

async function main(): Promise<void> {
  const server = await supervise({ command: process.execPath, args: ['-e', process.argv[2] ?? ''], graceMs: 2000 });
  process.once('SIGINT', () => {
    void server.stop().then(() => process.stdout.write(server.output()));
  });
  await eventually(() => server.output() === 'ready\n');
  process.stdout.write(`${server.pid}\n`);
}

void main();
