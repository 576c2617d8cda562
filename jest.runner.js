const runner = require('jest-circus/runner');

/**
 * Jest's own runner, except that modules may be loaded at any time: it takes what is loaded between the turns of two tests
 * for a leftover of the first, but concurrent tests run then, too, and commands load on demand what they need.
 */
module.exports = async (globalConfig, config, environment, runtime, testPath, sendMessageToJest) => {
  runtime.leaveTestCode = () => undefined;
  return await (runner.default ?? runner)(globalConfig, config, environment, runtime, testPath, sendMessageToJest);
};
