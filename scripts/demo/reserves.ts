import { strict as assert } from 'node:assert'
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { get, type Json, until } from './api.js'
import type { DemoContext } from './context.js'
import { runOpsJson } from './ops.js'

/** A web process answers with a report that is up to half a minute old. */
const timeoutMs = 60_000

/** The parts of a report that the demo prints. Amounts are decimal text. */
interface Report {
  readonly time: string
  readonly owed: { readonly USDC: { readonly total: string } }
  readonly custody: {
    readonly wallets: number
    readonly USDC: Readonly<Record<'book' | 'chain', string>>
    readonly shortWallets: number
  }
  readonly treasury: { readonly USDC: { readonly chain: string } }
  readonly float: { readonly NGN: { readonly balance: string | null } }
  readonly receivables: { readonly NGN: { readonly collections: string } }
  readonly rate: { readonly NGN: string } | null
  readonly surplus: { readonly NGN: string | null }
}

/** Makes a reserve report, reads it as anybody can, checks its signature and says what it means. */
export async function showReserves({ web, say }: DemoContext): Promise<void> {
  const { report: made } = await runOpsJson('reserves', '--make')
  const { time } = JSON.parse(String(made)) as Report
  const answer = await until('the report at GET /reserves', timeoutMs, async () => {
    const newest = await fetch(`${web}/reserves`)
    const found = (await newest.json()) as Json
    // Another demo on this stack may have made a later one.
    return newest.ok && JSON.parse(String(found['report'])).time >= time ? found : undefined
  })
  const text = String(answer['report'])
  const jwk = await until('the key of the report', timeoutMs, async () => {
    const { keys } = await get(`${web}/.well-known/tipping-keys.json`)
    return (keys as Json[]).find(({ kid }) => kid === answer['keyId'])
  })
  const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
  const signature = Buffer.from(String(answer['signature']), 'base64url')
  assert(verify(null, Buffer.from(text), key, signature), 'the signature of the report is valid')
  assert(!verify(null, Buffer.from(`${text} `), key, signature), 'a changed report is not valid')
  say(`GET /reserves has the report of ${time}; its Ed25519 signature is valid`)
  describe(JSON.parse(text) as Report, say)
}

function describe(report: Report, say: DemoContext['say']): void {
  const { owed, custody, treasury, float, receivables, rate, surplus } = report
  say(`owed: ${owed.USDC.total} USDC to creators`)
  say(
    `custody: ${custody.wallets} wallets hold ${custody.USDC.chain} USDC on the chain, the book says ${custody.USDC.book}`,
  )
  say(`treasury: ${treasury.USDC.chain} USDC`)
  say(
    `float: NGN ${float.NGN.balance} at the provider, and NGN ${receivables.NGN.collections} paid but not settled there`,
  )
  assert.equal(custody.shortWallets, 0, 'no custody wallet lacks USDC')
  assert(surplus.NGN !== null && !surplus.NGN.startsWith('-'), `what is left is not negative: ${surplus.NGN}`)
  say(`if everybody withdrew now, at NGN ${rate?.NGN} for a dollar, NGN ${surplus.NGN} would be left`)
}
