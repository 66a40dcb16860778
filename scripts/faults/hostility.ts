import { createHmac } from 'node:crypto'
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
import { countBy, type Report, sortedRows } from '../kit/report.js'
import type { ServerUrls } from '../kit/servers.js'
import type { LedgerRecord } from '../sandbox/chain/ledger.js'
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
import {
  attackSocket,
  countConnections,
  faultOfSocket,
  type HostileReceiver,
  mannerNames,
  socketAttacks,
  startHostileReceiver,
} from './hostile/sockets.js'
import { gainOf, landTips, matchFaults, mutateRecord, readRecord } from './hostile/transactions.js'
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
const sampleMs = 2000
/** Of the latency of a normal client: it shares two cores with all that is sent. */
const mostSlower = 20
const leastBoundMs = 2000
/** Memory of the last third against the middle one. */
const mostGrowth = 1.1
const mostGrowthBytes = 16 * 2 ** 20
const settleMs = 150_000
const mostReported = 30
const genuineCount = 20
const beatMs = 30_000
const mostTries = 30
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
    await patiently(() => openDataKeys(services.db, services.config.dataKeys))
    for (const { userId } of stage.creators) await patiently(() => fund(stage.db, userId, fundedMicro))
    const receiver = await startHostileReceiver(defer)
    for (const [n, manner] of mannerNames.entries())
      await patiently(() =>
        createEndpoint(services, stage.creators[n % 2]?.userId ?? '', {
          url: `${receiver.url}/${encodeURIComponent(manner)}`,
          types: [],
        }),
      )
    const genuine = await landTips(stage, genuineCount)
    const document = (await (await fetch(`${stage.url}/openapi.json`)).json()) as OpenApi
    const attack = new Attack(stage, services, plan, { genuine, document, opsPort })
    defer(() => attack.agent.destroy())
    const before = await patiently(() => stateOfVictims(stage))
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
    await patiently(() => compareMoney(stage, services, attack.mutants, before, attack.note))
    for (const fault of [...(await patiently(() => bookFaults(stage.db))), ...faultsOfLogs(stage.logs)])
      attack.note(fault)
    stage.throwFailure()
    for (const kill of stage.kills) attack.note(`a process ended: ${kill}`)
    const memory = memoryRows(samples, attack.note)
    return {
      rows: [
        ['minutes', plan.minutes],
        ...(await patiently(() => attack.rows())),
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
    const { apiKey } = await patiently(() => createApiKey(this.#services, userId, undefined))
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
    const unconfirmed = () =>
      patiently(async () => db('tips').whereIn('id', ids).whereNot({ status: 'confirmed' }).first('id'))
    const undelivered = () =>
      patiently(async () =>
        db('webhook_deliveries as d')
          .join('webhook_endpoints as e', 'e.id', 'd.endpoint_id')
          .whereLike('e.url', '%/good')
          .whereNot('d.state', 'delivered')
          .first('d.sequence'),
      )
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

/** This process gives up the database after two seconds, as the service does, and competes with all that it sends. */
async function patiently<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await act()
    } catch (error) {
      if (tries === mostTries) throw error
    }
}

/** With a right signature it is answered 200, else 401; above 256 KB 400. */
async function sendWebhook({ url, sandbox }: Stage, draw: Draw, agent: Agent): Promise<string | undefined> {
  const reference = draw.oneOf([
    'fiatpay_0',
    'FIATPAY-2A352A57',
    '',
    null,
    {},
    'a\u0000b',
    '\ud800',
    'x'.repeat(5000),
    "'--",
    -1,
  ])
  const event = draw.oneOf([
    'charge.success',
    'transfer.success',
    'transfer.reversed',
    'refund.processed',
    'charge.dispute.create',
    '',
    null,
  ])
  const data = draw.oneOf([
    { reference, amount: 1e15, status: 'success', id: 2 ** 53 },
    { transaction: { reference } },
    { transaction_reference: reference },
    reference,
    [reference],
    null,
  ])
  const json = JSON.stringify({ event, data })
  const body = Buffer.from(
    draw.oneOf([
      json,
      json,
      json,
      json.slice(0, -3),
      `[${json}]`,
      `\ufeff${json}`,
      '',
      'null',
      '{"data":NaN}',
      '['.repeat(100_000),
      `${json}${' '.repeat(300_000)}`,
      '\u0000',
    ]),
  )
  const key = draw.happens(0.5) ? sandbox.fiatpay.secretKey : 'another key'
  const right = createHmac('sha512', key).update(body).digest('hex')
  const signature = draw.oneOf([right, right, right, right.slice(0, -2), `${right}00`, 'zz', ''])
  const isRight = signature === right && key === sandbox.fiatpay.secretKey
  const headers = {
    'content-type': 'application/json',
    ...(signature !== '' && { 'x-paystack-signature': signature }),
  }
  const { status, text } = await send(url, agent, {
    method: 'POST',
    path: '/webhooks/fiatpay',
    headers,
    body,
  })
  const expected = body.length > 256 * 1024 ? [400, 0] : [isRight ? 200 : 401]
  return expected.includes(status)
    ? undefined
    : `a webhook is answered ${status} ${text.slice(0, 100)}: ${json.slice(0, 200)}`
}

type Phase = 'calm' | 'under'

/** Reads a creator's tips again and again. */
function normalClient(
  url: string,
  wallet: string,
  ending: { readonly isOver: boolean },
  note: (fault: string) => void,
): { phase: Phase; readonly done: Promise<void>; rows(): [string, string][] } {
  const times = { calm: [] as number[], under: [] as number[] }
  const going = async (): Promise<void> => {
    for (; !ending.isOver; await sleep(pauseMs)) {
      const startedAt = performance.now()
      const { status } = await requestOnce(url, ['GET', `/chain/tips?address=${wallet}`])
      times[client.phase].push(performance.now() - startedAt)
      if (status !== 200) note(`a normal client is answered ${status}`)
    }
  }
  const client = {
    phase: 'calm' as Phase,
    done: Promise.resolve(),
    rows: () => {
      const [before, under] = [at(times.calm, 0.99), at(times.under, 0.99)]
      if (under > Math.max(leastBoundMs, mostSlower * before))
        note(`a normal client waits ${under} ms at the 99th percentile, and ${before} ms before`)
      return Object.entries(times).map(([phase, all]): [string, string] => [
        `a normal client, ${phase}: answers; p50, p99, most ms`,
        `${all.length}; ${[0.5, 0.99, 1].map((part) => at(all, part)).join(', ')}`,
      ])
    },
  }
  client.done = going()
  return client
}

type Samples = Map<string, { readonly rss: number; readonly heap: number }[]>

function watchMemory({ processes }: Stage, ending: { readonly isOver: boolean }): Samples {
  const samples: Samples = new Map(processes.map(({ name }) => [name, []]))
  const going = async (): Promise<void> => {
    for (; !ending.isOver; await sleep(sampleMs))
      for (const { name, metricsUrl } of processes) {
        const text = await fetch(`${metricsUrl}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        )
        const read = (metric: string): number =>
          Number(new RegExp(`^tipping_${metric} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
        const rss = read('process_resident_memory_bytes')
        if (rss > 0) samples.get(name)?.push({ rss, heap: read('nodejs_heap_size_used_bytes') })
      }
  }
  void going()
  return samples
}

/** The median of what is resident, and the least heap, which is near to what is left after a collection. */
function memoryRows(samples: Samples, note: (fault: string) => void): [string, string][] {
  return [...samples].map(([name, all]) => {
    const third = Math.floor(all.length / 3)
    const [middle, last] = [all.slice(third, 2 * third), all.slice(2 * third)]
    const rss = (of: typeof all): number =>
      at(
        of.map((one) => one.rss / 2 ** 20),
        0.5,
      )
    const heap = (of: typeof all): number =>
      at(
        of.map((one) => one.heap / 2 ** 20),
        0,
      )
    for (const [what, before, after] of [
      ['resident', rss(middle), rss(last)],
      ['heap', heap(middle), heap(last)],
    ] as const)
      if (after > before * mostGrowth + mostGrowthBytes / 2 ** 20)
        note(`${name}: ${what} memory grows from ${before} to ${after} MiB`)
    return [
      `${name}: MiB resident, least heap`,
      `${rss(middle)} to ${rss(last)}, ${heap(middle)} to ${heap(last)}`,
    ]
  })
}

/** What nobody but the victims may change. */
async function stateOfVictims({ db, creators }: Stage): Promise<string> {
  const ids = creators.map(({ userId }) => userId)
  const rows = await Promise.all([
    db('users').whereIn('id', ids).orderBy('id').select('email', 'password_hash', 'name'),
    ...[
      'payout_wallets',
      'payees',
      'api_keys',
      'webhook_endpoints',
      'withdrawals',
      'wallet_transfers',
      'totp_factors',
      'passkeys',
    ].map((table) => db(table).whereIn('user_id', ids).count().first()),
  ])
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Nobody is paid, the victims are as they were, and what is credited is what the balances of mutated transactions show. */
async function compareMoney(
  stage: Stage,
  { chain }: Composed,
  mutants: readonly LedgerRecord[],
  before: string,
  note: (fault: string) => void,
): Promise<void> {
  const { db, sandbox, creators } = stage
  const after = await stateOfVictims(stage)
  if (after !== before) note(`creators were changed: ${before} became ${after}`)
  const { transfers } = sandbox.fiatpay.log()
  if (transfers.length > 0) note(`${transfers.length} payouts were sent`)
  for (const table of ['withdrawals', 'wallet_transfers', 'refunds'])
    if ((await db(table).first('*')) !== undefined) note(`there are rows of ${table}`)
  const others = await db('ledger_accounts')
    .whereNotNull('user_id')
    .whereNotIn(
      'user_id',
      creators.map(({ userId }) => userId),
    )
    .where('balance', '>', 0)
    .first()
  if (others !== undefined) note('an attacker has money')
  const byId = new Map(mutants.map((record) => [record.signature, record]))
  const tips = await query<{ id: string; wallet: string; mint: string; received: string }>(db, {
    name: 'hostility.tips',
    text: `select coalesce(t.main_id, t.id) as id, p.wallet, t.mint, t.received_raw::text as received
      from tips t join parties p on p.id = t.recipient_party where t.status = 'confirmed' and t.kind = 'chain'`,
    values: [],
  })
  for (const { id, wallet, mint, received } of tips) {
    const record = byId.get(id)
    const transaction = record && readRecord(record)
    if (record === undefined) continue
    if (
      transaction === undefined ||
      transaction.failed ||
      gainOf(chain, transaction, wallet, mint) !== BigInt(received)
    )
      note(`a tip of ${received} that the chain does not show: ${JSON.stringify(record.meta)}`)
  }
}

/** Errors of the processes, each once, but those of requests, whose answers are judged. */
function faultsOfLogs(folder: string): string[] {
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .map((line) => `${name}: ${line}`),
    )
    .filter(
      (line) => /"level":[56]0|\.log: \(node:|Unhandled/.test(line) && !line.includes('"request failed"'),
    )
  return [
    ...new Map(lines.map((line) => [line.replace(/\d+/g, '').slice(0, 200), line.slice(0, 800)])).values(),
  ]
}

function at(times: readonly number[], part: number): number {
  const sorted = [...times].sort((one, other) => one - other)
  return Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0)
}
