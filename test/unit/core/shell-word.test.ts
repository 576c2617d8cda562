import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { shellWord } from '../../../src/core/text';
import { printableLine } from '../../../src/core/text';
import { useFuzzSeed } from '../../support/fuzz-seed';

useFuzzSeed();

describe('a word of a command to copy', () => {
  it('is the same text again in a shell, whatever it holds, and shows all of it', () => {
    const words = fc.oneof(
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      fc.constantFrom("it's", '$(reboot)', '', "a'\u202egpj\\", '\u001b]8;;x\u0007', 'a\n-b', '\u{e0041}', "\u0085'"),
    );
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 5 }), (texts) => {
        const line = texts.map(shellWord).join(' ');
        const printed = execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
        expect([printed, printableLine(line)]).toEqual([texts.map((text) => `${text}\0`).join(''), line]);
      }),
      { numRuns: 50 },
    );
  });
});
