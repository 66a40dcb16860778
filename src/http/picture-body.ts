import type { Context } from 'koa'
import { type ErrorCode, inputError } from '../kernel/errors.js'

/** The first bytes of each type that is taken. Everything else, SVG too, is refused before anything decodes it. */
const types: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/png': (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  'image/jpeg': (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff',
  'image/webp': (bytes) => /^RIFF[\s\S]{4}WEBP/.test(bytes.subarray(0, 12).toString('latin1')),
}
export const pictureTypes = Object.keys(types)

/** Reads the picture in the body, at most this many bytes. Throws `invalid` for what is too large or no PNG, JPEG or WebP. */
export async function readPicture(ctx: Context, most: number, invalid: ErrorCode): Promise<Buffer> {
  const refuse = (problem: string): Error => {
    // What is left of the body is not read.
    ctx.set('Connection', 'close')
    return inputError(invalid, 'body', problem)
  }
  const large = `must have at most ${most / 1024 / 1024} MB`
  const type = ctx.get('Content-Type').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const fits = Object.hasOwn(types, type) ? types[type] : undefined
  if (fits === undefined) throw refuse(`must be a picture with the Content-Type ${pictureTypes.join(', ')}`)
  if (ctx.get('Content-Encoding') !== '') throw refuse('must not be compressed again')
  if ((ctx.request.length ?? 0) > most) throw refuse(large)
  const parts: Buffer[] = []
  let size = 0
  try {
    // Its socket still has to carry the refusal.
    for await (const part of ctx.req.iterator({ destroyOnReturn: false })) {
      size += (part as Buffer).length
      if (size > most) break
      parts.push(part as Buffer)
    }
  } catch {
    throw refuse('did not arrive')
  }
  if (size > most) throw refuse(large)
  const bytes = Buffer.concat(parts)
  if (!fits(bytes)) throw refuse(`is not of the type ${type}`)
  return bytes
}
