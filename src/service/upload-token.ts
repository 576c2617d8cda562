import { inspect } from 'node:util';
import * as z from 'zod';
import { knownSecrets } from '../core/redact';

/**
 * Where one file may be uploaded, and the temporary credentials for it (specification, section 2.6). Their lifetime
 * is not specified: take a fresh token for every attempt. Printing or serializing it shows no credential.
 */
export interface UploadToken {
  /** Key of the object; needed again at commit. */
  readonly objectKey: string;
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
  /** Storage access host, with or without a scheme. */
  readonly endpoint: string;
  readonly bucket: string;
  /** As given, with its `oss-` prefix. */
  readonly region: string;
}

const text = z.string().min(1).max(1_024);
/** Of the length that S3 allows to a key's name in UTF-8, and of those that security tokens have. */
const secret = z.string().min(1).max(16_384);

/** Schema of `data` of the upload token endpoint. */
export const uploadTokenSchema: z.ZodType<UploadToken> = z
  .object({
    file: z.object({
      object_key: text,
      access_key_id: secret,
      access_key_secret: secret,
      security_token: secret,
    }),
    storage: z.object({ endpoint: text, bucket: text, region: text }),
  })
  .transform(({ file, storage }, context) => {
    knownSecrets.addTemporary(file.access_key_id, file.access_key_secret, file.security_token);
    const places: readonly [readonly [string, string], string][] = [
      [['file', 'object_key'], file.object_key],
      [['storage', 'endpoint'], storage.endpoint],
      [['storage', 'bucket'], storage.bucket],
      [['storage', 'region'], storage.region],
    ];
    // These enter histories and messages, and the storage needs them unchanged.
    const refused = places.filter(([, value]) => {
      return /[\p{Cc}\p{Cs}]/u.test(value) || knownSecrets.removeFrom(value, []) !== value;
    });
    for (const [path] of refused) {
      context.addIssue({ code: 'custom', path: [...path], message: 'holds a control character or a secret' });
    }
    if (refused.length > 0) return z.NEVER;
    const token: UploadToken = {
      objectKey: file.object_key,
      accessKeyId: file.access_key_id,
      accessKeySecret: file.access_key_secret,
      securityToken: file.security_token,
      endpoint: storage.endpoint,
      bucket: storage.bucket,
      region: storage.region,
    };
    const redacted = '[redacted]';
    const shown = { ...token, accessKeyId: redacted, accessKeySecret: redacted, securityToken: redacted };
    const show = { value: () => shown };
    return Object.freeze(Object.defineProperties(token, { toJSON: show, [inspect.custom]: show }));
  });
