// Whole systems of real processes, which are killed, flooded and lied to: apart from `npm test`, for they take as long again.
const { layer, workers, workerMemory } = require('./jest.layer');

module.exports = {
  testTimeout: 240_000,
  maxWorkers: workers,
  workerIdleMemoryLimit: workerMemory,
  projects: [layer('faults', { servers: true }), layer('hostile', { servers: true }), layer('e2e', { servers: true })],
};
