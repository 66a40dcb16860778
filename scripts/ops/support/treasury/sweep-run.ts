import { setTimeout as pause } from 'node:timers/promises'
import { Connection, type Keypair } from '@solana/web3.js'
import type { Composed } from '../../../../src/compose.js'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { signMessageBytes } from '../../../../src/kernel/ed25519.js'
import { usdcText } from '../../../../src/kernel/money.js'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { solMint } from '../../../../src/kernel/tokens.js'
import { rentExemptLamports } from '../../../../src/ports/chain.js'
import {
  completeSweep,
  faultForPayer,
  sweepTransaction,
} from '../../../../src/treasury/sweeps/complete-sweep.js'
import { viewCreators } from '../../../../src/treasury/sweeps/custody-overview.js'
import {
  groupParts,
  type PlannedPart,
  partsOf,
  planSweep,
} from '../../../../src/treasury/sweeps/plan-sweeps.js'
import { listSweeps, type SweepRow } from '../../../../src/treasury/sweeps/sweep.js'
import { type Order, RefusedError } from '../order.js'

/** What came of a run. */
export interface SweepResult {
  /** The sweeps that this run planned or found, as they are now. */
  readonly sweeps: readonly SweepRow[]
  /** Creators whose part failed alone, and why. */
  readonly excluded: readonly { readonly userId: string; readonly reason: string }[]
}

interface Group {
  readonly userIds: readonly string[]
  /** How often it did not land in time. */
  readonly tries: number
}

const pollMs = 250
/** Between two sendings of the same bytes. */
const resendMs = 2000
/** Sweeps under way at the same time. */
const openMax = 8
const triesMax = 3
/** Signatures and priority of one sweep, rounded up. */
export const lamportsPerSweep = 50_000n
/** A running custodian signs within seconds. */
const unsignedMs = 60_000
/** Longer than a transaction may land and become final. */
const endlessMs = 600_000

/**
 * Sends complete transactions to the first endpoint that takes them, without a simulation. A refusal proves nothing: whatever becomes of
 * them is read from the chain, and the same bytes are sent again until then.
 */
async function submitBytes(rpcUrls: readonly string[], transactions: readonly Uint8Array[]): Promise<void> {
  const options = { skipPreflight: true, maxRetries: 0 }
  for (const bytes of transactions)
    for (const url of rpcUrls) {
      const send = new Connection(url, 'confirmed').sendRawTransaction(bytes, options)
      const isTaken = await send.then(
        () => true,
        () => false,
      )
      if (isTaken) break
    }
}

/** Sweeps the parts: plans, has the custodian sign, completes, sends, and waits for the end of each. */
export class SweepRun {
  readonly #services: Composed
  readonly #payer: Keypair
  readonly #order: Order
  #queue: Group[]
  readonly #groups = new Map<string, Group>()
  readonly #excluded = new Map<string, string>()
  readonly #ended = new Set<string>()
  readonly #refused = new Map<string, string>()
  #sentAt = 0
  #progressAt = Date.now()
  #said = ''

  constructor(services: Composed, payer: Keypair, order: Order, parts: readonly PlannedPart[]) {
    this.#services = services
    this.#payer = payer
    this.#order = order
    this.#queue = groupParts(services, this.#address, parts).map((group) => ({
      userIds: group.map(({ userId }) => userId),
      tries: 0,
    }))
  }

  get #address(): string {
    return this.#payer.publicKey.toBase58()
  }

  /** Ends when nothing is left to do but for a person. Throws ProviderError when the custodian does not sign, or nothing ends. */
  async run(): Promise<SweepResult> {
    for (;;) {
      const sweeps = await this.#mine()
      for (const sweep of sweeps) await this.#step(sweep)
      await this.#send(sweeps.filter(({ state, undecided }) => state === 'sent' && !undecided))
      const open = sweeps.filter(
        ({ state, undecided, id }) => this.#isOpen(state) && !undecided && !this.#refused.has(id),
      )
      this.#say(sweeps, open.length)
      if (open.length < openMax && this.#queue.length > 0) await this.#planNext()
      else if (open.length === 0) return { sweeps: await this.#mine(), excluded: this.#exclusions() }
      else {
        this.#requireProgress(open)
        await pause(pollMs)
      }
    }
  }

  #isOpen(state: SweepRow['state']): boolean {
    return state === 'planned' || state === 'signed' || state === 'sent'
  }

  /** Those of this run, and open ones of this payer that an earlier run has left. */
  async #mine(): Promise<SweepRow[]> {
    const all = await listSweeps(this.#services.db, [...this.#groups.keys()])
    return all.filter(({ payer }) => payer === this.#address)
  }

  async #step(sweep: SweepRow): Promise<void> {
    const { id, state, failure } = sweep
    if (!this.#groups.has(id)) this.#groups.set(id, { userIds: [], tries: 0 })
    if (state === 'signed' && !this.#refused.has(id)) await this.#complete(sweep)
    if (this.#isOpen(state) || this.#ended.has(id)) return
    this.#ended.add(id)
    this.#progressAt = Date.now()
    if (state !== 'final') this.#tryAgain(this.#groups.get(id), sweep, failure ?? state)
  }

  /** The payer signs what the custodian has signed. The signature is committed before anything is sent. */
  async #complete(sweep: SweepRow): Promise<void> {
    const fault = await faultForPayer(this.#services, sweep)
    if (fault !== undefined) {
      this.#refused.set(sweep.id, `sweep ${sweep.id} is not what was planned: ${fault}`)
      return
    }
    const signature = encodeBase58(signMessageBytes(this.#payer.secretKey, sweep.message ?? Buffer.alloc(0)))
    await completeSweep(this.#services, sweep, signature)
    this.#progressAt = Date.now()
  }

  /** The same bytes, again and again, until the custodian has seen their end. */
  async #send(sent: readonly SweepRow[]): Promise<void> {
    if (sent.length === 0 || Date.now() - this.#sentAt < resendMs) return
    this.#sentAt = Date.now()
    const bytes = sent.flatMap((sweep) => sweepTransaction(this.#services, sweep) ?? [])
    await submitBytes(this.#services.config.chain.rpcUrls ?? [], bytes)
  }

  /** A sweep that moved nothing: one creator's account may be the reason, so the halves are tried apart. */
  #tryAgain(group: Group | undefined, { signature, state }: SweepRow, reason: string): void {
    if (group === undefined || group.userIds.length === 0) return
    const { userIds, tries } = group
    const late = state === 'dead' && signature !== null
    if (late && tries + 1 < triesMax) this.#queue.push({ userIds, tries: tries + 1 })
    else if (!late && userIds.length > 1) {
      const half = Math.ceil(userIds.length / 2)
      this.#queue.push({ userIds: userIds.slice(0, half), tries }, { userIds: userIds.slice(half), tries })
    } else for (const userId of userIds) this.#excluded.set(userId, reason)
  }

  /** Plans one group, with what may be swept now: another sweep or a withdrawal may have changed it. */
  async #planNext(): Promise<void> {
    const group = this.#queue.shift()
    if (group === undefined) return
    await this.#requireFees()
    const views = await viewCreators(this.#services, group.userIds)
    for (const { userId, fault, shortage } of views) {
      if (shortage > 0n) this.#excluded.set(userId, 'the chain has less than the book')
      else if (fault !== undefined) this.#excluded.set(userId, `the account is ${fault}`)
    }
    const parts = partsOf(views)
    if (parts.length === 0) return
    const payer = this.#address
    await this.#services.transact(async (uow) => {
      const planned = await planSweep(uow, this.#services, { payer, actor: this.#order.by, parts })
      if (planned === undefined) return
      const amounts = Object.fromEntries(planned.parts.map(({ userId, amount }) => [userId, amount]))
      await this.#order.audit(uow.trx, 'sweep', `sweep:${planned.id}`, { payer, parts: amounts })
      this.#groups.set(planned.id, { userIds: planned.parts.map(({ userId }) => userId), tries: group.tries })
    })
    this.#progressAt = Date.now()
  }

  /** Without this, a payer that ran out of SOL would look like a fault of every creator. */
  async #requireFees(): Promise<void> {
    const name = { wallet: this.#address, mint: solMint }
    const [sol] = await this.#services.custodyChain.readSources([name], 'confirmed')
    if ((sol?.amount ?? 0n) < rentExemptLamports + lamportsPerSweep)
      throw new RefusedError(`payer ${this.#address} has ${sol?.amount ?? 0n} lamports, too little to go on`)
  }

  #requireProgress(open: readonly SweepRow[]): void {
    const stillMs = Date.now() - this.#progressAt
    const [waiting] = open
    if (waiting !== undefined && stillMs > endlessMs)
      throw new ProviderError(
        'unavailable',
        `${open.length} sweeps have no end yet (${waiting.lastError ?? 'is the custodian running, does the endpoint answer?'}): run this again with the same payer, nothing moves twice`,
      )
    const unsigned = open.filter(({ state }) => state === 'planned')
    if (unsigned.length === 0 || stillMs < unsignedMs) return
    const [first] = unsigned
    const error =
      first?.lastError == null ? 'is the custodian running?' : `its last error: ${first.lastError}`
    throw new ProviderError('unavailable', `the custodian has not signed ${unsigned.length} sweeps: ${error}`)
  }

  #say(sweeps: readonly SweepRow[], open: number): void {
    const final = sweeps.filter(({ state }) => state === 'final')
    const units = final.reduce((sum, sweep) => sum + sweep.units, 0n)
    const text = `${usdcText(units)} in ${final.length} sweeps; ${open} under way, ${this.#queue.length} to plan`
    if (text !== this.#said) process.stderr.write(`${text}\n`)
    this.#said = text
  }

  #exclusions(): { userId: string; reason: string }[] {
    const [refused] = this.#refused.values()
    if (refused !== undefined) throw new RefusedError(refused)
    return [...this.#excluded].map(([userId, reason]) => ({ userId, reason }))
  }
}
