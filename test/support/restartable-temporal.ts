import { join } from 'node:path';
import { lastingPorts } from '../../tools/free-port';
import { onFreshPorts, serverEnvironment } from '../../tools/start-server';
import { startTemporal, type TemporalServer } from '../../tools/temporal-server';
import { temporaryFolder } from './temporary-folder';

/** A Temporal server of the suite's own, kept in a file, so that it can be killed and goes on where it was. */
export class RestartableTemporal {
  readonly #folder: ReturnType<typeof temporaryFolder>;
  #server: TemporalServer;

  private constructor(folder: ReturnType<typeof temporaryFolder>, server: TemporalServer) {
    this.#folder = folder;
    this.#server = server;
  }

  static async start(): Promise<RestartableTemporal> {
    const folder = temporaryFolder();
    const server = await onFreshPorts(async () => {
      const [port = 0, uiPort = 0] = await lastingPorts(2);
      return await startTemporal({ ...optionsIn(folder.path), port, uiPort });
    });
    return new RestartableTemporal(folder, server);
  }

  /** The same before and after. */
  get address(): string {
    return this.#server.address;
  }

  /** Number of the server's process; another one after each start. */
  get pid(): number {
    return this.#server.pid ?? 0;
  }

  /** SIGKILL, and nobody is told. */
  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await this.#server.stop();
  }

  /** Starts it again where it was, with what it had kept. */
  async startAgain(): Promise<void> {
    const portOf = (url: string): number => Number(url.split(':').at(-1));
    const ports = { port: portOf(this.#server.address), uiPort: portOf(this.#server.uiUrl ?? '') };
    this.#server = await onFreshPorts(() => startTemporal({ ...optionsIn(this.#folder.path), ...ports }));
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    this.#folder.remove();
  }
}

function optionsIn(folder: string): Parameters<typeof startTemporal>[0] {
  // Whatever server the user's shell points to is not this suite's to kill.
  const env = { ...serverEnvironment(), LONGHAUL_TOOLS: process.env['LONGHAUL_TOOLS'] };
  return { env, dataFile: join(folder, 'temporal.db'), shortTimers: true };
}
