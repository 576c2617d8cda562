import { ConnectionRule } from '../../src/storage/connection-rule';

/** The rule of a worker whose service is on this machine, as it is in tests: public addresses, and this machine. */
export const loopbackRule = new ConnectionRule({ hosts: [], serviceHosts: ['127.0.0.1'] });
