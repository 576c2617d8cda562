import { builtinModules } from 'node:module';
import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import jest from 'eslint-plugin-jest';
import prettier from 'eslint-config-prettier';
import { configs as regexp } from 'eslint-plugin-regexp';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const nodeBuiltins = builtinModules.flatMap((name) => [name, `node:${name}`]);

const doubleAssertion = {
  selector: 'TSAsExpression > TSAsExpression[typeAnnotation.type="TSUnknownKeyword"]',
  message: 'A double assertion hides a mistake: parse the value, or give it its type where it is made.',
};
const privateKeyword = {
  selector: ':matches(PropertyDefinition, MethodDefinition[kind!="constructor"])[accessibility="private"]',
  message: 'Private members are `#private`.',
};
/** Whatever way `process.env` is written; the modules that hand it out are dependency-cruiser's matter. */
const environment = [
  'MemberExpression[object.name="process"][property.name="env"]',
  'MemberExpression[object.name="process"][property.value="env"]',
  'VariableDeclarator[init.name="process"] > ObjectPattern > Property[key.name="env"]',
].map((selector) => ({
  selector,
  message: 'Only src/config reads the environment; entries pass process.env to it.',
}));
/** What gives another answer at another time. */
const impurity = [
  ['MemberExpression[object.name="Date"][property.name="now"]', 'the time'],
  ['NewExpression[callee.name="Date"][arguments.length=0]', 'the time'],
  ['MemberExpression[object.name="Math"][property.name="random"]', 'a random number'],
  ['Identifier[name=/^(setTimeout|setInterval|setImmediate|process|fetch)$/]', 'what comes from outside'],
].map(([selector, what]) => ({ selector, message: `The domain is pure: take ${what} as a parameter.` }));
/** However the clock is read that may differ by hours from Temporal's and that of another worker. */
const workerClock = [
  'MemberExpression[object.name="Date"]:matches([property.name="now"], [property.value="now"])',
  'NewExpression[callee.name="Date"][arguments.length=0]',
  'CallExpression[callee.name="Date"]',
  'VariableDeclarator[init.name="Date"] > ObjectPattern',
].map((selector) => ({
  selector,
  message: 'Take temporalClock() of activities/clock.ts, performance.now() for what has passed, or workerClock().',
}));
/** What one workflow could leave to the next: a thread evaluates these modules once for all of them (decision 33). */
const moduleState = [
  ':matches(Program, ExportNamedDeclaration) > VariableDeclaration[kind!="const"]',
  ':matches(Program, ExportNamedDeclaration) > VariableDeclaration > VariableDeclarator:not([id.typeAnnotation.typeAnnotation.typeName.name=/^Readonly/]) > NewExpression[callee.name=/^(Weak)?(Map|Set)$/]',
  ':matches(Program, ExportNamedDeclaration) > VariableDeclaration > VariableDeclarator > :matches(ArrayExpression[elements.length=0], ObjectExpression[properties.length=0])',
  'PropertyDefinition[static=true][readonly=false]',
].map((selector) => ({ selector, message: 'Workflows share this module: it keeps no state of its own.' }));

export default defineConfig(
  { ignores: ['lib/', 'packages/*/lib/', 'node_modules/', 'coverage/', 'archive/', '.tmp/'] },
  { linterOptions: { noInlineConfig: true } },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
      'no-restricted-syntax': ['error', doubleAssertion, privateKeyword],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // The index signature of an environment or a header map is read as `env['NAME']`; tsc asks for it.
      '@typescript-eslint/dot-notation': 'off',
    },
  },
  {
    // An expression that takes quadratic time lets one text from outside stop a process.
    files: ['src/**/*.ts', 'reference-service/**/*.{ts,js}', 'tools/**/*.ts'],
    plugins: regexp['flat/recommended'].plugins,
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false }],
      'regexp/no-invalid-regexp': 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'reference-service/**/*.ts', 'tools/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }] },
  },
  {
    // Workflow code runs in Temporal's sandbox: no I/O, no clock of its own.
    files: ['src/workflows/**/*.ts', '{src/core,src/money}/**/*.ts'],
    rules: {
      '@typescript-eslint/require-await': 'off',
      'no-restricted-imports': ['error', { paths: nodeBuiltins }],
    },
  },
  {
    // Only `config` reads the environment; the entries hand `process.env` to it.
    files: ['src/**/*.ts'],
    ignores: ['src/config/**', 'src/cli.ts', 'src/worker.ts', 'src/receiver.ts'],
    rules: { 'no-restricted-syntax': ['error', doubleAssertion, privateKeyword, ...environment] },
  },
  {
    // The create record compares times in a way of its own.
    files: ['src/activities/**/*.ts'],
    ignores: ['src/activities/clock.ts'],
    rules: { 'no-restricted-syntax': ['error', doubleAssertion, privateKeyword, ...environment, ...workerClock] },
  },
  {
    files: ['src/workflows/**/*.ts', 'src/contract/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', doubleAssertion, privateKeyword, ...environment, ...moduleState] },
  },
  {
    files: ['{src/core,src/money}/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', doubleAssertion, privateKeyword, ...environment, ...moduleState, ...impurity],
    },
  },
  {
    files: ['test/**/*.ts'],
    ...jest.configs['flat/recommended'],
    rules: {
      ...jest.configs['flat/recommended'].rules,
      'jest/no-conditional-expect': 'error',
      'jest/no-disabled-tests': 'error',
      'jest/no-restricted-jest-methods': ['error', { mock: 'Inject a fake instead of mocking a module.' }],
      'jest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*', 'fc.assert'] }],
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // Configuration of tools, scripts of CI, and the reference service's page: JavaScript that runs as it is.
    files: ['**/*.{js,mjs}'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: globals.node },
    rules: {
      'no-restricted-exports': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-require-imports': 'off',
    },
  },
  { files: ['reference-service/page/*.js'], languageOptions: { sourceType: 'script', globals: globals.browser } },
  prettier,
);
