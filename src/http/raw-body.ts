import type { Context } from 'koa'
import { type DomainError, type ErrorCode, inputError } from '../kernel/errors.js'

const megabyte = 1024 * 1024

/** The bytes of the body. Throws `invalid` for more than this many, and for a body that does not arrive whole. */
export async function readRawBody(ctx: Context, most: number, invalid: ErrorCode): Promise<Buffer> {
  const text = most < megabyte ? `${most / 1024} KB` : `${most / megabyte} MB`
  const large = () => refuseBody(ctx, invalid, `must have at most ${text}`)
  if ((ctx.request.length ?? 0) > most) throw large()
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
    throw refuseBody(ctx, invalid, 'did not arrive')
  }
  if (size > most) throw large()
  return Buffer.concat(parts)
}

/** An error about a body of which the rest is not read. */
export function refuseBody(ctx: Context, invalid: ErrorCode, problem: string): DomainError {
  ctx.set('Connection', 'close')
  return inputError(invalid, 'body', problem)
}
