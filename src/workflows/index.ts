/** The workflows a worker runs; their names are durable. */
export { accountDay } from './account-day';
export { batch } from './batch/batch';
export { sweep } from './sweep';
export { task } from './task/task';
export { webhook } from './webhook';
