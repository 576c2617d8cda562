/**
 * The header that brings a callback home: a create carries its workflow's id in it, and the service echoes it with every
 * callback about the task (specification, sections 4.1 and 6).
 */
export const correlationHeader = 'X-Svc-Task-Correlation';
