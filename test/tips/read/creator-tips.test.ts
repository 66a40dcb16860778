import { randomBytes } from 'node:crypto'
import test from 'ava'
import { solMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { type Person, registerPerson } from '../../helpers/make/creators.js'
import { unusedSignature, unusedWallet } from '../../helpers/make/supporter.js'
import { useWorld } from '../../helpers/servers/world.js'

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

test('pending, failed and unlisted chain tips are not listed', async (t) => {
  const ada = await registerPerson(world())
  await insertTips(ada, [{ status: 'pending', confirmed_at: null }, { status: 'failed' }, { listed: false }])
  t.deepEqual((await page(ada)).tips, [])
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

test('the last page has no next cursor, also when it is full', async (t) => {
  const ada = await registerPerson(world())
  await insertTips(ada, [{}, {}])
  const full = await page(ada, { limit: '2' })
  t.is(full.tips.length, 2)
  t.is(full.nextCursor, null)
  t.truthy((await page(ada, { limit: '1' })).nextCursor)
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
  const messages = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', 'plain', 'with "quotes", comma\nand line']
  const ids = await insertTips(
    ada,
    messages.map((message, n) => ({ message, recorded_at: new Date(Date.UTC(2026, 1, 1, 0, 0, 60 - n)) })),
  )
  await insertTips(ada, [{ recorded_at: new Date(Date.UTC(2026, 0, 1)) }])
  const answer = await world().request<string>('GET', '/creators/tips?format=csv&limit=7', {
    session: ada.session,
  })
  t.is(answer.status, 200)
  t.is(answer.headers['content-type'], 'text/csv; charset=utf-8')
  t.regex(answer.headers['content-disposition'] ?? '', /attachment; filename="tips.csv"/)
  const [header, first, ...rest] = answer.body.split('\r\n')
  t.is(header, 'timestamp,signature,sender,amount,receivedAmount,tokenSymbol,valueUsd,status,message')
  t.true(first?.startsWith(`2026-02-01T00:01:00.000Z,${ids[0]},`))
  t.true(first?.endsWith(`,1,0.98,USDC,1,confirmed,"'=1+1"`), first)
  t.is(rest.at(-1), '')
  t.is(answer.body.match(/"'[=+\-@\t]/g)?.length, 5)
  t.true(answer.body.includes(',plain\r\n'))
  t.true(answer.body.includes(',"with ""quotes"", comma\nand line"\r\n'))

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
  const ada = await registerPerson(world())
  await world()
    .db('prices')
    .insert({ mint: solMint, usd: '150', source: 'test', as_of: new Date() })
    .onConflict('mint')
    .merge()
  const midnight = Math.floor(Date.now() / dayMs) * dayMs
  const at = (ms: number) => ({ recorded_at: new Date(ms) })
  await insertTips(ada, [
    { ...at(midnight), display_raw: 1_250_000 },
    { ...at(midnight - 1), mint: solMint, decimals: 9, display_raw: 10_000_000 },
    { ...at(midnight - 1), display_raw: 1 },
    { ...at(midnight - dayMs), mint: unusedWallet(), decimals: 2, display_raw: 5 },
    { ...at(midnight - dayMs - 1) },
    { ...at(midnight), status: 'failed' },
  ])
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

for (const days of ['0', '367', '-1', '1.5', 'x', '', '1e2', '07', '30&days=31'])
  test(`/creators/tips/daily?days=${days} is answered Invalid days`, async (t) => {
    const { session } = await registerPerson(world())
    const answer = await world().request('GET', `/creators/tips/daily?days=${days}`, { session })
    t.is(`${answer.status} ${answer.body.error}`, '400 Invalid days')
  })
