/** The workflows a worker runs; their names are durable. */
export { task } from './task';
