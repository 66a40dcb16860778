import test from 'ava'
import { readBankAccounts } from '../../src/withdrawals/bank-account.js'
import { type Person, registerPerson } from '../helpers/make/creators.js'
import {
  createWithdrawal,
  creatorWithBalance,
  type PayoutBody,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

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

interface UsedAccounts {
  readonly bankAccounts: readonly { readonly reference: string; readonly accountNumber: string }[]
}

test.serial('a bank account once used is offered masked, and paid by its reference alone', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const list = async (person: Person) =>
    (await world().request<UsedAccounts>('GET', '/creators/bank-accounts', { session: person.session })).body
      .bankAccounts
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 2 })
  t.deepEqual(await list(ada), [], 'nothing was sent yet')
  await sendDuePayouts(world())
  const [used, ...others] = await list(ada)
  t.like(used, { reference, bankCode: '058', accountNumber: '******6789', accountName: 'Ada Obi' })
  t.deepEqual(others, [])
  const bob = await creatorWithBalance(world(), 100)
  t.deepEqual(await list(bob), [])
  const again = (person: Person, body: object) =>
    world().request('POST', '/payouts/withdraw', {
      session: person.session,
      body: { amountUSDC: 3, ...body },
    })
  t.is((await again(ada, { bankAccountOf: reference.toLowerCase() })).status, 200)
  const paid = await readBankAccounts(world().services, ada.user.id, 10)
  t.deepEqual(paid, [{ bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' }])
  for (const [person, body] of [
    [bob, { bankAccountOf: reference }],
    [ada, { bankAccountOf: 'FIATPAY-1' }],
    [ada, { bankAccountOf: reference, bankCode: '058' }],
    [ada, {}],
  ] as const)
    t.is((await again(person, body)).body.error, 'Bank details required')
  t.is((await again(ada, { bankAccountOf: reference, amountUSDC: -1 })).body.error, 'Invalid amount')
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
