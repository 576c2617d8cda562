import { once } from 'node:events';
import { renameSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';

/** The path at which the S3 server looks for its IAM service. */
export interface IamLink {
  readonly path: string;
  /** Leads the path to the real service, from now on whenever that is served. */
  pointToService(): void;
  /** Ends what answered in the service's place. */
  close(): Promise<void>;
}

/**
 * A path in the folder that leads to the socket of the IAM service, which may be served already or later on. The S3
 * server does not listen, nor end, for half a minute if nobody answers there at its start; so until it is up somebody
 * says "not yet", and it goes on: it asks the service anew on every request. A link also makes the path a short one,
 * whatever folder the socket is in.
 */
export async function createIamLink(folder: string, iamSocket: string): Promise<IamLink> {
  const path = join(folder, 'iam');
  const service = resolve(iamSocket);
  if (await isServed(service)) {
    symlinkSync(service, path);
    return { path, pointToService: () => undefined, close: () => Promise.resolve() };
  }
  const placeholder = createServer((_request, response) => {
    response.writeHead(503, { 'X-Vgw-Private-Protocol': '1', Connection: 'close' }).end();
  });
  const placeholderSocket = join(folder, 'iam-not-yet');
  await once(placeholder.listen(placeholderSocket), 'listening');
  symlinkSync(placeholderSocket, path);
  return {
    path,
    pointToService: () => {
      const next = join(folder, 'iam-next');
      symlinkSync(service, next);
      renameSync(next, path);
    },
    close: async () => {
      await once(placeholder.close(), 'close');
    },
  };
}

async function isServed(socket: string): Promise<boolean> {
  const connection = connect(socket);
  try {
    await once(connection, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}
