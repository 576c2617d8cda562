import { ENDPOINT_NAMES, type EndpointName } from '../endpoint-name';
import { parseScenario, type Scenario } from './scenario';

/** One item of a scenario header. */
export interface OrderedScenario {
  readonly scenario: Scenario;
  /** A later request that it is meant for; the request at hand when undefined. */
  readonly endpoint: EndpointName | undefined;
  /** How many of those later requests. */
  readonly times: number;
}

/**
 * Reads `[endpoint:]name[;parameter=value]…`, several of them separated by commas, as the header
 * `X-Reference-Scenario` holds them. Throws an Error that names what is wrong.
 */
export function parseScenarioHeader(text: string): readonly OrderedScenario[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map(parseItem);
}

function parseItem(item: string): OrderedScenario {
  const [head = '', ...settings] = item.split(';').map((part) => part.trim());
  const colon = head.indexOf(':');
  const endpoint = colon < 0 ? undefined : parseEndpoint(head.slice(0, colon));
  const parameters = new Map(settings.map(parseSetting));
  const times = Number(parameters.get('times') ?? 1);
  if (!(times >= 1)) throw new Error('scenario: times must be at least 1');
  parameters.delete('times');
  return {
    endpoint,
    times,
    scenario: parseScenario({ name: head.slice(colon + 1), ...Object.fromEntries(parameters) }),
  };
}

function parseSetting(text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new Error(`scenario: "${text}" is not of the form parameter=value`);
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function parseEndpoint(text: string): EndpointName {
  const name = ENDPOINT_NAMES.find((each) => each === text);
  if (name === undefined)
    throw new Error(`scenario: there is no endpoint "${text}"; there are ${ENDPOINT_NAMES.join(', ')}`);
  return name;
}
