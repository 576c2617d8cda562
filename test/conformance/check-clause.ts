import type { Clause, Need, OpenPoint } from './clause';
import type { ClientContext } from './client-context';
import type { Secrets } from './secrets';
import type { ServiceContext } from './service-context';
import { canReceive, type Target } from './target';
import { doesNotHold, NotCheckable, type Verdict } from './verdict';

const reasons: Readonly<Record<Need, (target: Target) => string | false>> = {
  paid: (target) => (!target.mayPay || target.app === undefined) && 'it takes a paid task: give --paid and --app',
  upload: (target) => !target.mayUpload && 'it takes an upload: leave out --no-upload',
  failingApp: (target) => target.failingApp === undefined && 'it takes an app that fails: give --failing-app',
  slowApp: (target) => target.slowApp === undefined && 'it takes an app that runs long: give --slow-app',
  inputFile: ({ app }) =>
    !Object.values(app?.inputs ?? {}).some((value) => typeof value === 'object') &&
    'it takes an app that loads a file: give --input KEY=@FILE',
  callbackReceiver: (target) => !canReceive(target) && 'the service cannot reach this machine: give --callback-url',
  otherBucket: ({ otherBucket }) =>
    otherBucket === undefined && 'no other bucket of the storage is known: give --other-bucket',
  linkLifetime: ({ pace }) =>
    pace.linkLifetimeMs === undefined && 'how long links work is not known: give --link-lifetime',
  credentialLifetime: ({ pace }) =>
    pace.credentialLifetimeMs === undefined && 'how long credentials work is not known: give --credential-lifetime',
};

/** Looks at a clause by plain HTTP; undefined where it binds only clients. */
export async function checkClause(clause: Clause, context: ServiceContext): Promise<Verdict | undefined> {
  const { check, needs = ['paid'] } = clause;
  return check && judge(() => check(context), needs, context);
}

/** Looks at a clause through the project's client; undefined where it has no part in it. */
export async function checkThroughClient(clause: Clause, context: ClientContext): Promise<Verdict | undefined> {
  const { checkThroughClient: check, needs = ['paid'] } = clause;
  return check && judge(() => check(context), needs, context);
}

/** What a service does where the specification is silent; undefined where that cannot be seen. */
export async function lookAtOpenPoint(point: OpenPoint, context: ServiceContext): Promise<string | undefined> {
  const { observe, needs = ['paid'] } = point;
  if (observe === undefined || missingNeed(needs, context.target) !== undefined) return undefined;
  try {
    return context.secrets.redact(await observe(context));
  } catch (error) {
    return context.secrets.redact(`could not be seen: ${messageOf(error)}`);
  }
}

async function judge(
  check: () => Promise<Verdict>,
  needs: readonly Need[],
  { target, secrets }: { readonly target: Target; readonly secrets: Secrets },
): Promise<Verdict> {
  const why = missingNeed(needs, target);
  if (why !== undefined) return { outcome: 'not checkable', why };
  try {
    const verdict = await check();
    return verdict.outcome === 'does not hold' ? doesNotHold(secrets.redact(verdict.seen)) : verdict;
  } catch (error) {
    const message = secrets.redact(messageOf(error));
    return error instanceof NotCheckable ? { outcome: 'not checkable', why: message } : doesNotHold(message);
  }
}

function missingNeed(needs: readonly Need[], target: Target): string | undefined {
  return needs.map((need) => reasons[need](target)).find((reason) => reason !== false);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'something was thrown that is no error';
}
