import { z } from 'zod'

/** A version is stored with each wallet as an int. */
const highestVersion = 2_147_483_647
const keyBytes = 32
const form = `must be 32 bytes in base64, or several as <version>:<base64>, separated by commas, such as 2:<new>,1:<old>`

/**
 * The keys that seal wallets, by version. A key without a version is version 1, so that one key alone needs none. The highest
 * version is the newest, wherever it stands.
 */
export const walletKeys = z.string().transform((text, ctx): ReadonlyMap<number, Buffer> => {
  const keys = new Map<number, Buffer>()
  for (const item of text.split(',')) {
    const [, version = '1', base64 = ''] = /^(?:([1-9]\d{0,9}):)?([A-Za-z0-9+/]+=*)$/.exec(item.trim()) ?? []
    const key = Buffer.from(base64, 'base64')
    if (key.length !== keyBytes || Number(version) > highestVersion) return fault(ctx, form)
    if (keys.has(Number(version))) return fault(ctx, `names version ${version} twice`)
    if ([...keys.values()].some((other) => other.equals(key)))
      return fault(ctx, 'has one key under two versions')
    keys.set(Number(version), key)
  }
  return new Map([...keys].sort(([one], [other]) => other - one))
})

function fault(ctx: z.core.$RefinementCtx, message: string): never {
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
}
