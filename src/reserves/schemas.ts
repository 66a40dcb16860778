import { z } from 'zod'

export const nothing = z.object({})

/** GET /reserves. */
export const reservesAnswer = z.object({
  success: z.literal(true),
  report: z.string(),
  signature: z.string(),
  keyId: z.string(),
})

const reportKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  kid: z.string(),
  x: z.string(),
})

/** GET /.well-known/tipping-keys.json: a JWK Set (RFC 7517). */
export const reportKeysAnswer = z.object({ success: z.literal(true), keys: z.array(reportKey) })
