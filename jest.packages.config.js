// The packages as others install them, from the npm registry: apart from `npm test`, which a person runs without.
const { layer } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: 1,
  projects: [layer('packages', { servers: true, storage: true })],
};
