// Whole systems of real processes, which are killed, flooded and lied to: apart from `npm test`, for they take as long again.
const { layer, workers } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: workers,
  projects: [layer('faults', { servers: true }), layer('hostile', { servers: true }), layer('e2e', { servers: true })],
};
