import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchResult } from '../../src/contract/batch/batch-messages';
import type { ProcessStack } from './process-stack';
import type { CommandEnd } from './run-longhaul';

/** `longhaul batch run`, as tests with real processes use it. */
export class BatchCommands {
  readonly #stack: ProcessStack;

  constructor(stack: ProcessStack) {
    this.#stack = stack;
  }

  rowFile(name: string, lines: readonly string[]): string {
    const file = join(this.#stack.inputs, name);
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  }

  run(file: string, ...more: string[]): Promise<CommandEnd> {
    return this.#stack.run('batch', 'run', file, '--task-queue', this.#stack.taskQueue, ...more);
  }

  /** What was paid, and what was sent to the storage. */
  spent(): { creates: number; uploads: number } {
    const { ledger } = this.#stack.service;
    return { creates: ledger.total('create'), uploads: ledger.total('commit') };
  }
}

export function eventsOf(end: CommandEnd): Record<string, unknown>[] {
  return linesOf(end).map((line) => JSON.parse(line) as Record<string, unknown>);
}

export function endedOf(end: CommandEnd): BatchResult & { event: string } {
  return JSON.parse(linesOf(end).at(-1) ?? '') as BatchResult & { event: string };
}

function linesOf({ stdout }: CommandEnd): string[] {
  return stdout.trimEnd().split('\n');
}
