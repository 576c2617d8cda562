import type { JSX } from 'preact';
import type { ReportInput, ReportRow, TaskFacts } from '../src/report/report-data';
import { durationMs, stateNames } from './data';
import { Commands, Fact, Files, Identity } from './details';
import { formatBytes, formatCost, formatCount, formatDuration, formatTime } from './format';

interface TaskPageProps {
  readonly facts: TaskFacts;
  readonly row: ReportRow;
}

/** Everything about one task. */
export function TaskPage({ facts, row }: TaskPageProps): JSX.Element {
  const { remarks, commands, archive } = facts;
  return (
    <>
      <Head {...{ facts, row }} />
      <main>
        <Problem {...{ facts, row }} />
        {remarks.length > 0 && (
          <section class="section">
            <h2>Now</h2>
            <dl class="facts">
              {remarks.map(([name, text], index) => (
                <Fact name={name} key={index}>
                  {text}
                </Fact>
              ))}
            </dl>
          </section>
        )}
        <Outputs {...{ facts, row }} />
        <Inputs {...facts} />
        <Facts {...{ facts, row }} />
        <section class="section">
          <h2>Commands</h2>
          <Commands {...{ commands }} />
          <p class="quiet">
            The archive is <code>{archive}</code>.
          </p>
        </section>
      </main>
    </>
  );
}

function Head({ facts, row }: TaskPageProps): JSX.Element {
  const { task, status, madeAt } = facts;
  const { state, startedMs, queuedMs, fileCount, cost, requestId } = row;
  const made = Date.parse(madeAt);
  const isRunning = state === 'Running' && startedMs !== null;
  const takenMs = isRunning ? Math.max(0, made - startedMs) : durationMs(row);
  return (
    <header class="head">
      <h1>{task}</h1>
      <p class="quiet">
        Task{status !== null && `: ${status}`}
        {startedMs !== null && `, began ${formatTime(startedMs)}`}. This page was made {formatTime(made)}.
      </p>
      <dl class="tiles">
        <Tile name="State" state={state}>
          {stateNames[state]}
        </Tile>
        <Tile name="Files">{formatCount(fileCount)}</Tile>
        {takenMs !== null && <Tile name={isRunning ? 'So far' : 'Took'}>{formatDuration(takenMs)}</Tile>}
        {queuedMs !== null && <Tile name="Of which in the queue">{formatDuration(queuedMs)}</Tile>}
        {requestId !== null && state !== 'Running' && <Tile name="Cost">{formatCost(cost)}</Tile>}
      </dl>
    </header>
  );
}

interface TileProps {
  readonly name: string;
  readonly state?: ReportRow['state'];
  readonly children: preact.ComponentChildren;
}

function Tile({ name, state, children }: TileProps): JSX.Element {
  return (
    <div class={state === undefined ? 'tile' : `tile ${state}`}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Why it failed or waits for a person, and the commands that solve it. */
function Problem({ facts: { remedies }, row: { failure } }: TaskPageProps): JSX.Element | null {
  if (failure === null && remedies.length === 0) return null;
  return (
    <section class="section problem">
      <h2>{failure === null ? 'It waits for a decision' : 'Failure'}</h2>
      {failure !== null && (
        <p class="words">
          <code>{failure.type}</code> {failure.message}
        </p>
      )}
      {remedies.length > 0 && <Commands commands={remedies} />}
    </section>
  );
}

function Outputs({ facts: { missing }, row }: TaskPageProps): JSX.Element | null {
  if (row.files.length === 0 && missing.length === 0) return null;
  return (
    <section class="section">
      <h2>Outputs</h2>
      <Files row={row} />
      {missing.length > 0 && (
        <dl class="facts">
          {missing.map(({ index, reason }) => (
            <Fact name={`Output ${index}`} key={index}>
              {reason}
            </Fact>
          ))}
        </dl>
      )}
    </section>
  );
}

function Inputs({ inputs }: { readonly inputs: readonly ReportInput[] }): JSX.Element | null {
  if (inputs.length === 0) return null;
  return (
    <section class="section">
      <h2>Inputs</h2>
      <dl class="facts inputs">
        {inputs.map(({ key, value, isFile, bytes }) => (
          <Fact name={key} key={key}>
            {isFile ? (
              <>
                file <code>{value}</code> {bytes !== null && formatBytes(bytes)}
              </>
            ) : (
              value
            )}
          </Fact>
        ))}
      </dl>
    </section>
  );
}

function Facts({ facts, row }: TaskPageProps): JSX.Element {
  const { about, times, costTimes } = facts;
  return (
    <section class="section">
      <h2>Facts</h2>
      <dl class="facts">
        {about.map(([name, text]) => (
          <Fact name={name} key={name}>
            {text}
          </Fact>
        ))}
        <Identity {...{ facts, row }} />
        {times.map(([name, iso]) => (
          <Fact name={name} key={name}>
            {formatTime(Date.parse(iso))}
          </Fact>
        ))}
        {Object.entries(costTimes).map(([name, ms]) => (
          <Fact name={name} key={name}>
            {formatDuration(ms)}
          </Fact>
        ))}
      </dl>
    </section>
  );
}
