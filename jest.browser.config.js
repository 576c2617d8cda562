// The layer that needs a browser: apart from `npm test`, which a person runs without one.
const { layer } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: 1,
  projects: [layer('browser', { servers: true })],
};
