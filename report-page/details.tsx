import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReportCommand, ReportFacts, ReportFile, ReportRow } from '../src/archive/report/report-data';
import { durationMs, kindOf, savedAs } from './data';
import { formatBytes, formatCost, formatDuration, formatTime } from './format';
import { StateMark } from './grid';
import { type PickKind, pickByKey, PickButtons } from './picks';

const steps: Readonly<Record<string, 1 | -1>> = { ArrowRight: 1, ArrowLeft: -1 };

interface DetailsProps {
  readonly row: ReportRow;
  readonly facts: ReportFacts;
  readonly picked: PickKind | undefined;
  readonly pick: (row: ReportRow, pick: PickKind) => void;
  readonly close: () => void;
  /** To the row before or after, in the order that is shown. */
  readonly step: (by: 1 | -1) => void;
}

/** Everything about one row, over the page. */
export function Details({ row, facts, picked, pick, close, step }: DetailsProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = steps[event.key];
    const chosen = pickByKey(event);
    if (chosen !== undefined) pick(row, chosen);
    if (by === undefined || event.target instanceof HTMLMediaElement) return;
    event.preventDefault();
    step(by);
  };
  const { key, line, sheetRow, state, failure, requestId, queuedMs, startedMs, endedMs } = row;
  const repairs = failure === null ? [] : (facts.repairs[failure.type] ?? []);
  return (
    <dialog ref={dialog} aria-labelledby="details-title" onClose={close} onKeyDown={onKeyDown}>
      <header>
        <h2 id="details-title">{key}</h2>
        <PickButtons {...{ row, picked }} choose={pick} />
        <nav aria-label="Other rows">
          <button
            type="button"
            onClick={() => {
              step(-1);
            }}
          >
            ← Previous
          </button>
          <button
            type="button"
            onClick={() => {
              step(1);
            }}
          >
            Next →
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </nav>
      </header>
      <Files row={row} />
      <Cells row={row} />
      <dl>
        <Fact name="State">
          <StateMark state={state} />
        </Fact>
        {sheetRow !== undefined && <Fact name="Row of the sheet">{sheetRow}</Fact>}
        {sheetRow !== line && <Fact name="Line of the row file">{line}</Fact>}
        {failure !== null && (
          <Fact name="Failure">
            <code>{failure.type}</code> {failure.message}
          </Fact>
        )}
        {repairs.length > 0 && (
          <Fact name="To repair">
            <Commands commands={repairs} />
          </Fact>
        )}
        <Fact name="Took">
          {formatDuration(durationMs(row))}
          {queuedMs !== null && `, of which it queued for ${formatDuration(queuedMs)}`}
        </Fact>
        {startedMs !== null && endedMs !== null && (
          <Fact name="From – to">
            {formatTime(startedMs)} – {formatTime(endedMs)}
          </Fact>
        )}
        {requestId !== null && <Fact name="Cost">{formatCost(row.cost)}</Fact>}
        <Identity {...{ facts, row }} />
        {row.failedOutputs > 0 && (
          <Fact name="Failed outputs">{row.failedOutputs}, as the service reports; the manifest has each</Fact>
        )}
      </dl>
    </dialog>
  );
}

/** What stands in the row file. */
function Cells({ row: { cells } }: { readonly row: ReportRow }): JSX.Element | null {
  if (cells.length === 0) return null;
  return (
    <section aria-label="Row of the file">
      <h3>In the row file</h3>
      <dl>
        {cells.map(([column, value], index) => (
          <Fact key={index} name={column}>
            {value}
          </Fact>
        ))}
      </dl>
    </section>
  );
}

/** The files of a row, shown by their kind. */
function Files({ row: { files, fileCount } }: { readonly row: ReportRow }): JSX.Element {
  return (
    <>
      <ul class="files">
        {files.map((file, index) => (
          <li key={index}>
            <Media file={file} />
            <span class="file-name">
              <FileLink file={file} /> {formatBytes(file.bytes)}
            </span>
          </li>
        ))}
      </ul>
      {fileCount > files.length && <p>{fileCount - files.length} more files are in the manifest alone.</p>}
    </>
  );
}

/** Where a task is: at the service, in Temporal and in the archive. */
function Identity({
  facts,
  row: { requestId, workflowId, manifest },
}: {
  readonly facts: ReportFacts;
  readonly row: ReportRow;
}): JSX.Element {
  return (
    <>
      {requestId !== null && (
        <Fact name="Request id">
          <code>{requestId}</code>
        </Fact>
      )}
      <Fact name="Workflow">
        <Workflow {...{ facts, workflowId }} />
      </Fact>
      {manifest !== null && (
        <Fact name="Manifest">
          <code>{manifest}</code>
        </Fact>
      )}
    </>
  );
}

/** The page of a row's workflow, and the command that shows it. */
function Workflow({ facts, workflowId }: { readonly facts: ReportFacts; readonly workflowId: string }): JSX.Element {
  const page = facts.workflowPages === null ? null : `${facts.workflowPages}${encodeURIComponent(workflowId)}`;
  return (
    <>
      {page === null ? <code>{workflowId}</code> : <a href={page}>{workflowId}</a>}
      <Command text={`longhaul status ${shellWord(workflowId)}`} />
    </>
  );
}

/** A name and what it says, in a list. */
function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function FileLink({ file }: { readonly file: ReportFile }): JSX.Element {
  const { href, name } = file;
  if (href === null) return <>{name}</>;
  return (
    <a href={href} download={savedAs(file)}>
      {name}
    </a>
  );
}

function Media({ file }: { readonly file: ReportFile }): JSX.Element | null {
  const { href, name } = file;
  if (href === null) return null;
  switch (kindOf(file)) {
    case 'picture':
      return <img src={href} alt={name} loading="lazy" />;
    case 'video':
      return <video src={href} controls preload="metadata" />;
    case 'audio':
      return <audio src={href} controls preload="none" />;
    case 'file':
      return null;
  }
}

/** A command line that can be copied. */
function Command({ text }: { readonly text: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  return (
    <span class="command">
      <code>{text}</code>
      <button
        type="button"
        aria-label={`Copy ${text}`}
        onClick={() => {
          void copy(text).then(setCopied);
        }}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}

/** Command lines, each with what it does. */
export function Commands({ commands }: { readonly commands: readonly ReportCommand[] }): JSX.Element {
  return (
    <dl class="commands">
      {commands.map(({ does, command }) => (
        <div key={command}>
          <dt>{does}</dt>
          <dd>
            <Command text={command} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A page from a folder may not have the clipboard; then the text is selected to be copied by hand. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
