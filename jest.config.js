// One project per layer, so that `npm run test:unit` starts no server.
const { layer, workers } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: workers,
  projects: [
    layer('unit'),
    layer('replay'),
    layer('conformance', { storage: true }),
    layer('workflows', { servers: true }),
    layer('integration', { servers: true }),
  ],
};
