import test from 'ava'
import { composePayoutSender } from '../../src/compose.js'
import { normaliseName } from '../../src/withdrawals/request/identity-hold.js'
import type { Person } from '../helpers/make/creators.js'
import {
  bank,
  createWithdrawal,
  creatorWithBalance,
  requestWithdrawal,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { setRows, useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, {
  fiat: true,
  env: {
    IDENTITY_LIMITS_NGN:
      'young:50000,account-day:100000,account-month:150000,account-total:200000,name-day:120000',
  },
})
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

/** A creator with this account age, past the limit of young accounts. */
async function oldCreator(): Promise<Person> {
  const person = await creatorWithBalance(world(), 400)
  await moveUser(person, 31)
  return person
}
const moveUser = ({ user }: Person, days: number) =>
  world().db.raw(`update users set created_at = created_at - ? * interval '1 day' where id = ?`, [
    days,
    user.id,
  ])
async function moveWithdrawals(days: number): Promise<void> {
  await world().db.raw('alter table withdrawals disable trigger withdrawals_fixed')
  await world().db.raw(`update withdrawals set created_at = created_at - ? * interval '1 day'`, [days])
  await world().db.raw('alter table withdrawals enable trigger withdrawals_fixed')
}

let accounts = 0
/** An account of nobody else, whose holder the bank knows by this name. */
async function accountOf(bankName: string): Promise<typeof bank> {
  accounts += 1
  const account = {
    ...bank,
    accountNumber: `2${String(accounts).padStart(9, '0')}`,
  } as unknown as typeof bank
  await composePayoutSender(world().services.config).createRecipient({ ...account, accountName: bankName })
  return account
}
const heldFor = async (person: Person, account: object, amountNGN: number) =>
  (await createWithdrawal(world(), person, { ...account, amountNGN })).heldFor

test('names are equal without case, blanks, punctuation, accents and the order of words', (t) => {
  for (const name of ['OBI ADA NGOZI', ' ada  ngozi\tobi', 'Obi, Adá-Ngozi'])
    t.is(normaliseName(name), 'ada ngozi obi')
  t.not(normaliseName('Ada Obi'), normaliseName('Adao Bi'))
})

test.serial('three creators who share one bank account are held above its limits, strictly', async (t) => {
  const account = await accountOf('ONE HOLDER')
  const [ada, bola, chi] = [await oldCreator(), await oldCreator(), await oldCreator()]
  t.is(await heldFor(ada, account, 40_000), null)
  t.is(await heldFor(bola, account, 40_000), null)
  t.is(await heldFor(chi, account, 20_000), null, 'exactly the limit')
  t.is(await heldFor(chi, account, 1000), 'identity', '24 hours')
  await moveWithdrawals(2)
  t.is(await heldFor(ada, account, 49_000), null, 'exactly 30 days')
  t.is(await heldFor(ada, account, 1000), 'identity', '30 days')
  await moveWithdrawals(31)
  t.is(await heldFor(bola, account, 49_000), null, 'exactly for ever')
  t.is(await heldFor(bola, account, 1000), 'identity', 'for ever')
  // A verified creator is not held there, and the others still are.
  const args = ['--user', chi.user.id, '--apply', `--confirm=${chi.user.id}`, '--reason', 'passport seen']
  t.is((await runOpsScript(world(), 'verify-identity', ...args)).code, 0)
  t.is(await heldFor(chi, account, 1000), null)
  t.is(await heldFor(ada, account, 1000), 'identity')
  t.is(await heldFor(ada, await accountOf('ANOTHER ONE'), 1000), null)
})

test.serial('accounts at several banks whose holders have one name are held together', async (t) => {
  const names = ['EZE CHIDI OKON', 'Okon,  Chidi Eze', 'chidi okon eze']
  const answers: (string | null)[] = []
  for (const name of names) answers.push(await heldFor(await oldCreator(), await accountOf(name), 50_000))
  t.deepEqual(answers, [null, null, 'identity'])
  t.is(await heldFor(await oldCreator(), await accountOf('CHIDI OKON'), 50_000), null)
  await sendDuePayouts(world())
  const sent = await world().db('withdrawals').where({ status: 'submitted' }).whereNull('name_hash')
  t.is(sent.length, 0)
})

test.serial('until the bank tells the name the given one counts, then the real one', async (t) => {
  const account = await accountOf('REAL HOLDER')
  world().fiat.fiatpay.faults.setFault({ accounts: '500' })
  const given = { ...account, accountName: 'Given Holder' }
  const { reference } = await createWithdrawal(world(), await oldCreator(), { ...given, amountNGN: 50_000 })
  world().fiat.fiatpay.faults.setFault({ accounts: 'ok' })
  // The stand-in names an account as its last recipient. The worker asks for the name while it makes a recipient, so it has one already.
  const recipient = { ...account, accountName: 'REAL HOLDER' }
  const recipient_code = await composePayoutSender(world().services.config).createRecipient(recipient)
  await setRows(world(), 'withdrawals', { reference }, { recipient_code })
  const before = await world().db('withdrawals').where({ reference }).first()
  t.truthy(before.name_hash)
  await sendDuePayouts(world())
  const after = await world().db('withdrawals').where({ reference }).first()
  t.notDeepEqual(after.name_hash, before.name_hash)
})

test.serial('creators who withdraw to one account at once do not all stay below its limit', async (t) => {
  const shared = [await accountOf('AT ONCE ONE'), await accountOf('AT ONCE TWO')]
  const creators = await Promise.all(Array.from({ length: 8 }, () => oldCreator()))
  const answers = await Promise.all(
    creators.map((person, index) =>
      requestWithdrawal(world(), person, { ...shared[index % 2], amountNGN: 40_000 }),
    ),
  )
  const held = answers.map(({ body }) => body.heldFor)
  for (const which of [0, 1])
    t.deepEqual(
      held.filter((_, index) => index % 2 === which).toSorted(),
      ['identity', 'identity', null, null].toSorted(),
    )
})

test.serial('a young account has a limit for all it withdraws', async (t) => {
  const young = await creatorWithBalance(world(), 400)
  const account = await accountOf('A YOUNG ONE')
  t.is(await heldFor(young, account, 50_000), null)
  await moveWithdrawals(2)
  t.is(await heldFor(young, account, 1000), 'identity')
  await moveUser(young, 31)
  t.is(await heldFor(young, account, 1000), null)
})
