// One project per layer, so that `npm run test:unit` starts no server.
const { layer, workers, workerMemory } = require('./jest.layer');

module.exports = {
  testTimeout: 240_000,
  maxWorkers: workers,
  workerIdleMemoryLimit: workerMemory,
  projects: [
    layer('unit'),
    layer('replay'),
    layer('conformance', { storage: true }),
    layer('workflows', { servers: true }),
    layer('integration', { servers: true }),
  ],
};
