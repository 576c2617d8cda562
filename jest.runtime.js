// Of jest itself, which installs it.
const { default: Runtime } = require('jest-runtime');

/**
 * Jest refuses to load a file between the end of one test and the beginning of the next. Tests that run at the same time
 * (`it.concurrent`) run then, too, and commands load what they need on demand: now and then such a test failed.
 */
module.exports = class ConcurrentRuntime extends Runtime {
  leaveTestCode() {
    this.enterTestCode();
  }
};
