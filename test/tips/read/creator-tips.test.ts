import { randomBytes } from 'node:crypto'
import test from 'ava'
import pg from 'pg'
import { solMint, type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { inIndexOrder } from '../../../src/platform/database/index-order.js'
import { confirmTips } from '../../../src/tips/confirm/confirm-tips.js'
import { creatorTipsInput } from '../../../src/tips/read/creator-schemas.js'
import { creatorTipsStatement } from '../../../src/tips/read/creator-tips.js'
import { someConfirmation, storePendingTips } from '../../helpers/make/confirmed-tips.js'
import { type Person, registerCreator, registerPerson } from '../../helpers/make/creators.js'
import { unusedSignature, unusedWallet } from '../../helpers/make/supporter.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)
const usdc = tokenBySymbol('USDC')?.mint ?? ''
const dayMs = 24 * 3600 * 1000

interface Tip {
  readonly signature: string
  readonly message: string | null
  readonly timestamp: string
  readonly tokenSymbol: string
  readonly valueUsd: number
}
interface Page {
  readonly tips: readonly Tip[]
  readonly nextCursor: string | null
  readonly searchedSince: string | null
}

/** Inserts tips as the verifier leaves them, with defaults for columns that are not given. */
async function insertTips(person: Person, rows: readonly Record<string, unknown>[]): Promise<string[]> {
  const party = await world().db('parties').where({ user_id: person.user.id }).first()
  const tips = rows.map((row) => ({
    id: unusedSignature(),
    kind: 'chain',
    status: 'confirmed',
    creator_wallet: unusedWallet(),
    claim_hash: randomBytes(32),
    sender: unusedWallet(),
    amount: 1,
    token_symbol: 'USDC',
    recipient_party: party.id,
    received_raw: 980_000,
    display_raw: 1_000_000,
    decimals: 6,
    mint: usdc,
    // Two tips of one creator never have the same stamp.
    confirmed_at: new Date(nextStamp()),
    due_at: null,
    ...row,
  }))
  await world().db('tips').insert(tips)
  return tips.map(({ id }) => id)
}
let stamp = Date.UTC(2026, 0, 1)
function nextStamp(): number {
  stamp += 1
  return stamp
}

async function page({ session }: Person, query: Record<string, string> = {}): Promise<Page> {
  const answer = await world().request<Page>('GET', `/creators/tips?${new URLSearchParams(query)}`, {
    session,
  })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
async function found(person: Person, query: Record<string, string>): Promise<(string | null)[]> {
  return (await page(person, query)).tips.map(({ message }) => message).sort()
}

test('a creator sees only their own tips, newest first', async (t) => {
  const [ada, eve] = await Promise.all([registerPerson(world()), registerPerson(world())])
  const [old, young] = await insertTips(ada, [
    { recorded_at: new Date('2026-02-01') },
    { recorded_at: new Date('2026-02-02'), message: 'thanks' },
  ])
  await insertTips(eve, [{}])
  const { tips, nextCursor } = await page(ada)
  t.deepEqual(
    tips.map(({ signature }) => signature),
    [young, old] as string[],
  )
  t.is(nextCursor, null)
  t.like(tips[0], {
    message: 'thanks',
    tokenSymbol: 'USDC',
    valueUsd: 1,
    timestamp: '2026-02-02T00:00:00.000Z',
  })
})

test('the pages contain every tip exactly once, while new ones arrive', async (t) => {
  const ada = await registerPerson(world())
  // Many in the same millisecond, which are ordered by id.
  const rows = Array.from({ length: 137 }, (_, n) => ({
    recorded_at: new Date(Date.UTC(2026, 3, 1, 0, 0, 0, n >> 4)),
  }))
  const there = await insertTips(ada, rows)
  const met: string[] = []
  let cursor: string | null = ''
  for (let pages = 0; cursor !== null; pages++) {
    t.true(pages < 20)
    const next: Page = await page(ada, { limit: '10', ...(cursor === '' ? {} : { cursor }) })
    met.push(...next.tips.map(({ signature }) => signature))
    await insertTips(ada, [{ recorded_at: new Date(Date.UTC(2026, 4, 1, 0, 0, pages)) }])
    cursor = next.nextCursor
  }
  t.deepEqual(met.sort(), there.sort())
})

test('both tips of a transaction that pays two wallets of a creator are on the pages', async (t) => {
  const ada = await registerPerson(world())
  const recorded_at = new Date('2026-03-01')
  const [main_id = ''] = await insertTips(ada, [{ recorded_at, message: 'main' }])
  await insertTips(ada, [{ recorded_at, id: `${main_id}:${unusedWallet()}`, main_id, message: 'further' }])
  const first = await page(ada, { limit: '1' })
  const second = await page(ada, { limit: '1', cursor: first.nextCursor ?? '' })
  t.deepEqual(
    [...first.tips, ...second.tips].map(({ signature, message }) => [signature, message]),
    [
      [main_id, 'further'],
      [main_id, 'main'],
    ],
  )
  t.is(second.nextCursor, null)
  const found = await page(ada, { limit: '1', q: main_id, cursor: first.nextCursor ?? '' })
  t.deepEqual([found.tips.length, found.nextCursor], [1, null])
})

test('filters limit the list, alone and combined', async (t) => {
  const ada = await registerPerson(world())
  await insertTips(ada, [
    { message: 'a', recorded_at: new Date('2026-03-01T12:00:00Z') },
    { message: 'b', recorded_at: new Date('2026-03-02T12:00:00Z'), mint: solMint, decimals: 9 },
    { message: 'c', recorded_at: new Date('2026-03-03T12:00:00Z') },
  ])
  t.deepEqual(await found(ada, { token: 'usdc' }), ['a', 'c'])
  t.deepEqual(await found(ada, { token: usdc }), ['a', 'c'])
  t.deepEqual(await found(ada, { token: 'SOL' }), ['b'])
  t.deepEqual(await found(ada, { token: unusedWallet() }), [])
  t.deepEqual(await found(ada, { status: 'confirmed' }), ['a', 'b', 'c'])
  t.deepEqual(await found(ada, { status: 'pending' }), [])
  t.deepEqual(await found(ada, { from: '2026-03-02' }), ['b', 'c'])
  t.deepEqual(await found(ada, { to: '2026-03-02' }), ['a', 'b'], 'the whole day')
  t.deepEqual(await found(ada, { from: '2026-03-02T12:00:00Z', to: '2026-03-03T12:00:00.000Z' }), ['b'])
  t.deepEqual(await found(ada, { from: '2026-03-02T13:00:00+01:00', to: '2026-03-02T12:00:00.001Z' }), ['b'])
  t.deepEqual(await found(ada, { token: 'USDC', from: '2026-03-02' }), ['c'])
})

test('the search covers message and sender, and no character of it is a pattern', async (t) => {
  const ada = await registerPerson(world())
  const sender = unusedWallet()
  const messages = ['100% Yes_sir', '1000 yesXsir', "Robert'); drop table tips;--", 'back\\slash', 'Grüße']
  await insertTips(
    ada,
    messages.map((message) => ({ message })),
  )
  await insertTips(ada, [{ message: 'by sender', sender }])
  t.deepEqual(await found(ada, { q: '0% y' }), ['100% Yes_sir'])
  t.deepEqual(await found(ada, { q: 'YES_' }), ['100% Yes_sir'])
  t.deepEqual(await found(ada, { q: "'); DROP" }), ["Robert'); drop table tips;--"])
  t.deepEqual(await found(ada, { q: 'k\\s' }), ['back\\slash'])
  t.deepEqual(await found(ada, { q: 'GRÜSSE' }), [])
  t.deepEqual(await found(ada, { q: 'grü' }), ['Grüße'])
  t.deepEqual(await found(ada, { q: sender.slice(5, 20) }), ['by sender'])
  t.is((await found(ada, { q: '' })).length, 6)
  t.deepEqual(await found(ada, { q: '%' }), ['100% Yes_sir'])
})

test('the filter of a status, alone and with a token, finds tips in crypto and naira', async (t) => {
  const ada = await registerPerson(world())
  const naira = { kind: 'fiat', claim_hash: null, creator_wallet: null, mint: null, decimals: 2 }
  const at = (hour: number) => ({ recorded_at: new Date(Date.UTC(2026, 2, 1, hour)) })
  await insertTips(ada, [
    { message: 'a', ...at(1) },
    { message: 'b', ...at(2), mint: solMint, decimals: 9 },
    { message: 'c', ...at(3), ...naira },
    { message: 'd', ...at(4), ...naira, status: 'pending', confirmed_at: null },
    { message: 'e', ...at(5), ...naira, status: 'failed', confirmed_at: null },
    { message: 'f', ...at(6), ...naira, status: 'cancelled', confirmed_at: null },
  ])
  t.deepEqual(await found(ada, {}), ['a', 'b', 'c', 'd', 'e', 'f'])
  t.deepEqual(await found(ada, { status: 'confirmed' }), ['a', 'b', 'c'])
  t.deepEqual(await found(ada, { status: 'pending' }), ['d'])
  t.deepEqual(await found(ada, { token: 'FIAT' }), ['c', 'd', 'e', 'f'])
  t.deepEqual(await found(ada, { token: 'FIAT', status: 'confirmed' }), ['c'])
  t.deepEqual(await found(ada, { token: 'FIAT', status: 'failed', q: 'E' }), ['e'])
  t.deepEqual(await found(ada, { token: 'SOL', status: 'confirmed' }), ['b'])
  t.deepEqual(await found(ada, { token: 'SOL', status: 'failed' }), [])
  for (const filters of [{}, { status: 'confirmed' }, { token: 'FIAT' }]) {
    const all = (await page(ada, filters)).tips
    const paged: Tip[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next: Page = await page(ada, { ...filters, limit: '1', ...(cursor && { cursor }) })
      paged.push(...next.tips)
      cursor = next.nextCursor
    }
    const idsOf = (tips: readonly Tip[]) => tips.map(({ signature }) => signature)
    t.deepEqual(idsOf(paged), idsOf(all))
    t.deepEqual(
      all.map(({ timestamp }) => timestamp),
      all
        .map(({ timestamp }) => timestamp)
        .toSorted()
        .toReversed(),
    )
  }
})

test('a search reads the newest 10,000 tips and says so', async (t) => {
  const ada = await registerPerson(world())
  const oldest = Date.UTC(2026, 0, 1)
  await world().db.raw(
    `insert into tips (id, kind, status, recorded_at, creator_wallet, sender, amount, token_symbol, message, claim_hash,
       recipient_party, received_raw, display_raw, decimals, mint, confirmed_at, due_at)
     select 'search-' || n, 'chain', 'confirmed', ?::timestamptz + n * interval '1 minute', 'w', 's', 1, 'USDC', 'needle ' || n, '\\x00',
       (select id from parties where user_id = ?), 1, 1, 6, ?, ?::timestamptz + n * interval '1 minute', null
     from generate_series(0, 10001) n`,
    [new Date(oldest), ada.user.id, usdc, new Date(oldest)],
  )
  const since = (n: number) => new Date(oldest + n * 60_000).toISOString()
  t.like(await page(ada, { q: 'needle 2', limit: '1' }), { searchedSince: since(2) })
  t.deepEqual(await found(ada, { q: 'needle 1000' }), ['needle 1000', 'needle 10000', 'needle 10001'])
  const missed = await page(ada, { q: 'needle 1', to: since(100), limit: '100' })
  t.is(missed.tips.length, 11, 'the other filters move the search to older tips')
  t.is(missed.searchedSince, null)
  t.is((await page(ada)).searchedSince, null)
  const first = await page(ada, { q: 'needle 999', limit: '5' })
  const rest = await page(ada, { q: 'needle 999', limit: '100', cursor: first.nextCursor ?? '' })
  t.deepEqual(
    [...first.tips, ...rest.tips].map(({ message }) => message),
    [...Array.from({ length: 10 }, (_, n) => `needle ${9999 - n}`), 'needle 999'],
  )
  const none = await page(ada, { q: 'no such words' })
  t.deepEqual([none.tips.length, none.nextCursor, none.searchedSince], [0, null, since(2)])
})

/** The indexes each combination of filters walks, and how often. */
const walks: Record<string, Record<string, number>> = {
  '': { tips_received: 1 },
  'token=SOL': { tips_received_token: 1 },
  'token=SOL&status=confirmed': { tips_received_token: 1 },
  'token=FIAT': { tips_received_fiat: 4 },
  'token=FIAT&status=pending': { tips_received_fiat: 1 },
  'status=confirmed': { tips_received_token: 5, tips_received_fiat: 1 },
  'status=failed': { tips_received_fiat: 1 },
}
for (const [filters, expected] of Object.entries(walks))
  for (const more of ['', '&from=2026-01-01&to=2026-02-01', '&q=album'])
    test(`/creators/tips?${filters}${more} walks its indexes in order`, async (t) => {
      const input = creatorTipsInput.parse(Object.fromEntries(new URLSearchParams(filters + more)))
      const { text = '' } = creatorTipsStatement('', input) ?? {}
      const plan = await planOf(text)
      const used: Record<string, number> = {}
      for (const { 'Index Name': index = '', 'Index Cond': condition = '', Filter } of nodesOf(plan)) {
        if (!index.startsWith('tips_received')) continue
        used[index] = (used[index] ?? 0) + 1
        for (const part of ['recipient_party = ', 'recorded_at >= ', 'ROW(recorded_at, id) < '])
          t.true(condition.includes(part), condition)
        t.is(Filter, undefined, 'no row of the range is read in vain')
      }
      t.deepEqual(used, expected)
      t.deepEqual(scansOf(plan), [], 'each table is read by an index')
      t.deepEqual(sortedWalks(plan), [], 'the walks are merged and cut, not sorted')
    })

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly Plans?: readonly PlanNode[]
}

/** The plan of a statement for any values. The tables are small here, so reading all of one is made expensive. */
async function planOf(text: string): Promise<PlanNode> {
  const client = new pg.Client({ connectionString: world().env['DATABASE_URL'] })
  await client.connect()
  try {
    await client.query(`begin; ${inIndexOrder}; set local enable_seqscan = off`)
    const { rows } = await client.query(`explain (generic_plan, format json) ${text}`)
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await client.end()
  }
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

function scansOf(plan: PlanNode): PlanNode[] {
  return nodesOf(plan).filter(({ 'Node Type': type }) => type === 'Seq Scan' || type.startsWith('Bitmap'))
}

/** The walks of an index that are sorted before they are cut. */
function sortedWalks(plan: PlanNode, sorted = false): PlanNode[] {
  if (plan['Index Name']?.startsWith('tips_received')) return sorted ? [plan] : []
  const inside = plan['Node Type'] === 'Limit' ? false : sorted || plan['Node Type'] === 'Sort'
  return (plan.Plans ?? []).flatMap((child) => sortedWalks(child, inside))
}

test('`sender` gives exactly the tips of one supporter, by wallet or by name, with the other filters', async (t) => {
  const ada = await registerPerson(world())
  const wallet = unusedWallet()
  const [first, second] = await insertTips(ada, [
    { sender: wallet, message: 'one' },
    { sender: wallet, message: 'two' },
    { sender: `${wallet}x`, message: 'one' },
    { sender: 'Tobi', kind: 'fiat', mint: null, decimals: 2, claim_hash: null },
    { sender: 'tobi' },
    { sender: 'Tobi Adeyemi' },
  ])
  const found = async (query: string) =>
    (await world().request<Page>('GET', `/creators/tips?${query}`, { session: ada.session })).body.tips.map(
      ({ signature }) => signature,
    )
  t.deepEqual((await found(`sender=${wallet}`)).sort(), [first, second].sort() as string[])
  t.deepEqual(await found(`sender=${wallet}&q=TWO`), [second as string])
  t.is((await found('sender=Tobi')).length, 1)
  t.is((await found('sender=Tobi&token=USDC')).length, 0)
  t.is((await found('sender=%25')).length, 0, 'no character of it is a pattern')
  const eve = await registerPerson(world())
  const other = await world().request<Page>('GET', `/creators/tips?sender=${wallet}`, {
    session: eve.session,
  })
  t.deepEqual(other.body.tips, [])
})

const bad: Record<string, readonly string[]> = {
  'Invalid cursor': ['cursor=x', 'cursor=', 'cursor=Li4u', 'cursor=a&cursor=b', 'cursor=%00'],
  'Invalid limit': [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'limit=',
    'limit=1&limit=2',
    'limit=1e1',
  ],
  'Invalid token': ['token=DOGE', 'token=', 'token=SOL&token=USDC', 'token=%00'],
  'Invalid status': ['status=done', 'status=', 'status=confirmed&status=failed'],
  'Invalid from': [
    'from=yesterday',
    'from=2026-13-01',
    'from=2026-02-30',
    'from=1772366400',
    'from=2026-03-01T00:00:00',
    'from=',
  ],
  'Invalid to': ['to=x', 'to=2026-3-1', 'to=99999-01-01'],
  'Invalid q': [`q=${'x'.repeat(101)}`, 'q=a&q=b'],
  'Invalid sender': [`sender=${'x'.repeat(101)}`, 'sender=a&sender=b'],
  'Invalid format': ['format=xml', 'format=', 'format=json&format=csv'],
}
for (const [error, queries] of Object.entries(bad))
  for (const query of queries)
    test(`/creators/tips?${query.slice(0, 40)} is answered ${error}`, async (t) => {
      const { session } = await registerPerson(world())
      const answer = await world().request('GET', `/creators/tips?${query}`, { session })
      t.is(answer.status, 400)
      t.is(answer.body.error, error)
    })

test('the page as CSV is quoted, contains no formulas, and has the next page in the Link header', async (t) => {
  const ada = await registerPerson(world())
  const messages = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(A1)',
    'plain',
    'with "quotes", comma\nand line',
  ]
  const ids = await insertTips(
    ada,
    messages.map((message, n) => ({ message, recorded_at: new Date(Date.UTC(2026, 1, 1, 0, 0, 60 - n)) })),
  )
  await insertTips(ada, [{ recorded_at: new Date(Date.UTC(2026, 0, 1)) }])
  const answer = await world().request<string>('GET', '/creators/tips?format=csv&limit=11', {
    session: ada.session,
  })
  t.is(answer.status, 200)
  t.is(answer.headers['content-type'], 'text/csv; charset=utf-8')
  t.regex(answer.headers['content-disposition'] ?? '', /attachment; filename="tips.csv"/)
  const [header, first, ...rest] = answer.body.split('\r\n')
  t.is(
    header,
    'timestamp,signature,sender,amount,receivedAmount,tokenSymbol,valueUsd,status,message,paidNGN,platformFeeUSD,refundedUSD',
  )
  t.true(first?.startsWith(`2026-02-01T00:01:00.000Z,${ids[0]},`))
  t.true(first?.endsWith(`,1,0.98,USDC,1,confirmed,"'=1+1",,,`), first)
  t.is(rest.at(-1), '')
  t.is(answer.body.match(/"'[=+\-@\t\uff1d\uff0b\uff0d\uff20]/g)?.length, 9)
  t.true(answer.body.includes(',plain,,,\r\n'))
  t.true(answer.body.includes(',"with ""quotes"", comma\nand line",,,\r\n'))

  const details = { platformFee: 1, finalAmountUsd: 19, amountNgn: 30_400.5 }
  const naira = { kind: 'fiat', claim_hash: null, creator_wallet: null, mint: null, decimals: 2 }
  const bob = await registerPerson(world())
  const open = { confirmed_at: null, sender: 'Stranger', message: 'waits' }
  const rows = [
    { sender: 'Payer', message: 'paid' },
    ...['pending', 'failed', 'cancelled'].map((status) => ({ ...open, status })),
  ].map((row) => ({ ...naira, fiat_details: details, ...row }))
  const [, unpaid] = await insertTips(bob, rows)
  const csv = await world().request<string>('GET', '/creators/tips?format=csv', { session: bob.session })
  t.regex(csv.body, /,Payer,.*,confirmed,paid,30400\.5,1,\r\n/, 'naira paid and fee')
  t.regex(csv.body, new RegExp(`,${unpaid},,.*,pending,,,,\r\n`), 'nothing is paid yet')
  t.notRegex(csv.body, /Stranger|waits/, 'the words of an unpaid naira tip are left out')

  const next = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers['link']))?.[1] ?? ''
  const last = await world().request<string>('GET', next, { session: ada.session })
  t.is(last.body.split('\r\n').length, 3)
  t.is(last.headers['link'], undefined)
})

interface Days {
  readonly days: readonly { readonly date: string; readonly count: number; readonly valueUsd: number }[]
}
async function daily({ session }: Person, query = ''): Promise<Days['days']> {
  return (await world().request<Days>('GET', `/creators/tips/daily${query}`, { session })).body.days
}

test('the days are UTC days up to today, including empty ones', async (t) => {
  const ada = await registerCreator(world())
  await world()
    .db('prices')
    .insert({ mint: solMint, usd: '150', source: 'test', as_of: new Date() })
    .onConflict('mint')
    .merge()
  const midnight = Math.floor(Date.now() / dayMs) * dayMs
  const { wallet = '' } = (await world().db('parties').where({ user_id: ada.user.id }).first()) ?? {}
  const other: Token = { symbol: 'X', mint: unusedWallet(), decimals: 2, stable: false }
  const tips: [ms: number, units: bigint, token?: Token | undefined][] = [
    [midnight, 1_250_000n],
    [midnight - 1, 10_000_000n, tokenBySymbol('SOL')],
    [midnight - 1, 2n],
    [midnight - dayMs, 5n, other],
    [midnight - dayMs - 1, 1_000_000n],
  ]
  const confirmations = tips.map(([, units, token]) =>
    someConfirmation(wallet, { units, ...(token && { token }) }),
  )
  await storePendingTips(world(), confirmations)
  for (const [n, { id }] of confirmations.entries())
    await setRows(world(), 'tips', { id }, { recorded_at: new Date(tips[n]?.[0] ?? 0) })
  // The second batch repeats three tips, which count once.
  await confirmTips(world().services, confirmations.slice(0, 3))
  await confirmTips(world().services, confirmations)
  const days = await daily(ada)
  t.is(days.length, 30)
  if (Math.floor(Date.now() / dayMs) * dayMs !== midnight) {
    t.log('midnight passed meanwhile')
    return
  }
  const date = (back: number) => new Date(midnight - back * dayMs).toISOString().slice(0, 10)
  t.deepEqual(days.slice(-3), [
    { date: date(2), count: 1, valueUsd: 1 },
    { date: date(1), count: 3, valueUsd: 1.5 },
    { date: date(0), count: 1, valueUsd: 1.25 },
  ])
  t.deepEqual(days[0], { date: date(29), count: 0, valueUsd: 0 })
  t.deepEqual(await daily(ada, '?days=1'), days.slice(-1))
  t.is((await daily(ada, '?days=366')).length, 366)
})

test('the days begin and end in the time zone asked for', async (t) => {
  const ada = await registerCreator(world())
  const { wallet = '' } = (await world().db('parties').where({ user_id: ada.user.id }).first()) ?? {}
  const confirmation = someConfirmation(wallet, { units: 1_000_000n })
  await storePendingTips(world(), [confirmation])
  // Yesterday at 23:30 UTC is half past midnight in Lagos.
  const recorded = new Date(Math.floor(Date.now() / dayMs) * dayMs - dayMs / 48)
  await world().db('tips').where({ id: confirmation.id }).update({ recorded_at: recorded })
  await confirmTips(world().services, [confirmation])
  const dayOf = async (query: string) => (await daily(ada, query)).find(({ count }) => count > 0)?.date
  t.is(await dayOf('?days=3'), recorded.toISOString().slice(0, 10))
  const inLagos = new Date(recorded.getTime() + dayMs / 24).toISOString().slice(0, 10)
  t.is(await dayOf('?days=3&timeZone=Africa/Lagos'), inLagos)
  for (const timeZone of ['Mars/Base', '+01:00', 'X+3', '', 'Africa/Lagos\u0000']) {
    const path = `/creators/tips/daily?timeZone=${encodeURIComponent(timeZone)}`
    const { status, body } = await world().request('GET', path, { session: ada.session })
    t.is(`${status} ${body.error}`, '400 Invalid time zone', timeZone)
  }
})

for (const days of ['0', '367', '-1', '1.5', 'x', '', '1e2', '07', '30&days=31'])
  test(`/creators/tips/daily?days=${days} is answered Invalid days`, async (t) => {
    const { session } = await registerPerson(world())
    const answer = await world().request('GET', `/creators/tips/daily?days=${days}`, { session })
    t.is(`${answer.status} ${answer.body.error}`, '400 Invalid days')
  })
