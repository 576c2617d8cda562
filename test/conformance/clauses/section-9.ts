import { describe, isSuccess } from '../answers';
import { inSection, type Clause } from '../clause';
import { ENDPOINTS, type EndpointName } from '../plain-http';
import type { ServiceContext } from '../service-context';
import { allHold, holdsIf } from '../verdict';

/** Section 9: versioning. */
export const section9: readonly Clause[] = inSection(
  '9',
  {
    statement: 'task endpoints live under /w/v1/, and not elsewhere',
    check: async (service) => {
      const { requestId } = await service.tasks.followed();
      return isOnlyUnder('detail', { requestId }, service);
    },
  },
  {
    statement: 'file endpoints live under /x/v1/, and not elsewhere',
    needs: [],
    check: (service) => isOnlyUnder('list', {}, service),
  },
  {
    statement: 'user endpoints live under /x/v1/, and not elsewhere',
    needs: [],
    check: async ({ http }) => {
      const [here, elsewhere] = [
        await http.ask('metadata'),
        await http.ask('metadata', { path: '/w/v1/user/metadata' }),
      ];
      return allHold([
        holdsIf(here.status === 200, describe(here)),
        holdsIf(elsewhere.status !== 200, `it is under /w/v1/ as well: ${describe(elsewhere)}`),
      ]);
    },
  },
);

async function isOnlyUnder(
  name: EndpointName,
  query: Readonly<Record<string, string>>,
  { http }: ServiceContext,
): ReturnType<NonNullable<Clause['check']>> {
  const { path } = ENDPOINTS[name];
  const otherPath = path.startsWith('/w/') ? path.replace('/w/', '/x/') : path.replace('/x/', '/w/');
  const [here, elsewhere] = [await http.ask(name, { query }), await http.ask(name, { query, path: otherPath })];
  return allHold([
    holdsIf(isSuccess(here), describe(here)),
    holdsIf(!isSuccess(elsewhere), `it is at ${otherPath} as well: ${describe(elsewhere)}`),
  ]);
}
