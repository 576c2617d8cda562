// node find-type-problems.mjs TARBALL: prints, as JSON, what a TypeScript project would stumble over under each way of
// resolving modules. A process of its own, because jest loads no ES modules.
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';

const tarball = createPackageFromTarballData(new Uint8Array(readFileSync(process.argv[2])));
const { entrypoints, problems } = await checkPackage(tarball);
process.stdout.write(JSON.stringify({ entries: Object.keys(entrypoints), problems }));
