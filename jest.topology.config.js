// A whole deployment of real processes, and other releases of Node: apart from `npm test`, for they need PostgreSQL,
// another server that is built once, and programs that are fetched once.
const { layer } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: 1,
  projects: [layer('topology'), layer('node-versions', { servers: true, storage: true })],
};
