// jest's global teardown; jest takes the default export.
export { dropLanguages as default } from './prepare-languages';
