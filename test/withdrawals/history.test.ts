import test from 'ava'
import { creatorWith, type PayoutBody, sendNow, withdrawal } from '../helpers/make/payouts.js'
import { type Person, registerPerson } from '../helpers/make/people.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })

interface Page {
  readonly payouts: PayoutBody[]
  readonly nextCursor: string | null
}
const read = <Body = Page>({ session }: Person, query = '') =>
  world().request<Body>('GET', `/payouts/history${query}`, { session })

test.serial('pages hold every withdrawal once, newest first, and only one’s own', async (t) => {
  const ada = await creatorWith(world(), 100)
  const made: string[] = []
  for (let n = 0; n < 5; n++) made.push((await withdrawal(world(), ada, { amountUSDC: 2 })).reference)
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await read(ada, `?limit=2${cursor}`)
    t.true(body.payouts.length <= 2)
    seen.push(...body.payouts.map(({ reference }) => reference))
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
  } while (cursor !== '')
  t.deepEqual(seen, made.toReversed())
  t.deepEqual((await read(await registerPerson(world()))).body, {
    success: true,
    payouts: [],
    nextCursor: null,
  } as never)
})

test.serial('one is found by its reference, several by their status', async (t) => {
  const ada = await creatorWith(world(), 100)
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 2 })
  await sendNow(world())
  await withdrawal(world(), ada, { amountUSDC: 2 })
  t.deepEqual(
    (await read(ada, `?reference=${reference}`)).body.payouts.map((one) => one.reference),
    [reference],
  )
  t.deepEqual(
    (await read(ada, '?status=submitted')).body.payouts.map((one) => one.reference),
    [reference],
  )
  t.is((await read(ada, '?status=completed')).body.payouts.length, 0)
  const bob = await registerPerson(world())
  t.is((await read(bob, `?reference=${reference}`)).body.payouts.length, 0)
})

test.serial('a CSV file has the same rows, and nothing in it is a formula', async (t) => {
  const ada = await creatorWith(world(), 100)
  await withdrawal(world(), ada, { amountUSDC: 2, accountName: '=cmd|calc' })
  const { headers, body } = await read<string>(ada, '?format=csv')
  t.regex(String(headers['content-type']), /^text\/csv/)
  const [head, row] = String(body).trim().split(/\r?\n/)
  t.regex(head ?? '', /^reference,createdAt,status,currency,amountNGN/)
  t.regex(row ?? '', /\*{6}6789/)
  t.notRegex(row ?? '', /,=cmd/)
})

test.serial('what makes no sense is refused by its name, and nobody reads without a session', async (t) => {
  const ada = await registerPerson(world())
  const badCursor = Buffer.from(`1.${'-'.repeat(36)}`).toString('base64url')
  for (const [query, error] of [
    ['?limit=0', 'Invalid limit'],
    ['?status=gone', 'Invalid status'],
    [`?reference=${'x'.repeat(101)}`, 'Invalid reference'],
    ['?reference=%00', 'Invalid reference'],
    ['?reference=FIATPAY-%00', 'Invalid reference'],
    ['?cursor=x', 'Invalid cursor'],
    [`?cursor=${badCursor}`, 'Invalid cursor'],
    ['?format=xml', 'Invalid format'],
  ] as const) {
    const { status, body } = await read<{ error: string }>(ada, query)
    t.deepEqual([status, body.error], [400, error], query)
  }
  t.is((await world().request('GET', '/payouts/history')).status, 401)
  t.is((await world().request('GET', '/payouts/history', { bearer: ada.accessToken })).status, 401)
})
