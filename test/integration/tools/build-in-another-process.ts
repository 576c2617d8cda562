// Run by a test in a process of its own: builds the tool given as JSON and prints the path of its binary.
import { buildGoTool } from '../../../tools/build-go-tool';
import type { GoTool } from '../../../tools/go-tool';
import { silentProgress } from '../../../tools/progress';

const tool = JSON.parse(process.argv[2] ?? '') as GoTool;
buildGoTool(tool, { progress: silentProgress }).then(
  (path) => process.stdout.write(path),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  },
);
