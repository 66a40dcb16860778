import { Agent, request } from 'node:http'
import { solMint } from '../../../src/kernel/tokens.js'
import { faucetOf, requestAirdrop } from '../../sandbox/chain/faucet.js'
import { chooseKind, seededNumber } from '../../sandbox/fiatpay/seeded-choice.js'
import type { Sandbox } from '../../sandbox/server.js'

const weights = { list: 40, rate: 10, document: 5, recording: 10, repeated: 20, intent: 15 } as const
export type RequestKind = keyof typeof weights

/** 0.01 SOL: above the rent of a new account. */
const lamports = 10_000_000
const faultsKept = 20
const beginMs = 5

export interface LoadNeeds {
  readonly url: string
  readonly sandbox: Sandbox
  readonly seed: number
  /** The recipients of tips. */
  readonly wallets: readonly string[]
  /** Requests begin at this rate, however long others take. */
  readonly perSecond: number
}

/** Requests through one address, at fixed times as those of strangers are, until stopped. No request is repeated. */
export class Load {
  /** The ms of the answers, by kind. */
  readonly answered: Record<RequestKind, number[]> = {
    list: [],
    rate: [],
    document: [],
    recording: [],
    repeated: [],
    intent: [],
  }
  failed = 0
  /** What became of the first requests that failed. */
  readonly faults: string[] = []
  /** The signatures that were answered 200. */
  readonly recorded: string[] = []
  readonly #needs: LoadNeeds
  readonly #agent = new Agent({ keepAlive: true })
  readonly #running = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #begun = 0

  constructor(needs: LoadNeeds) {
    this.#needs = needs
    const startedAt = performance.now()
    this.#timer = setInterval(() => {
      const due = ((performance.now() - startedAt) * needs.perSecond) / 1000
      while (this.#begun < due) this.#begin(this.#begun++)
    }, beginMs)
  }

  get count(): number {
    return Object.values(this.answered).reduce((sum, { length }) => sum + length, this.failed)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#running)
    this.#agent.destroy()
  }

  #begin(turn: number): void {
    const one = this.#run(turn).finally(() => this.#running.delete(one))
    this.#running.add(one)
  }

  async #run(turn: number): Promise<void> {
    const kind = chooseKind<RequestKind>(weights, seededNumber(this.#needs.seed, 'load', turn))
    const startedAt = performance.now()
    const fault = await this.#one(kind, turn).catch(String)
    if (fault === undefined) this.answered[kind].push(performance.now() - startedAt)
    else {
      this.failed += 1
      if (this.faults.length < faultsKept) this.faults.push(`${new Date().toISOString()} ${kind}: ${fault}`)
    }
  }

  /** Sends one request. Returns what is wrong with its answer. */
  async #one(kind: RequestKind, turn: number): Promise<string | undefined> {
    const { sandbox, wallets } = this.#needs
    const wallet = wallets[turn % wallets.length] ?? ''
    const sender = faucetOf(sandbox.chain).publicKey.toBase58()
    switch (kind) {
      case 'list':
        return this.#send('GET', `/chain/tips?address=${wallet}`)
      case 'rate':
        return this.#send('GET', '/payments/fiat/rate?amount=10')
      case 'document':
        return this.#send('GET', '/openapi.json')
      case 'intent':
        return this.#send('POST', '/payments/intent', {
          creatorId: wallet,
          amount: 0.05,
          inputTokenMint: solMint,
          sourceWalletAddress: sender,
        })
      case 'recording':
        return this.#recordNew(wallet, sender, requestAirdrop(sandbox.chain, wallet, BigInt(lamports)))
      case 'repeated': {
        const signature = this.recorded[turn % Math.max(1, this.recorded.length)]
        if (signature === undefined) return this.#send('GET', `/chain/tips?address=${wallet}`)
        return this.#record(wallet, sender, signature)
      }
    }
  }

  async #recordNew(creatorWallet: string, senderWallet: string, txSignature: string) {
    const fault = await this.#record(creatorWallet, senderWallet, txSignature)
    if (fault === undefined) this.recorded.push(txSignature)
    return fault
  }

  #record(creatorWallet: string, senderWallet: string, txSignature: string): Promise<string | undefined> {
    return this.#send('POST', '/chain/tips/create', {
      creatorWallet,
      senderWallet,
      tipAmount: lamports,
      txSignature,
    })
  }

  #send(method: string, path: string, body?: unknown): Promise<string | undefined> {
    return new Promise((done) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const headers =
        text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      request(`${this.#needs.url}${path}`, { method, headers, agent: this.#agent }, (response) => {
        let answer = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          answer += chunk
        })
        response.on('end', () =>
          done(response.statusCode === 200 ? undefined : `${response.statusCode} ${answer.slice(0, 200)}`),
        )
        response.on('error', (error) => done(error.message))
      })
        .on('error', (error) => done(error.message))
        .end(text)
    })
  }
}
