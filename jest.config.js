// One project per layer, so that `npm run test:unit` starts no server and `npm test` runs everything but the browser.
const { layer } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: 2,
  projects: [
    layer('unit'),
    layer('replay'),
    layer('conformance', { storage: true }),
    layer('workflows', { servers: true }),
    layer('integration', { servers: true }),
    layer('faults', { servers: true }),
    layer('hostile', { servers: true }),
    layer('e2e', { servers: true }),
  ],
};
