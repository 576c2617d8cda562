import type { VariableValues } from './environment';

/** Where the metrics of a process go: Prometheus asks for them at an address, or a collector gets them. */
export type MetricsConfig =
  { readonly kind: 'prometheus'; readonly address: string } | { readonly kind: 'otlp'; readonly url: string };

/** `null`: none are kept. Complaints go to `problems`. */
export function readMetrics(
  { LONGHAUL_METRICS_ADDRESS: address, LONGHAUL_METRICS_OTLP_URL: url }: Partial<VariableValues>,
  problems: string[],
): MetricsConfig | null {
  if (address !== undefined && url !== undefined) {
    problems.push('LONGHAUL_METRICS_ADDRESS and LONGHAUL_METRICS_OTLP_URL are both set; leave one of them out.');
  }
  if (address !== undefined) return { kind: 'prometheus', address };
  return url === undefined ? null : { kind: 'otlp', url };
}
