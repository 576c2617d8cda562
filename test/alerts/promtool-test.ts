import { type Drill, healthy, usualMin, type Value } from './drills';

const perMinute = 4;
const wellMin = 5;
/** Longer than the window of any rule about what is gone. */
const silentMin = 70;
const momentMin = 1 / perMinute;
/** How far into the trouble the targets go. */
const goneMin = 15;

/** `vanish`: service discovery has no target any more; `replaced`: others come half a minute later, as ill. */
type Course = 'goes by' | 'vanish' | 'replaced';

interface PromtoolTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test: readonly object[];
}

function samples(well: Value, ill: Value, phases: readonly (readonly [minutes: number, isIll: boolean])[]): string[] {
  let sum = 0;
  return phases.flatMap(([minutes, isIll]) =>
    Array.from({ length: minutes * perMinute }, () => {
      const value = isIll ? ill : well;
      if (value === null) return '_';
      if (typeof value === 'number') return String(value);
      return String((sum += value.grows));
    }),
  );
}

function expected(atMin: number, alerts: readonly string[], of = ''): object {
  return {
    expr: `group by (alertname) (ALERTS{alertstate="firing"${of}})`,
    eval_time: `${atMin * 60}s`,
    exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  };
}

/** One test of promtool for a drill and how it ends. */
export function promtoolTest(drill: Drill, course: Course): PromtoolTest {
  const { name, ill, alerts, lastsMin = usualMin, withinMin = 2, endsMin = 3 } = drill;
  const input_series = Object.keys({ ...healthy, ...ill }).flatMap((series) => {
    const well = healthy[series] ?? null;
    const sick = series in ill ? (ill[series] ?? null) : well;
    if (course === 'goes by') {
      const phases = [[wellMin, false] as const, [lastsMin, true] as const, [endsMin + 1, false] as const];
      // A series that stops is stale at once where its target is still there.
      const values = samples(well, sick, phases).map((value, index, all) =>
        value === '_' && index > 0 && all[index - 1] !== '_' ? 'stale' : value,
      );
      return [{ series, values: values.join(' ') }];
    }
    const before = samples(well, sick, [
      [wellMin, false],
      [goneMin, true],
    ]);
    const gone = { series, values: [...before, 'stale'].join(' ') };
    const other = series.replace(/instance="(.)(\d)"/, 'instance="$1new$2"');
    const values = [...before.map(() => '_'), '_', '_', ...samples(well, sick, [[withinMin + 2, true]])].join(' ');
    return course === 'vanish' ? [gone] : [gone, { series: other, values }];
  });
  const illMin = wellMin + goneMin;
  const noWorker = 'LonghaulQueueWithoutWorkers';
  const checks = {
    'goes by': [
      expected(wellMin - momentMin, []),
      expected(wellMin + Math.min(withinMin, lastsMin - momentMin), alerts),
      expected(wellMin + lastsMin - momentMin, alerts),
      expected(wellMin + lastsMin + endsMin, []),
    ],
    vanish: [2, silentMin].map((min) => expected(illMin + min, [noWorker], `,alertname="${noWorker}"`)),
    replaced: [expected(illMin + 1 + withinMin, alerts)],
  };
  return { name: `${name}: ${course}`, interval: '15s', input_series, promql_expr_test: checks[course] };
}
