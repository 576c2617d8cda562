import type { ServiceContext } from './service-context';
import { canReceive } from './target';

/**
 * Begins everything that takes long, at the same time, and waits for it. What goes wrong is told by the clauses that
 * look at it.
 */
export async function warmUp({ target, tasks, uploads }: ServiceContext): Promise<void> {
  const { linkLifetimeMs, credentialLifetimeMs } = target.pace;
  const journeys = [
    ...(target.mayUpload ? [uploads.all()] : []),
    ...(target.mayUpload && linkLifetimeMs !== undefined ? [uploads.downloadTooLate(linkLifetimeMs)] : []),
    ...(target.mayUpload && credentialLifetimeMs !== undefined ? [uploads.putTooLate(credentialLifetimeMs)] : []),
    ...(target.mayPay ? [tasks.synchronous(), tasks.statesAfterEnd(), tasks.canceled()] : []),
    ...(target.mayPay && linkLifetimeMs !== undefined ? [tasks.downloadTooLate()] : []),
    ...(target.mayPay && target.slowApp !== undefined ? [tasks.interrupted()] : []),
    ...(target.mayPay && target.failingApp !== undefined ? [tasks.failed()] : []),
    ...(target.mayPay && canReceive(target)
      ? [tasks.calledBack(), tasks.calledBackAgain(), tasks.calledBackInVain()]
      : []),
  ];
  await Promise.allSettled(journeys);
}
