import { readdirSync, readFileSync } from 'node:fs';

/** The numbers of all processes that were started with this text in their environment; Linux only. */
export function processesWith(text: string): number[] {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return numbers.filter((number) => environmentOf(number).includes(text)).map(Number);
}

/** Empty for a process that has ended meanwhile, or that is none of ours. */
function environmentOf(number: string): string {
  try {
    return readFileSync(`/proc/${number}/environ`, 'utf8');
  } catch {
    return '';
  }
}
