import type { AppRun, Target } from './target';
import type { UploadJourneys } from './upload-journeys';
import { NotCheckable } from './verdict';

export interface CreateBodyOptions {
  readonly app?: AppRun | undefined;
  readonly numbersAsText?: true;
  readonly suppressPreviews?: true;
}

/**
 * The body of a create (section 2.2) for an app of the target, by default the one that succeeds; files are uploaded.
 *
 * @throws NotCheckable when no task may be created.
 */
export async function createBody(
  { app: usualApp, mayPay }: Target,
  uploads: UploadJourneys,
  { app = usualApp, numbersAsText, suppressPreviews }: CreateBodyOptions = {},
): Promise<Record<string, unknown>> {
  if (app === undefined || !mayPay) throw new NotCheckable('no task may be created');
  const inputValues: Record<string, string | number> = {};
  for (const [key, value] of Object.entries(app.inputs)) {
    if (typeof value === 'object') inputValues[key] = await uploads.urlOf(value.file);
    else inputValues[key] = numbersAsText === true ? String(value) : value;
  }
  return {
    web_app_id: app.webAppId,
    ...(suppressPreviews === true && { suppress_preview_output: true }),
    input_values: inputValues,
  };
}
