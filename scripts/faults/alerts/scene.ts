import { setTimeout as sleep } from 'node:timers/promises'
import { VersionedTransaction } from '@solana/web3.js'
import type { Knex } from 'knex'
import { usdc } from '../../../src/kernel/tokens.js'
import type { RunningPostgres } from '../../dev/postgres/postgres.js'
import { waitUntil } from '../../dev/wait-until.js'
import type { Charge, Transfer } from '../../sandbox/fiatpay/records.js'
import { type ApiAnswer, type ApiRequest, requestOnce, withdrawOnce } from '../client.js'
import type { MonthCreator } from '../month/people.js'
import type { Stage, StageProcess } from '../month/stage.js'
import { makeDue } from '../sweeps/make-due.js'
import type { DenyingNode } from './denying-node.js'
import { type Scrape, scrape } from './scrape.js'

const waitMs = 180_000
/** A process shares one read of the state among the scrapes of this time. */
const cachedMs = 5100

/** The whole service, and what people, banks and operators do to it. */
export class Scene {
  readonly stage: Stage
  readonly postgres: { kill(): Promise<void>; start(): Promise<RunningPostgres> }
  readonly redis: { stop(): Promise<void>; start(): Promise<void> }
  /** The verifier's second RPC node. */
  readonly node: Pick<DenyingNode, 'deny'>

  /** Processes that run for a while. */
  readonly further: StageProcess[] = []

  constructor(stage: Stage, servers: Pick<Scene, 'postgres' | 'redis' | 'node'>) {
    this.stage = stage
    this.postgres = servers.postgres
    this.redis = servers.redis
    this.node = servers.node
  }

  get fiatpay() {
    return this.stage.sandbox.fiatpay
  }

  get chain() {
    return this.stage.sandbox.chain
  }

  creator(n: number): MonthCreator {
    const { creators } = this.stage
    const creator = creators[n % creators.length]
    if (creator === undefined) throw new Error('there is no creator')
    return creator
  }

  process(name: string): StageProcess {
    const found = this.stage.processes.find((one) => one.name === name)
    if (found === undefined) throw new Error(`there is no process ${name}`)
    return found
  }

  scrape(): Promise<Scrape> {
    return scrape([...this.stage.processes, ...this.further])
  }

  /** Lets the processes measure again what they have measured a moment ago. */
  async measureAgain(names?: readonly string[]): Promise<void> {
    const old = this.stage.db.raw(`clock_timestamp() - interval '10 minutes'`)
    const rows = this.stage.db('measurements')
    await (names === undefined ? rows : rows.whereIn('name', names)).update({ measured_at: old })
    await sleep(cachedMs)
  }

  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const happened = await waitUntil(() => {
      this.stage.throwFailure()
      return condition()
    }, waitMs)
    if (!happened) throw new Error(`${what}: not within ${waitMs / 1000} s; logs: ${this.stage.logs}`)
  }

  ask(request: ApiRequest, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    return requestOnce(this.stage.url, request, headers)
  }

  /** The work of a kind is due now. */
  due(table: string, condition = 'true'): Promise<void> {
    return makeDue(this.stage.db, table, condition)
  }

  /** Changes rows that the service itself cannot change: what takes hours or days, and what somebody does to the database by hand. */
  async rewrite(change: (trx: Knex.Transaction) => PromiseLike<unknown>): Promise<void> {
    await this.stage.db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica')
      await change(trx)
    })
  }

  /** A tip in USDC with a real signature. */
  async tip(creator: MonthCreator, dollars: number): Promise<string> {
    const supporter = this.stage.supporters[0]
    if (supporter === undefined) throw new Error('there is no supporter')
    const sender = supporter.publicKey.toBase58()
    const wanted = {
      creatorId: creator.userId,
      amount: dollars,
      inputTokenMint: usdc.mint,
      sourceWalletAddress: sender,
      tokenSymbol: 'USDC',
    }
    const { body } = await this.ask(['POST', '/payments/intent', wanted])
    const { intentId, transaction } = body as { intentId?: string; transaction?: string }
    if (transaction === undefined) throw new Error(`no intent: ${JSON.stringify(body)}`)
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    signed.sign([supporter])
    const txSignature = this.chain.submit(signed.serialize(), { skipPreflight: false })
    const payment = { txSignature, tipAmount: Math.round(dollars * 1e6), tokenSymbol: 'USDC' }
    const claim = { ...payment, senderWallet: sender, creatorWallet: creator.wallet, intentId }
    const { status } = await this.ask(['POST', '/chain/tips/create', claim])
    if (status !== 200) throw new Error(`a tip was answered ${status}`)
    return txSignature
  }

  async tipStatus(signature: string): Promise<{ status: string; finalized_at: Date | null } | undefined> {
    return this.stage.db('tips').where({ id: signature }).first()
  }

  /** A naira tip, paid in full. */
  async naira(creator: MonthCreator, dollars = 5): Promise<Charge> {
    const wanted = { creatorId: creator.userId, amount: dollars }
    const { body } = await this.ask(['POST', '/payments/fiat/intent', wanted])
    const charge = this.fiatpay.charges.find(String(body['intentId']))
    if (charge === undefined) throw new Error(`no naira intent: ${JSON.stringify(body)}`)
    return this.fiatpay.pay(charge, charge.amountKobo)
  }

  /** The payment is booked. */
  async nairaBooked({ payments }: Charge): Promise<void> {
    const keys = payments.map(({ id }) => `fiatpay:${id}`)
    await this.until('a payment is booked', async () => {
      const rows = await this.stage.db('ledger_transfers').whereIn('idem', keys)
      return rows.length === keys.length
    })
  }

  /** The reference of a withdrawal that was asked for, whatever came of it. */
  async withdraw(creator: MonthCreator, dollars: number): Promise<string> {
    const { body, status } = await withdrawOnce(this.stage.url, creator.cookie, dollars)
    const { reference } = body as { reference?: string }
    if (reference === undefined)
      throw new Error(`a withdrawal was answered ${status}: ${JSON.stringify(body)}`)
    return reference
  }

  withdrawal(reference: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.stage.db('withdrawals').where({ provider_reference: reference.toLowerCase() }).first()
  }

  async withdrawalIs(reference: string, column: 'status' | 'send_state', value: string): Promise<void> {
    await this.until(`${reference} is ${value}`, async () => {
      await this.due('withdrawals', `status <> 'completed'`)
      return (await this.withdrawal(reference))?.[column] === value
    })
  }

  transfer(reference: string): Transfer {
    const found = this.fiatpay.transfers.find(reference)
    if (found === undefined) throw new Error(`the bank has no transfer ${reference}`)
    return found
  }

  /** Runs an operator's command. */
  async operate(name: string, ...args: string[]): Promise<void> {
    const { code, out, err } = await this.stage.commands.run(name, args)
    if (code !== 0) throw new Error(`ops ${name} ended with ${code}: ${out}${err}`)
  }
}
