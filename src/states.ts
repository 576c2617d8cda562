/** Names of states and types of failures, for a program in a browser, too: this module loads nothing else. */
export { failureTypes, type FailureType } from './contract/failure-types';
export { longhaulStatuses, type LonghaulStatus, serviceStatuses, type ServiceStatus } from './core/task-state';
