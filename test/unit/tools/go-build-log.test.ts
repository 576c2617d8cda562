import { goFailure, goFailureKind } from '../../../tools/go-build-log';

describe('what Go says of a build that fails', () => {
  it('is cut to the words about the failure, and to its last lines', () => {
    const log =
      'go: downloading example.test/a v1.0.0\ninternal/cpu\n# example.test/tiny\n./main.go:3:15: undefined: x\n';
    expect(goFailure(log)).toBe('# example.test/tiny\n./main.go:3:15: undefined: x');
    const long = Array.from({ length: 50 }, (_, line) => `error number ${line}`).join('\n');
    expect(goFailure(long, 2)).toBe('…\nerror number 48\nerror number 49');
  });

  it.each([
    ['go: go.mod requires go >= 1.26.4 (running go 1.24.1; GOTOOLCHAIN=local)', 'go-too-old'],
    ["go: errors parsing go.mod:\ngo.mod:3: invalid go version '1.26.4': must match format 1.23", 'go-too-old'],
    ['go: download go1.26.4 for linux/amd64: toolchain not available', 'go-too-old'],
    ['Get "https://proxy.test/a/@v/v1.zip": dial tcp: lookup proxy.test: no such host', 'offline'],
    ['Get "https://proxy.test/a/@v/v1.zip": dial tcp 192.0.2.1:443: i/o timeout', 'offline'],
    ['link: writing output failed: write /cache/x: no space left on device', 'disk-full'],
    ['./main.go:3:15: undefined: x', 'other'],
  ])('sorts the failure "%s" by its remedy', (words, kind) => {
    expect(goFailureKind(words)).toBe(kind);
  });
});
