import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { invalidParams } from './error.js'
import { commitment, count, key, method, type RpcMethod, signature } from './params.js'

const slotsAheadMax = 10_000_000
const lagMax = 10_000
// Base64 characters, close to the body limit. Accounts of tests hold a few hundred bytes.
const accountDataMax = 4_000_000
const lamportsMax = 2n ** 53n

const lamports = z
  .union([count, z.string().regex(/^\d{1,16}$/, 'lamports: a whole number')])
  .transform((value) => BigInt(value))
  .refine((value) => value <= lamportsMax, 'lamports: at most 2^53')
const newAccount = z.strictObject({
  lamports: lamports.optional(),
  owner: key.optional(),
  data: z.base64().max(accountDataMax).optional(),
})
const lags = z.strictObject({
  confirmLag: count.max(lagMax).optional(),
  finalizeLag: count.max(lagMax).optional(),
})

/**
 * Controls that a real cluster does not have. With them a test makes the network slow or makes it lose transactions.
 * `dev_setAccount(key, {lamports?, owner?, data?: base64})` writes an account; lamports default to its rent.
 * `dev_holdSignature(signature, commitment | null)` keeps a transaction from going beyond that commitment.
 */
export function devMethods(chain: LocalChain): Record<string, RpcMethod> {
  return {
    dev_holdLanding: method(z.tuple([z.boolean()]), (on) => {
      chain.holdLanding(on)
      return true
    }),
    dev_dropMempool: method(z.tuple([]), () => chain.dropMempool()),
    dev_holdSignature: method(z.tuple([signature, commitment.nullable()]), (text, cap) => {
      chain.holdSignature(text, cap ?? undefined)
      return true
    }),
    dev_freezeConfirmations: method(z.tuple([z.boolean()]), (on) => {
      chain.freezeConfirmations(on)
      return true
    }),
    dev_advance: method(z.tuple([count.max(slotsAheadMax)]), (slots) => {
      chain.advance(slots)
      return chain.clock.slot
    }),
    dev_setAccount: method(z.tuple([key, newAccount]), (address, { data = '', lamports, owner }) => {
      try {
        chain.setAccount(address, {
          data: Buffer.from(data, 'base64'),
          ...(lamports !== undefined && { lamports }),
          ...(owner !== undefined && { owner }),
        })
      } catch (error) {
        // The virtual machine refuses bytes that would make a sysvar unreadable.
        throw invalidParams(error instanceof Error ? error.message : String(error))
      }
      return true
    }),
    dev_config: method(z.tuple([lags]), (newLags) => {
      chain.setLags(newLags)
      return { confirmLag: chain.clock.confirmLag, finalizeLag: chain.clock.finalizeLag }
    }),
  }
}
