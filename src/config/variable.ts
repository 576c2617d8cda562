import * as z from 'zod';
import { refusalMeanings } from '../domain/service-dialect';
import { serviceStatuses } from '../domain/task-state';
import { hosts, isTrue, serviceCodes, serviceStates, wholeNumber } from './values';

/** The programs that read a variable. */
export type VariableReader = 'worker' | 'receiver' | 'command line' | 'codec server';

/** One environment variable: what `docs/reference/configuration.md` says of it, and how its text is read. */
export interface Variable {
  readonly readBy: readonly VariableReader[];
  /** As the documentation shows it; `required`, or what holds when it is not set. */
  readonly default: string;
  /** Its value is not shown in any message. */
  readonly isSecret?: true;
  /** What to set it to: the remedy in every complaint about it. */
  readonly remedy: string;
  readonly schema: z.ZodType;
}

/** What codes of the service mean. */
export const serviceCodesVariable = {
  readBy: ['worker'],
  default: 'not set: the codes that are built in',
  remedy:
    'give codes of the service and what each means, once, such as "41007=QUEUE_FULL,0=SUCCESS"; a meaning is SUCCESS, ' +
    refusalMeanings.join(', '),
  schema: serviceCodes.optional(),
} as const satisfies Variable;

/** What words of the service for states mean. */
export const serviceStatesVariable = {
  readBy: ['worker'],
  default: 'not set: the words that are built in',
  remedy: `give words of the service and the state of each, once, such as "finished=Success,排队=Queuing"; a state is ${serviceStatuses.join(', ')}`,
  schema: serviceStates.optional(),
} as const satisfies Variable;

/** More slots than any machine could serve. */
const mostOfAWorker = 100_000;

/** Hosts that a worker may connect to although they are not public. */
export function hostsVariable(unset: string): Variable & { readonly schema: z.ZodType<readonly string[]> } {
  return {
    readBy: ['worker'],
    default: unset,
    remedy: 'give host names separated by commas, each with ":port" if need be, without a scheme, a path or a wildcard',
    schema: hosts.optional().default([]),
  };
}

/** A number of bytes that a worker reads. */
export function bytesVariable(
  bytes: number,
  remedy: string,
  atLeast = 0,
): Variable & { readonly schema: z.ZodType<number> } {
  const schema = wholeNumber.refine((value) => value >= atLeast);
  return { readBy: ['worker'], default: `\`${bytes}\``, remedy, schema: schema.optional().default(bytes) };
}

/** How many of something a worker has. */
export function countVariable(
  count: number,
  atLeast = 1,
  most = mostOfAWorker,
): Variable & { readonly schema: z.ZodType<number> } {
  const schema = wholeNumber.refine((value) => value >= atLeast && value <= most);
  const remedy = `give a whole number from ${atLeast} to ${most}`;
  return { readBy: ['worker'], default: `\`${count}\``, remedy, schema: schema.optional().default(count) };
}

/** A choice of a program's operator. */
export function choiceVariable(
  unset: boolean,
  ...readBy: VariableReader[]
): Variable & { readonly schema: z.ZodType<boolean> } {
  return {
    readBy,
    default: `\`${unset}\``,
    remedy: 'give "true" or "false"',
    schema: isTrue.optional().default(unset),
  };
}

/** The path of a file that the start reads. */
export function fileVariable(
  unset: string,
  remedy: string,
  readBy: readonly VariableReader[] = ['worker'],
): Variable & { readonly schema: z.ZodType<string | undefined> } {
  return { readBy, default: unset, remedy, schema: z.string().min(1).optional() };
}
