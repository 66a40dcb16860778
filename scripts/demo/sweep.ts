import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Keypair } from '@solana/web3.js'
import { usdcText } from '../../src/kernel/money.js'
import { type Json, post, until } from './api.js'
import type { DemoContext } from './context.js'
import { runOpsJson } from './ops.js'

const payerSol = '1'
const timeoutMs = 60_000
const slotsAhead = 8
const pauseMs = 200

/** Moves what the platform has paid the creator for to the treasury, as an operator does: a plan, then the sweep. */
export async function sweepToTreasury(context: DemoContext): Promise<void> {
  const { sandbox, say } = context
  // The plan counts what is final on the chain, and the newest tips are owed before that.
  const planned = await until('USDC that the withdrawal has paid for', timeoutMs, async () => {
    const now = await readCustody(context)
    return now.sweepable > 0n ? now : undefined
  })
  say(
    `the creator's custody wallet holds ${usdcText(planned.onChain)}: ${usdcText(planned.owed)} are still the creator's, ${usdcText(planned.sweepable)} are paid for`,
  )
  const folder = mkdtempSync(join(tmpdir(), 'tipping-demo-'))
  try {
    const payer = Keypair.generate()
    const file = join(folder, 'payer.json')
    writeFileSync(file, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
    const wallet = payer.publicKey.toBase58()
    await post(`${sandbox}/dev/airdrop`, { wallet, token: 'SOL', amount: payerSol })
    const { sweeps } = await advanceChainDuring(sandbox, runOpsJson('sweep', '--apply', '--payer', file))
    for (const { state, units, creators, signature } of sweeps as Json[])
      say(
        `sweep ${String(signature).slice(0, 11)}... is ${state}: ${usdcText(BigInt(String(units)))} that ${creators === 1 ? 'one creator was' : `${creators} creators were`} paid for`,
      )
  } finally {
    rmSync(folder, { recursive: true })
  }
  // Somebody else's command may have swept this creator too, and then that one waits for the end.
  const swept = await until('the end of the sweep', timeoutMs, async () => {
    const now = await readCustody(context)
    return now.swept >= planned.sweepable && now.inFlight === 0n ? now : undefined
  })
  assert.equal(planned.onChain - swept.onChain, planned.sweepable)
  assert(swept.onChain >= swept.owed, "the creator's own money stays in the custody wallet")
  say(`the custody wallet now holds ${usdcText(swept.onChain)}, which is what the creator is owed`)
}

/** Advances the stand-in's chain while `work` runs: a transaction is final after 32 slots, which take 13 s. */
async function advanceChainDuring<T>(sandbox: string, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  void work.then(
    () => done.abort(),
    () => done.abort(),
  )
  while (!done.signal.aborted) {
    await post(`${sandbox}/`, {
      jsonrpc: '2.0',
      id: 1,
      method: 'dev_advance',
      params: [slotsAhead],
    })
    await pause(pauseMs, undefined, { signal: done.signal }).catch(() => undefined)
  }
  return work
}

type Amounts = Readonly<Record<'swept' | 'inFlight' | 'onChain' | 'owed' | 'sweepable', bigint>>

/** The creator's line of the plan. */
async function readCustody({ creator }: DemoContext): Promise<Amounts> {
  const { creators } = await runOpsJson('sweep')
  const found = (creators as Json[]).find(({ userId }) => userId === creator.id)
  assert(found, "the sweep's plan has the creator")
  const amount = (name: keyof Amounts): bigint => BigInt(String(found[name]))
  return {
    swept: amount('swept'),
    inFlight: amount('inFlight'),
    onChain: amount('onChain'),
    owed: amount('owed'),
    sweepable: amount('sweepable'),
  }
}
