import { findS3 } from '../../tools/find-s3';

/** jest's global setup of the layers that need the S3 server only: builds it if need be, before any test's time runs. */
async function findStorage(): Promise<void> {
  await findS3();
}

// jest takes the default export.
export { findStorage as default };
