import test from 'ava'
import { transferEntries } from '../../src/ledger/accounts.js'
import { credit, reserve, voidReserved } from '../../src/ledger/transfers.js'
import type { RequestOptions } from '../helpers/http/client.js'
import { registerPerson } from '../helpers/make/creators.js'
import { useWorld } from '../helpers/servers/world.js'
import { available, clearing, held, newKey, pending } from './support.js'

const world = useWorld(test)

interface Line {
  readonly id: string
  readonly timestamp: string
  readonly account: string
  readonly type: string
  readonly reference: string
  readonly amountUSDC: number
  readonly balanceAfterUSDC: number
}
interface Page {
  readonly success: true
  readonly transactions: readonly Line[]
  readonly nextCursor: string | null
}

const balance = (options: RequestOptions) => world().request('GET', '/creators/balance', options)
const transactions = <Body = Page>(query: string, options: RequestOptions) =>
  world().request<Body>('GET', `/creators/transactions${query}`, options)

test('both endpoints accept only a session cookie', async (t) => {
  const { session, accessToken } = await registerPerson(world())
  for (const ask of [balance, (options: RequestOptions) => transactions('?limit=0', options)])
    for (const options of [{}, { bearer: accessToken }, { session: accessToken }, { session: 'unknown' }]) {
      const answer = await ask(options)
      t.is(answer.status, 401)
      t.like(answer.body, { error: 'Unauthorized' })
    }
  const answer = await balance({ session })
  t.is(answer.status, 200)
  t.is(answer.headers['cache-control'], 'no-store')
})

test('balance and transactions show the ledger in USDC, newest first', async (t) => {
  const { db } = world()
  const { session, user } = await registerPerson(world())
  const key = newKey()
  await credit(db, {
    key: newKey(),
    ref: 'tip:one',
    entries: transferEntries(19_990_001n, clearing, available(user.id)),
  })
  await reserve(db, {
    key: newKey(),
    ref: 'tip:two',
    entries: transferEntries(500_000n, clearing, pending(user.id)),
  })
  await reserve(db, {
    key,
    ref: 'w',
    entries: transferEntries(10_000_000n, available(user.id), held(user.id)),
  })
  t.deepEqual((await balance({ session })).body as unknown, {
    success: true,
    balance: { availableUSDC: 9.990001, pendingUSDC: 0.5, heldUSDC: 10 },
  })
  await voidReserved(db, key)
  const { body } = await transactions('', { session })
  const lines = body.transactions.map((line) => [
    line.account,
    line.type,
    line.reference,
    line.amountUSDC,
    line.balanceAfterUSDC,
  ])
  const sorted = (from: number, to: number) => lines.slice(from, to).sort()
  t.deepEqual(sorted(0, 2), [
    ['available', 'void', 'w', 10, 19.990001],
    ['held', 'void', 'w', -10, 0],
  ])
  t.deepEqual(sorted(2, 4), [
    ['available', 'reserve', 'w', -10, 9.990001],
    ['held', 'reserve', 'w', 10, 10],
  ])
  t.deepEqual(lines.slice(4), [
    ['pending', 'reserve', 'tip:two', 0.5, 0.5],
    ['available', 'credit', 'tip:one', 19.990001, 19.990001],
  ])
  t.true(Math.abs(Date.parse(body.transactions[0]?.timestamp ?? '') - Date.now()) < 60_000)
})

test('pages have no gap and no repetition, also while transactions are added', async (t) => {
  const { db } = world()
  const { session, user } = await registerPerson(world())
  const tip = (n: number) =>
    credit(db, {
      key: newKey(),
      ref: `tip:${n}`,
      entries: transferEntries(BigInt(n), clearing, available(user.id)),
    })
  for (let n = 1; n <= 7; n++) await tip(n)
  const seen: string[] = []
  let cursor = ''
  for (let page = 0; page < 4; page++) {
    const { body } = await transactions(`?limit=3${cursor}`, { session })
    seen.push(...body.transactions.map(({ reference }) => reference))
    if (body.nextCursor === null) break
    cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`
    await tip(100 + page)
  }
  t.deepEqual(seen, ['tip:7', 'tip:6', 'tip:5', 'tip:4', 'tip:3', 'tip:2', 'tip:1'])
})

test('a cursor of another creator shows none of their transactions', async (t) => {
  const { db } = world()
  const [ada, bob] = [await registerPerson(world()), await registerPerson(world())]
  for (let n = 1; n <= 3; n++)
    await credit(db, {
      key: newKey(),
      ref: `tip:${n}`,
      entries: transferEntries(1n, clearing, available(ada.user.id)),
    })
  const { body } = await transactions('?limit=2', { session: ada.session })
  const stolen = await transactions(`?cursor=${body.nextCursor}`, { session: bob.session })
  t.deepEqual(stolen.body.transactions, [])
})

test('the page as CSV is a file with a header and no formulas', async (t) => {
  const { db } = world()
  const { session, user } = await registerPerson(world())
  const refs = ['tip:plain', '=HYPERLINK("http://evil.example")', '+1', '-1', '@x', 'a, "b"', '\tx']
  for (const ref of refs)
    await credit(db, {
      key: newKey(),
      ref,
      entries: transferEntries(1_500_000n, clearing, available(user.id)),
    })
  await reserve(db, {
    key: newKey(),
    ref: 'w',
    entries: transferEntries(500_000n, available(user.id), held(user.id)),
  })
  const answer = await transactions<string>('?format=csv', { session })
  t.is(answer.status, 200)
  t.is(answer.headers['content-type'], 'text/csv; charset=utf-8')
  t.is(answer.headers['content-disposition'], 'attachment; filename="transactions.csv"')
  t.is(answer.headers['cache-control'], 'no-store')
  t.is(answer.headers['link'], undefined)
  const [header, ...rows] = answer.body.split('\r\n')
  t.is(header, 'id,timestamp,account,type,reference,amountUSDC,balanceAfterUSDC,availableAt')
  t.is(rows.at(-1), '')
  t.is(rows.length - 1, refs.length + 2)
  const cells = rows.map((row) => row.split(',').slice(4).join(','))
  t.true(cells.includes('w,-0.5,10,'), 'an amount stays a number')
  const expected = [
    'tip:plain',
    `"'=HYPERLINK(""http://evil.example"")"`,
    `"'+1"`,
    `"'-1"`,
    `"'@x"`,
    '"a, ""b"""',
    `"'\tx"`,
  ]
  t.deepEqual(
    cells.slice(2, -1).map((cell) => cell.replace(/,[\d.]+,[\d.]+,$/, '')),
    expected.toReversed(),
  )
})
