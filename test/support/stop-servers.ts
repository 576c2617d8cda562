// jest's global teardown; jest takes the default export.
export { stopServers as default } from './start-servers';
