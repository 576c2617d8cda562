import { parseArgs } from 'node:util';
import { errorMessage } from '../src/core/text';
import { drills } from './demo-drill';

/** What `npm run demo --` is followed by. */
export interface DemoOptions {
  readonly batch: boolean;
  readonly drill: string | undefined;
  readonly stay: boolean;
  readonly once: boolean;
}

/** What the demo can do, as `--help` prints it. */
export const usage = `npm run demo -- [OPTIONS]

Starts Temporal, an S3 server, the reference service and a worker on this machine, and runs one photo through an app.

  --batch        a file of rows instead of one photo
  --drill NAME   an exercise for operators: ${[...drills.keys()].join(' or ')}
  --stay         keep everything up, also without a terminal
  --once         end when it is done, also in a terminal
  --help         print this`;

/** Null: the usage was asked for. Throws an Error that has it, for what is no option. */
export function readDemoOptions(args: readonly string[]): DemoOptions | null {
  const { values } = parseOrRefuse(args);
  const { batch = false, drill, stay = false, once = false, help = false } = values;
  if (help) return null;
  if (drill !== undefined && !drills.has(drill)) {
    throw new Error(`--drill is "${drill}"; give ${[...drills.keys()].join(' or ')}.`);
  }
  if (stay && once) throw new Error('--stay and --once exclude each other; give one of them.');
  if (batch && drill !== undefined) throw new Error('--batch and --drill exclude each other; give one of them.');
  return { batch, drill, stay, once };
}

function parseOrRefuse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        batch: { type: 'boolean' },
        drill: { type: 'string' },
        stay: { type: 'boolean' },
        once: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new Error(`${errorMessage(error)}\n\n${usage}`, { cause: error });
  }
}
