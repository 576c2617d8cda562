/** The workflows a worker runs; their names are durable. */
export { batch } from './batch';
export { task } from './task';
