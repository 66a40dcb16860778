import { readdirSync, readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { type Composed, compose } from '../../src/compose.js'
import { createApiKey } from '../../src/creators/api-keys.js'
import { solMint, usdc } from '../../src/kernel/tokens.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { query } from '../../src/platform/database/database.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import { createEndpoint } from '../../src/webhooks/manage-endpoints.js'
import { freePort } from '../dev/ports.js'
import { waitUntil } from '../dev/wait-until.js'
import { fund, register, requestOnce } from '../kit/client.js'
import { withClosing } from '../kit/closing.js'
import { Draw } from '../kit/draw.js'
import { patient } from '../kit/patient-pool.js'
import { countBy, type Report, sortedRows } from '../kit/report.js'
import type { ServerUrls } from '../kit/servers.js'
import type { LedgerRecord } from '../sandbox/chain/ledger.js'
import { compareMoney, stateOfVictims } from './hostile/money.js'
import {
  type Answer,
  faultOf,
  type HostileRequest,
  type Known,
  type OpenApi,
  RequestMaker,
  send,
  shorten,
  textOfRequest,
} from './hostile/requests.js'
import { attackSocket, countConnections, faultOfSocket, socketAttacks } from './hostile/sockets.js'
import { landTips, matchFaults, mutateRecord } from './hostile/transactions.js'
import { memoryRows, normalClient, watchMemory } from './hostile/watch.js'
import { type HostileReceiver, mannerNames, sendWebhook, startHostileReceiver } from './hostile/webhooks.js'
import { bookFaults } from './world/compare-books.js'
import { openStage, type Stage } from './world/stage.js'

interface Plan {
  readonly minutes: number
  /** A tenth as many transactions are matched, 1 in 300 goes the whole way, and 1 in 100 is a webhook or another connection. */
  readonly requests: number
  readonly seed: number
  readonly report: (text: string) => void
}

const clients = 12
const fundedMicro = 1_000_000_000n
const operator = ['operator', 'a password of operators'] as const
const pages = [
  '/',
  '/@ada',
  '/@ada/qr.svg',
  '/@ada/og.png',
  '/dashboard',
  '/docs',
  '/openapi.json',
  '/embed/x',
  '/overlay/x',
  '/t/x',
  '/verify',
  '/ready',
]
const calmMs = 10_000
const pauseMs = 100
const settleMs = 150_000
const mostReported = 30
const genuineCount = 20
const beatMs = 30_000
/** Attackers lose their credentials by what they send. */
const attackerRequests = 300

interface Attacker {
  readonly cookie: string
  readonly apiKey: string
}

/** Sends the service what attackers send, beside a normal client, and compares what it is afterwards with what it was. */
export function runHostility(servers: ServerUrls, plan: Plan): Promise<Report> {
  return withClosing(async (defer) => {
    const opsPort = String(await freePort())
    const stage = await openStage(defer, servers, plan.seed, {
      creators: 2,
      workers: [
        { names: ['verifier', 'finder'] },
        { names: ['settlement', 'mailer', 'provisioner'] },
        { names: ['payouts', 'reconciler', 'custodian', 'take-outs'] },
        { names: ['dispatcher', 'clock'] },
      ],
      env: () => ({ OPS_PORT: opsPort, OPS_USER: operator[0], OPS_PASSWORD: operator[1] }),
    })
    const services = compose(loadConfig(stage.env), 'faults')
    defer(() => services.close())
    patient(services.db)
    await openDataKeys(services.db, services.config.dataKeys)
    for (const { userId } of stage.creators) await fund(stage.db, userId, fundedMicro)
    const receiver = await startHostileReceiver(defer)
    for (const [n, manner] of mannerNames.entries())
      await createEndpoint(services, stage.creators[n % 2]?.userId ?? '', {
        url: `${receiver.url}/${encodeURIComponent(manner)}`,
        types: [],
      })
    const genuine = await landTips(stage, genuineCount)
    const document = (await (await fetch(`${stage.url}/openapi.json`)).json()) as OpenApi
    const attack = new Attack(stage, services, plan, { genuine, document, opsPort })
    defer(() => attack.agent.destroy())
    const before = await stateOfVictims(stage)
    const beat = setInterval(() => plan.report(JSON.stringify(attack.sent)), beatMs)
    defer(() => clearInterval(beat))

    const ending = { isOver: false }
    const normal = normalClient(stage.url, stage.creators[0]?.wallet ?? '', ending, attack.note)
    await sleep(calmMs)
    normal.phase = 'under'
    const samples = watchMemory(stage, ending)
    await attack.run()
    ending.isOver = true
    await normal.done
    plan.report('all is sent')
    await attack.end(receiver)
    await compareMoney(stage, services, attack.mutants, before, attack.note)
    for (const fault of [...(await bookFaults(stage.db)), ...faultsOfLogs(stage.logs)]) attack.note(fault)
    stage.throwFailure()
    for (const kill of stage.kills) attack.note(`a process ended: ${kill}`)
    const memory = memoryRows(samples, attack.note)
    return {
      rows: [
        ['minutes', plan.minutes],
        ...(await attack.rows()),
        ...sortedRows(Object.fromEntries(receiver.counts), 'webhooks out: '),
        ...normal.rows(),
        ...memory,
      ],
      faults: attack.faults,
      kept: 'every request got an answer, no process ended or grew, and no money moved',
    }
  })
}

/** All that is sent, and the faults that come of it. */
class Attack {
  readonly agent = new Agent({ keepAlive: true, maxSockets: clients })
  readonly sent = { requests: 0, unsendable: 0, matched: 0, tips: 0, webhooks: 0, connections: 0 }
  readonly faults: string[] = []
  readonly mutants: LedgerRecord[] = []
  readonly #stage: Stage
  readonly #services: Composed
  readonly #plan: Plan
  readonly #genuine: readonly LedgerRecord[]
  readonly #opsUrl: string
  readonly #draw: Draw
  readonly #maker: RequestMaker
  readonly #custody: readonly string[]
  readonly #treasury: string
  readonly #supporters: readonly string[]
  readonly #found = new Set<string>()
  readonly #statuses: Record<string, number> = {}
  readonly #unavailable: Record<string, number> = {}
  readonly #attackers: Attacker[] = []
  readonly #connections = new Set<Promise<void>>()
  #matchedTips = 0
  #nth = 0
  #endsAt = 0

  constructor(
    stage: Stage,
    services: Composed,
    plan: Plan,
    given: {
      readonly genuine: readonly LedgerRecord[]
      readonly document: OpenApi
      readonly opsPort: string
    },
  ) {
    this.#stage = stage
    this.#services = services
    this.#plan = plan
    this.#genuine = given.genuine
    this.#opsUrl = `http://127.0.0.1:${given.opsPort}`
    this.#draw = new Draw(plan.seed)
    this.#custody = stage.creators.map(({ wallet }) => wallet)
    this.#treasury = stage.treasury.publicKey.toBase58()
    this.#supporters = stage.supporters.map(({ publicKey }) => publicKey.toBase58())
    const known: Known = [
      [/^creatorId$|userId|recipient_?id/i, stage.creators.map(({ userId }) => userId)],
      [/creatorWallet|^address$|^wallet$/i, [...this.#custody, this.#treasury]],
      [/wallet|sender$/i, this.#supporters],
      [/mint$/i, [usdc.mint, solMint]],
      [/tokenSymbol/, ['USDC', 'SOL', 'usdc']],
      [/signature$/i, given.genuine.map(({ signature }) => signature)],
      [/email$/i, ['attacker-1@example.com', 'nobody@example.com']],
      [/password$/i, ['correct horse battery']],
      [/handle$/i, ['ada', 'attacker']],
      [/amount/i, [1, 0.5, 1_000_000]],
      [/^wait$/, [0, 1]],
      [/url$/i, ['https://shop.example/x', 'http://127.0.0.1:1/x']],
      [
        /id$/i,
        [
          '018f0000-0000-7000-8000-000000000000',
          ...given.genuine.slice(0, 2).map(({ signature }) => signature),
        ],
      ],
    ]
    this.#maker = new RequestMaker(given.document, pages, this.#draw, known)
  }

  /** Notes a fault once. */
  readonly note = (fault: string, key = fault): void => {
    if (this.#found.has(key) || this.#found.size > mostReported) return
    this.#found.add(key)
    this.faults.push(fault)
    this.#plan.report(`FAULT ${fault}`)
  }

  /** Sends everything at the same time, until the time is over or all requests are sent. */
  async run(): Promise<void> {
    this.#endsAt = performance.now() + this.#plan.minutes * 60_000
    const { requests } = this.#plan
    await Promise.all([
      ...Array.from({ length: clients }, () => this.#sendRequests()),
      this.#spread('webhooks', requests / 100, () => this.#sendWebhook()),
      this.#spread('matched', requests / 10, () => this.#matchTransaction()),
      this.#spread('tips', requests / 300, () => this.#reportTip()),
      this.#spread('connections', requests / 100, async () => this.#attackConnection()),
      this.#askOperators(),
    ])
  }

  #goesOn(): boolean {
    return performance.now() < this.#endsAt && this.#nth < this.#plan.requests
  }

  /** Does something so often in step with the requests, at most. */
  async #spread(what: keyof Attack['sent'], times: number, act: () => Promise<unknown>): Promise<void> {
    while (this.#goesOn()) {
      const due = (times * this.#nth) / this.#plan.requests
      while (this.sent[what] < due && this.#goesOn()) {
        this.sent[what] += 1
        await act()
      }
      await sleep(pauseMs)
    }
  }

  async #sendRequests(): Promise<void> {
    while (this.#goesOn()) {
      const nth = this.#nth++
      if (nth % attackerRequests === 0)
        this.#attackers[(nth / attackerRequests) % clients] = await this.#makeAttacker(nth)
      const [name, request] = this.#maker.make(nth, this.#credential())
      const answer = await this.#ask(request)
      this.#count(answer)
      const fault = faultOf(request, answer)
      const key = `${name} ${fault}`
      if (fault === undefined || this.#found.has(key)) continue
      const shortest = await shorten(request, fault, (one) => this.#ask(one))
      this.note(`${name}: ${fault}: ${textOfRequest(shortest)}`, key)
    }
  }

  #ask(request: HostileRequest): Promise<Answer> {
    return send(this.#stage.url, this.agent, request)
  }

  #count({ status, text }: Answer): void {
    this.sent.requests += 1
    if (status === -1) this.sent.unsendable += 1
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (status !== 503) return
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? 'unnamed'
    this.#unavailable[code] = (this.#unavailable[code] ?? 0) + 1
  }

  async #makeAttacker(nth: number): Promise<Attacker> {
    const email = `attacker-${this.#plan.seed}-${nth}@example.com`
    const { userId, cookie } = await register(this.#stage.url, email)
    const { apiKey } = await createApiKey(this.#services, userId, undefined)
    return { cookie, apiKey }
  }

  #credential(): HostileRequest['headers'] {
    const { cookie, apiKey } = this.#draw.one(this.#attackers.filter(Boolean)) ?? { cookie: '', apiKey: '' }
    return this.#draw.oneOf<HostileRequest['headers']>([
      {},
      { cookie },
      { cookie },
      { authorization: `Bearer ${apiKey}` },
      { authorization: `Bearer ${cookie.split('=')[1]}` },
      { cookie, authorization: `Bearer ${apiKey}` },
      { cookie: `${cookie}x` },
    ])
  }

  async #sendWebhook(): Promise<void> {
    const fault = await sendWebhook(this.#stage, this.#draw, this.agent)
    if (fault !== undefined) this.note(fault, fault.slice(0, 40))
  }

  #mutate(): LedgerRecord {
    const wallets = [...this.#custody, this.#treasury, ...this.#supporters]
    return mutateRecord(this.#draw.oneOf(this.#genuine), this.#draw, wallets)
  }

  async #matchTransaction(): Promise<void> {
    const creators = new Set(this.#custody)
    const scene = { creators, treasury: this.#treasury, sender: this.#draw.oneOf(this.#supporters) }
    const broken = matchFaults(this.#services.chain, this.#mutate(), scene)
    if (broken !== undefined) this.#matchedTips += 1
    for (const fault of broken ?? []) this.note(fault, 'a match')
    await setImmediate()
  }

  async #reportTip(): Promise<void> {
    const record = this.#mutate()
    this.#stage.sandbox.chain.ledger.add(record)
    this.mutants.push(record)
    const status = await this.#claim(record.signature, this.#draw.oneOf(this.#custody))
    if (status !== 200) this.note(`a claim is answered ${status}`)
  }

  async #claim(txSignature: string, creatorWallet: string): Promise<number> {
    const claim = {
      creatorWallet,
      senderWallet: this.#draw.oneOf(this.#supporters),
      txSignature,
      tipAmount: this.#draw.whole(1, 10_000_000),
      tokenSymbol: this.#draw.oneOf(['USDC', 'SOL']),
    }
    return (await requestOnce(this.#stage.url, ['POST', '/chain/tips/create', claim])).status
  }

  #attackConnection(): void {
    const attacks = Object.entries(socketAttacks)
    const [name, attack] = attacks[this.sent.connections % attacks.length] ?? ['', { first: '' }]
    const attacked = attackSocket(this.#stage.url, attack).then((end) => {
      this.#connections.delete(attacked)
      const fault = faultOfSocket(end)
      if (fault !== undefined) this.note(`${name}: ${fault}: ${end.text.slice(0, 200)}`, `${name} ${fault}`)
    })
    this.#connections.add(attacked)
  }

  /** With the right login half of the time. */
  async #askOperators(): Promise<void> {
    for (; this.#goesOn(); await sleep(5 * pauseMs)) {
      const [, request] = this.#maker.make(this.#draw.whole(0, this.#maker.operations), {})
      const right = { authorization: `Basic ${Buffer.from(operator.join(':')).toString('base64')}` }
      const headers = { ...request.headers, ...(this.#draw.happens(0.5) && right) }
      const path = this.#draw.happens(0.5) ? '/ops' : request.path
      const { status } = await send(this.#opsUrl, this.agent, { ...request, path, headers })
      if (status >= 500) this.note(`the operators' page answers ${status}: ${textOfRequest(request)}`)
    }
  }

  /** Afterwards genuine tips are confirmed, good webhooks have come, and all connections end. */
  async end({ counts }: HostileReceiver): Promise<void> {
    const { db, url } = this.#stage
    this.agent.destroy()
    await Promise.all(this.#connections)
    const ids = this.#genuine.map(({ signature }) => signature)
    for (const id of ids) await this.#claim(id, this.#custody[0] ?? '')
    const unconfirmed = () => db('tips').whereIn('id', ids).whereNot({ status: 'confirmed' }).first('id')
    const undelivered = () =>
      db('webhook_deliveries as d')
        .join('webhook_endpoints as e', 'e.id', 'd.endpoint_id')
        .whereLike('e.url', '%/good')
        .whereNot('d.state', 'delivered')
        .first('d.sequence')
    const settled: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
      'genuine tips are not confirmed afterwards': async () => (await unconfirmed()) === undefined,
      'a good webhook lacks events': async () =>
        (counts.get('good') ?? 0) > 0 && (await undelivered()) === undefined,
      'connections stay open': () => countConnections(url) === 0,
    }
    for (const [fault, isSettled] of Object.entries(settled))
      if (!(await waitUntil(isSettled, settleMs))) this.note(fault)
  }

  async rows(): Promise<Report['rows']> {
    const tips = await query<{ what: string }>(this.#stage.db, {
      name: 'hostility.outcomes',
      text: `select status::text || coalesce(' ' || outcome::text, '') as what from tips where id = any($1)`,
      values: [this.mutants.map(({ signature }) => signature)],
    })
    return [
      ['operations and pages', this.#maker.operations],
      ['requests', this.sent.requests],
      ['of them refused by the client itself', this.sent.unsendable],
      ...sortedRows(this.#statuses, 'answers: '),
      ...sortedRows(this.#unavailable, '503: '),
      ['mutated transactions matched', this.sent.matched],
      ['of them tips', this.#matchedTips],
      ['mutated transactions all the way', this.sent.tips],
      ...sortedRows(countBy(tips.map(({ what }) => what)), 'of them: '),
      ['webhooks in', this.sent.webhooks],
      ['hostile connections', this.sent.connections],
    ]
  }
}

/**
 * Expected: errors of requests, whose answers are judged, and the clock's alarm that what mutated transactions credit is not in the
 * wallets on the chain.
 */
const expected = /"request failed"|custody wallets hold less/

/** Other errors of the processes, each once. */
function faultsOfLogs(folder: string): string[] {
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .map((line) => `${name}: ${line}`),
    )
    .filter((line) => /"level":[56]0|\.log: \(node:|Unhandled/.test(line) && !expected.test(line))
  return [
    ...new Map(lines.map((line) => [line.replace(/\d+/g, '').slice(0, 200), line.slice(0, 800)])).values(),
  ]
}
