import { setTimeout as delay } from 'node:timers/promises';
import { plainDeeds } from '../../faults/soak/inject';
import { plainFaults, type PlainFaultName, type SoakFault, type SoakFaults } from '../../faults/soak/plan';
import type { TaskUnderTest } from '../../faults/task-under-test';
import { partNames, type PartName, type Topology } from '../topology';

/** What can go wrong with a process: it is stopped as an operator does it, or killed, and started again. */
export type PartFaultName = `${PartName} stopped` | `${PartName} killed`;
/** What can go wrong in a soak of the topology. */
export type TopologyFaultName = PartFaultName | PlainFaultName;

const partFaults: readonly PartFaultName[] = partNames.flatMap(
  (name) => [`${name} stopped`, `${name} killed`] as const,
);

/** Gentler than those of a stack of faults: a part that comes again needs up to half a minute. */
export const topologyFaults: SoakFaults<TopologyFaultName> = {
  heavy: { names: partFaults, gapMs: [10_000, 40_000] },
  light: { names: plainFaults, gapMs: [4_000, 20_000] },
};

/** Lets one fault of the plan happen, and ends it. Returns whether there was anything for it to hit. */
export async function injectInto(
  topology: Topology,
  fault: SoakFault<TopologyFaultName>,
  started: readonly TaskUnderTest[],
): Promise<boolean> {
  const { name, forMs } = fault;
  if (isPlain(name)) return await plainDeeds[name](topology, fault, started);
  const part = partNames.find((one) => name.startsWith(`${one} `));
  if (part === undefined) throw new Error(`There is no fault ${name}.`);
  const process_ = topology.part(part);
  await (name.endsWith('killed') ? process_.kill() : process_.stop());
  await delay(forMs);
  await process_.start();
  return true;
}

function isPlain(name: TopologyFaultName): name is PlainFaultName {
  return plainFaults.some((one) => one === name);
}
