import type { EndpointName } from '../endpoint-name';
import type { LedgerEntry } from '../ledger';
import type { OrderedScenario } from '../scenarios/scenario-header';
import type { Scenario } from '../scenarios/scenario';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Endpoint of the specification that a route serves; such a route asks for an API key. */
    endpoint?: EndpointName;
  }
  interface FastifyRequest {
    /** The request's line in the ledger. */
    ledgerEntry: LedgerEntry;
    /** Account of the API key that was sent. */
    accountId: string;
    /** How this request misbehaves. */
    scenarios: readonly Scenario[];
    /** How later requests about the task that this one creates misbehave. */
    laterScenarios: readonly OrderedScenario[];
  }
}
