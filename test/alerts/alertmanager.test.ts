import { join } from 'node:path';
import { findAlertmanager } from '../../tools/find-debian-program';
import { freePorts } from '../../tools/free-port';
import { supervise, type SupervisedProcess } from '../../tools/supervise';
import { eventually } from '../support/eventually';
import { temporaryFolder } from '../support/temporary-folder';
import { drills } from './drills';

const startUpMs = 600_000;
const config = join(__dirname, '../../deploy/prometheus/alertmanager.yml');
const folder = temporaryFolder();
let url: string;
let server: SupervisedProcess;
beforeAll(async () => {
  const command = await findAlertmanager();
  const address = `127.0.0.1:${String((await freePorts(1))[0])}`;
  const listen = [`--web.listen-address=${address}`, '--cluster.listen-address='];
  const args = [`--config.file=${config}`, `--storage.path=${folder.path}`, ...listen];
  server = await supervise({ command, args });
  url = `http://${address}`;
  await eventually(async () => (await fetch(`${url}/-/ready`)).ok, { what: 'Alertmanager' });
}, startUpMs);
afterAll(async () => {
  await server.stop();
  folder.remove();
});

interface SentAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly state: 'active' | 'suppressed' | 'unprocessed' };
}
type Alert = readonly [name: string, labels?: Readonly<Record<string, string>>];

async function post(alerts: readonly Alert[], endsAt?: Date): Promise<void> {
  const body = alerts.map(([alertname, more]) => ({ labels: { alertname, ...more }, endsAt }));
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function known(): Promise<readonly SentAlert[]> {
  return (await (await fetch(`${url}/api/v2/alerts`)).json()) as SentAlert[];
}

/** Lets all of a night fire, which no other test's do, and ends `ending` once Alertmanager sends what it should. */
async function drill(
  night: string,
  alerts: readonly Alert[],
  check: (sent: string[]) => void,
  ending = alerts,
): Promise<void> {
  await post(alerts);
  const isSent = async (): Promise<boolean> => {
    const all = await known();
    expect(all.filter(({ status }) => status.state !== 'unprocessed')).toHaveLength(alerts.length);
    const sent = all.filter(({ status }) => status.state === 'active');
    // What one inhibits is active for a moment after it came.
    check(sent.map(({ labels }) => labels['alertname'] ?? '').sort());
    return true;
  };
  await eventually(isSent, { what: `the alerts of ${night}` });
  await post(ending, new Date());
  const left = alerts.length - ending.length;
  await eventually(async () => (await known()).length === left, { what: `the end of ${night}` });
}

const studio = { account: 'studio' };
const archive = { part: 'archive', instance: 'w1' };
const temporal = { part: 'temporal', instance: 'w1' };
const nights: readonly (readonly [cause: string, sent: readonly string[], alerts: readonly Alert[]])[] = [
  [
    'workers that are dead',
    ['LonghaulQueueWithoutWorkers'],
    [['LonghaulQueueWithoutWorkers'], ['LonghaulProcessGone', { instance: 'w1' }], ['LonghaulSweepLate']],
  ],
  [
    'a bucket that refuses writes',
    ['LonghaulDecisionNeeded', 'LonghaulNotReady'],
    [
      ['LonghaulNotReady', archive],
      ['LonghaulResultsExpire', studio],
      ['LonghaulDecisionNeeded', { status: 'ArchiveIncomplete' }],
      ['LonghaulDecisionNeeded', { status: 'CreateUncertain' }],
    ],
  ],
  [
    'a service that fails, and another account whose tasks fail',
    ['LonghaulCreatesRefused', 'LonghaulTasksFail'],
    [
      ['LonghaulCreatesRefused', studio],
      ['LonghaulTasksFail', studio],
      ['LonghaulTasksFail', { account: 'other' }],
      ['LonghaulRowsLate'],
      ['LonghaulSlotsExhausted'],
    ],
  ],
  [
    'Temporal, which is away',
    ['LonghaulNotReady'],
    [['LonghaulNotReady', temporal], ['LonghaulTemporalRefuses'], ['LonghaulWorkflowTasksTimeOut']],
  ],
  [
    'a deploy that does not fit',
    ['LonghaulWorkflowTasksFail'],
    [['LonghaulWorkflowTasksFail'], ['LonghaulWorkflowTasksWait'], ['LonghaulRowsLate']],
  ],
];

describe('Alertmanager, with the rules of the example', () => {
  it('tells of a cause alone, and of another cause, too', async () => {
    for (const [cause, names, alerts] of nights) {
      await drill(cause, alerts, (sent) => {
        expect(sent).toEqual(names);
      });
    }
  });

  it('tells of what followed once its cause is over', async () => {
    const [follows, cause] = [['LonghaulResultsExpire', studio] as const, ['LonghaulNotReady', archive] as const];
    const all = (sent: string[]): void => {
      expect(sent).toEqual(['LonghaulNotReady']);
    };
    await drill('an archive that is away', [follows, cause], all, [cause]);
    await drill('an archive that is back', [follows], (sent) => {
      expect(sent).toEqual(['LonghaulResultsExpire']);
    });
  });

  it('leaves no alert of a night without one that is sent', async () => {
    for (const { name, alerts } of drills.filter((one) => one.alerts.length > 0)) {
      const all = alerts.map((alert): Alert => [alert, { ...studio, ...archive, status: 'CreateUncertain' }]);
      await drill(name, all, (sent) => {
        expect(sent).not.toEqual([]);
      });
    }
  });
});
