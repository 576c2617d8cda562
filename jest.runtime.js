// Of jest itself, so that it is the same version.
const jestRunner = require.resolve('jest-runner', {
  paths: [require.resolve('@jest/core', { paths: [require.resolve('jest')] })],
});
const { default: Runtime } = require(require.resolve('jest-runtime', { paths: [jestRunner] }));

/**
 * Jest refuses to load a file between the end of one test and the beginning of the next. Tests that run at the same time
 * (`it.concurrent`) run then, too, and commands load what they need on demand: now and then such a test failed.
 */
module.exports = class ConcurrentRuntime extends Runtime {
  leaveTestCode() {
    this.enterTestCode();
  }
};
