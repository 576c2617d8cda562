// The examples in Python and Go: apart from `npm test`, for they need Python and packages of two more registries.
const { layer } = require('./jest.layer');

module.exports = {
  testTimeout: 120_000,
  maxWorkers: 1,
  projects: [
    {
      ...layer('languages'),
      globalSetup: '<rootDir>/test/support/prepare-languages.ts',
      globalTeardown: '<rootDir>/test/support/drop-languages.ts',
    },
  ],
};
