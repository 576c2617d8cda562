import { isRecord } from '../domain/json';
import { showValue } from '../domain/text';

/** A field of a task's input, and what stands there. */
export interface Place {
  readonly field: string;
  readonly value: unknown;
}

const beginning = /^(?:(?:inputs\[|The input key )("(?:[^"\\]|\\.)*")|(\w+) )/;

/** Finds the field that a problem of a task's input names at its beginning, as the check of inputs words it. */
export class InputProblemPlaces {
  private readonly fields: ReadonlyMap<string, Place>;
  private readonly inputs: ReadonlyMap<string, Place>;

  constructor(input: unknown) {
    this.fields = placesIn(input, (field) => field);
    this.inputs = placesIn(isRecord(input) ? input['inputs'] : undefined, showValue);
  }

  /** `undefined` when it names none. */
  of(problem: string): Place | undefined {
    const [, shownKey, field] = beginning.exec(problem) ?? [];
    return shownKey === undefined ? this.fields.get(field ?? '') : this.inputs.get(shownKey);
  }
}

function placesIn(value: unknown, nameOf: (field: string) => string): ReadonlyMap<string, Place> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return new Map(entries.map(([field, one]) => [nameOf(field), { field, value: one }]));
}
