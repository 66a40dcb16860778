import type { Context } from 'koa'
import type { ErrorCode } from '../kernel/errors.js'
import { readRawBody, refuseBody } from './raw-body.js'

/** The first bytes of each type that is taken. Everything else, SVG too, is refused before anything decodes it. */
const types: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/png': (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  'image/jpeg': (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff',
  'image/webp': (bytes) => /^RIFF[\s\S]{4}WEBP/.test(bytes.subarray(0, 12).toString('latin1')),
}
export const pictureTypes = Object.keys(types)

/** Reads the picture in the body, at most this many bytes. Throws `invalid` for what is too large or no PNG, JPEG or WebP. */
export async function readPicture(ctx: Context, most: number, invalid: ErrorCode): Promise<Buffer> {
  const type = ctx.get('Content-Type').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const fits = Object.hasOwn(types, type) ? types[type] : undefined
  if (fits === undefined)
    throw refuseBody(ctx, invalid, `must be a picture with the Content-Type ${pictureTypes.join(', ')}`)
  if (ctx.get('Content-Encoding') !== '') throw refuseBody(ctx, invalid, 'must not be compressed again')
  const bytes = await readRawBody(ctx, most, invalid)
  if (!fits(bytes)) throw refuseBody(ctx, invalid, `is not of the type ${type}`)
  return bytes
}
