// The layers that need a program of Debian's, a browser or promtool: apart from `npm test`, which a person runs without.
const { layer } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: 1,
  projects: [layer('browser', { servers: true }), layer('alerts')],
};
