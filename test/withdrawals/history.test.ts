import test from 'ava'
import { type Person, registerPerson } from '../helpers/make/creators.js'
import {
  createWithdrawal,
  creatorWithBalance,
  type PayoutBody,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })

interface Page {
  readonly payouts: PayoutBody[]
  readonly nextCursor: string | null
}
const read = <Body = Page>({ session }: Person, query = '') =>
  world().request<Body>('GET', `/payouts/history${query}`, { session })

test.serial('pages contain every withdrawal of the creator once, newest first', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const created: string[] = []
  for (let n = 0; n < 5; n++)
    created.push((await createWithdrawal(world(), ada, { amountUSDC: 2 })).reference)
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await read(ada, `?limit=2${cursor}`)
    t.true(body.payouts.length <= 2)
    seen.push(...body.payouts.map(({ reference }) => reference))
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
  } while (cursor !== '')
  t.deepEqual(seen, created.toReversed())
  t.deepEqual((await read(await registerPerson(world()))).body, {
    success: true,
    payouts: [],
    nextCursor: null,
  } as never)
})

test.serial('the history is filtered by reference and by status', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 2 })
  await sendDuePayouts(world())
  await createWithdrawal(world(), ada, { amountUSDC: 2 })
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

test.serial('the CSV file has the same rows and no formulas', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  await createWithdrawal(world(), ada, { amountUSDC: 2, accountName: '=cmd|calc' })
  const { headers, body } = await read<string>(ada, '?format=csv')
  t.regex(String(headers['content-type']), /^text\/csv/)
  const [head, row] = String(body).trim().split(/\r?\n/)
  t.regex(head ?? '', /^reference,createdAt,status,currency,amountNGN/)
  t.regex(row ?? '', /\*{6}6789/)
  t.notRegex(row ?? '', /,=cmd/)
})

test.serial('invalid parameters are refused by name, and a session is required', async (t) => {
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
