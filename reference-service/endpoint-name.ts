/** Endpoints of the specification, by the names that the ledger and the scenarios use. */
export const ENDPOINT_NAMES = [
  'create',
  'detail',
  'outputs',
  'cancel',
  'interrupt',
  'upload-token',
  'commit',
  'list',
  'user-metadata',
] as const;

/** Name of an endpoint of the specification. */
export type EndpointName = (typeof ENDPOINT_NAMES)[number];
