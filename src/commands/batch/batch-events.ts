import type { Output } from '../command-context';

/** Tells a program what happens, one JSON object a line. */
export type TellEvent = (event: string, facts: object) => void;

/** Event lines on standard output with `--json`, else nothing. */
export function eventTeller(stdout: Output, isJson: boolean): TellEvent {
  if (!isJson) return () => undefined;
  return (event, facts) => {
    stdout.write(`${JSON.stringify({ event, ...facts })}\n`);
  };
}
