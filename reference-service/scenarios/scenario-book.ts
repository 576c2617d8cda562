import type { EndpointName } from '../endpoint-name';
import { isOf } from '../ledger';
import { parseScenario, type Scenario, type ScenarioInput } from './scenario';

/** What a request is about, as far as a rule can ask for it. */
export interface RequestFacts {
  readonly endpoint: EndpointName;
  readonly requestId: string | undefined;
  /** Value of `X-Svc-Task-Correlation`. */
  readonly correlation: string | undefined;
}

/** Which requests misbehave, and how. */
export interface ScenarioRule {
  readonly endpoint: EndpointName;
  readonly scenario: ScenarioInput;
  /** How many requests; `Infinity` for all that come. @default 1 */
  readonly times?: number;
  /** Only requests about this task. */
  readonly requestId?: string;
  /** Only requests with this `X-Svc-Task-Correlation`, or with one that goes on after it and a slash. */
  readonly correlation?: string;
}

interface OpenRule extends Omit<ScenarioRule, 'scenario'> {
  readonly scenario: Scenario;
  left: number;
}

/** Rules are dropped oldest first beyond this number, so that forgotten ones do not pile up. */
const MAX_RULES = 10_000;

/** The misbehaviours that wait for their requests. */
export class ScenarioBook {
  readonly #rules = new Map<EndpointName, Set<OpenRule>>();

  /** Makes the next matching requests misbehave. Throws an Error when the scenario is not in order. */
  add(rule: ScenarioRule): void {
    const rules = this.#rules.get(rule.endpoint) ?? new Set();
    this.#rules.set(rule.endpoint, rules);
    rules.add({ ...rule, scenario: parseScenario(rule.scenario), left: rule.times ?? 1 });
    if (rules.size > MAX_RULES) for (const oldest of rules) if (rules.delete(oldest)) break;
  }

  /** Forgets all rules. */
  clear(): void {
    this.#rules.clear();
  }

  /** The scenarios for a request; each rule that matches is used up by one. */
  take(facts: RequestFacts): readonly Scenario[] {
    const rules = this.#rules.get(facts.endpoint);
    if (rules === undefined) return [];
    const taken: Scenario[] = [];
    for (const rule of rules) {
      if (rule.requestId !== undefined && rule.requestId !== facts.requestId) continue;
      if (rule.correlation !== undefined && !isOf(facts.correlation, rule.correlation)) continue;
      rule.left -= 1;
      if (rule.left <= 0) rules.delete(rule);
      taken.push(rule.scenario);
    }
    return taken;
  }
}
