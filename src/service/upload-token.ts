import { inspect } from 'node:util';
import { z } from 'zod';

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

const text = z.string().min(1);

/** Schema of `data` of the upload token endpoint. */
export const uploadTokenSchema: z.ZodType<UploadToken> = z
  .looseObject({
    file: z.looseObject({
      object_key: text,
      access_key_id: text,
      access_key_secret: text,
      security_token: text,
    }),
    storage: z.looseObject({ endpoint: text, bucket: text, region: text }),
  })
  .transform(({ file, storage }) =>
    hidden({
      objectKey: file.object_key,
      accessKeyId: file.access_key_id,
      accessKeySecret: file.access_key_secret,
      securityToken: file.security_token,
      endpoint: storage.endpoint,
      bucket: storage.bucket,
      region: storage.region,
    }),
  );

function hidden(token: UploadToken): UploadToken {
  const shown = {
    ...token,
    accessKeyId: '[redacted]',
    accessKeySecret: '[redacted]',
    securityToken: '[redacted]',
  };
  const show = { value: () => shown };
  return Object.freeze(Object.defineProperties({ ...token }, { toJSON: show, [inspect.custom]: show }));
}
