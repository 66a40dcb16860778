import test from 'ava'
import { mailText } from '../../../scripts/kit/mail-text.js'
import { words } from '../../../src/pages/i18n/dashboard.js'
import {
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  readBalance,
  readWithdrawalRow,
  reconcileAll,
  requestWithdrawal,
  sendDuePayouts,
} from '../../helpers/make/withdrawals.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'
import { listBrokenInvariants } from '../../ledger/support.js'

const world = useWorld(test, { fiat: true })
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const verify = (...args: string[]) => runOpsScript(world(), 'verify-identity', ...args)
const confirmed = (id: string) => ['--apply', `--confirm=${id}`, '--reason', 'passport seen', '--as', 'ngozi']
const identityMailsTo = (email: string) =>
  world().db('emails').where({ kind: 'identity-verification', recipient: email })

test.serial('a withdrawal above NGN 200,000 is held, and the creator gets an e-mail', async (t) => {
  const ada = await creatorWithBalance(world(), 400)
  const exactly = await createWithdrawal(world(), ada, { amountNGN: 200_000 })
  t.false(exactly.requiresVerification)
  const held = await createWithdrawal(world(), ada, { amountNGN: 200_000.01 })
  t.like(held, { status: 'pending', requiresVerification: true })
  await sendDuePayouts(world())
  t.is(countExecutions(world(), exactly.reference), 1)
  t.is(countExecutions(world(), held.reference), 0)
  t.like(await readWithdrawalRow(world(), held.reference), { send_state: 'identity_hold', due_at: null })
  const [mail, ...more] = await identityMailsTo(ada.email)
  t.is(more.length, 0)
  // The page that shows the withdrawal says the same.
  const text = mailText(mail).replaceAll(/\s+/g, ' ')
  t.regex(text, /Reply to this e-mail, and we tell you what we need to see\./)
  t.regex(words.progress.heldMore('', ''), /reply to that e-mail, and we tell you what we need to see\.$/)
  const [listed] = await listHistory(world(), ada)
  t.like(listed, { reference: held.reference, status: 'pending', requiresVerification: true })
})

test.serial('a withdrawal is held when the sum of 24 hours is above NGN 500,000', async (t) => {
  const ada = await creatorWithBalance(world(), 1000)
  const failed = await createWithdrawal(world(), ada, { amountNGN: 200_000, accountNumber: '0000000001' })
  await sendDuePayouts(world())
  t.is((await readWithdrawalRow(world(), failed.reference)).status, 'failed')
  for (const amountNGN of [200_000, 200_000, 100_000])
    t.false((await createWithdrawal(world(), ada, { amountNGN })).requiresVerification)
  t.true((await createWithdrawal(world(), ada, { amountNGN: 1000 })).requiresVerification)
  await world().db.raw(`alter table withdrawals disable trigger withdrawals_fixed`)
  await world()
    .db('withdrawals')
    .where({ user_id: ada.user.id })
    .update({ created_at: new Date(Date.now() - 25 * 3_600_000) })
  await world().db.raw(`alter table withdrawals enable trigger withdrawals_fixed`)
  t.false((await createWithdrawal(world(), ada, { amountNGN: 1000 })).requiresVerification)
})

test.serial('concurrent withdrawals are added up for the daily limit', async (t) => {
  const ada = await creatorWithBalance(world(), 1000)
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => requestWithdrawal(world(), ada, { amountNGN: 200_000 })),
  )
  t.is(answers.filter(({ body }) => body.requiresVerification).length, 3)
})

test.serial('verifying a creator sends the held withdrawals once, and later ones are not held', async (t) => {
  const ada = await creatorWithBalance(world(), 1000)
  const { reference } = await createWithdrawal(world(), ada, { amountNGN: 300_000 })
  const plan = await verify('--user', ada.email)
  t.is(plan.code, 0)
  t.regex(plan.out, new RegExp(`${reference}  NGN 297,000.00 +would be sent`))
  t.regex(plan.out, /^would be verified: later withdrawals are not held; add --apply to do it$/m)
  t.is((await readWithdrawalRow(world(), reference)).send_state, 'identity_hold')
  t.is((await verify('--user', ada.email, '--apply')).code, 3)
  const runs = await Promise.all(
    [1, 2].map(() => verify('--user', ada.user.id, ...confirmed(ada.user.id), '--json')),
  )
  t.deepEqual(
    runs.map(({ code }) => code),
    [0, 0],
  )
  const sent = runs.flatMap(({ out }) => JSON.parse(out).withdrawals)
  t.is(sent.length, 1)
  await sendDuePayouts(world())
  t.is(countExecutions(world(), reference), 1)
  t.false((await createWithdrawal(world(), ada, { amountNGN: 600_000 })).requiresVerification)
  const entries = await world()
    .db('audit_log')
    .where({ subject: `user:${ada.user.id}` })
  t.like(entries[0], { actor: 'ngozi', action: 'verify-identity' })
})

test.serial('a verified creator is not verified again and cannot be refused', async (t) => {
  const ada = await creatorWithBalance(world(), 300)
  t.regex((await verify('--user', ada.email)).out, /would be verified/)
  t.is((await verify('--user', ada.email, ...confirmed(ada.user.id))).code, 0)
  const again = await verify('--user', ada.email, '--apply')
  t.is(again.code, 0)
  t.regex(again.out, /verified 20.*\nno withdrawal waits for the identity: nothing to do$/m)
  for (const apply of [[], confirmed(ada.user.id)]) {
    const refused = await verify('--user', ada.email, '--refuse', ...apply)
    t.is(refused.code, 1)
    t.regex(refused.err, /verified 20.*; no withdrawal waits .* a verification cannot be taken back$/m)
  }
  const entries = await world()
    .db('audit_log')
    .where({ subject: `user:${ada.user.id}` })
  t.is(entries.length, 1)
})

test.serial('refusing an identity gives the money back', async (t) => {
  const ada = await creatorWithBalance(world(), 300)
  t.regex(
    (await verify('--user', ada.email, '--refuse')).out,
    /not verified\nno withdrawal waits .*: nothing to do/,
  )
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 300 })
  const plan = await verify('--user', ada.email, '--refuse')
  t.regex(
    plan.out,
    new RegExp(`${reference} .* would be given back\nwould be refused: .*; add --apply to do it`),
  )
  const run = await verify('--user', ada.email, '--refuse', ...confirmed(ada.user.id))
  t.is(run.code, 0)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 300, heldUSDC: 0 })
  const [failed] = await listHistory(world(), ada)
  t.like(failed, { reference, status: 'failed', failureReason: 'Your identity could not be verified' })
  t.true((await createWithdrawal(world(), ada, { amountUSDC: 300 })).requiresVerification)
})

test.serial('a held withdrawal can be released without verifying its creator', async (t) => {
  const ada = await creatorWithBalance(world(), 600)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 200 })
  const args = ['release', reference, '--apply', `--confirm=${reference}`, '--reason', 'known']
  t.is((await runOpsScript(world(), 'payouts', ...args)).code, 0)
  await sendDuePayouts(world())
  t.is(countExecutions(world(), reference), 1)
  t.true((await createWithdrawal(world(), ada, { amountUSDC: 200 })).requiresVerification)
})

test.beforeEach('the rate is 1,600', async () => {
  world().fiat.rates.reset()
  await world().db.raw(`update rates set accepted_at = 'epoch' where value <> 1600`)
})

const release = (reference: string, ...args: string[]) =>
  runOpsScript(world(), 'payouts', 'release', reference, ...args)
const sentKobo = (reference: string) =>
  world()
    .fiat.fiatpay.log()
    .transfers.find((line) => line.reference === reference.toLowerCase())?.amountKobo

test.serial('a held withdrawal is priced again at its release when the rate fell', async (t) => {
  const ada = await creatorWithBalance(world(), 200)
  const { reference, amountNGN } = await createWithdrawal(world(), ada, { amountUSDC: 200 })
  t.is(amountNGN, 316_800)
  t.like((await listHistory(world(), ada))[0], { amountNGN: 316_800, promisedNGN: 316_800 })
  world().fiat.rates.set({ NGN: 1500 })
  const plan = await release(reference)
  t.regex(plan.out, /NGN 297,000.00 at the current rate; NGN 316,800.00 were promised/)
  t.like((await listHistory(world(), ada))[0], { amountNGN: 316_800, requiresVerification: true })
  t.is((await release(reference, ...confirmed(reference))).code, 0)
  const row = await world().db('withdrawals').where({ reference }).first()
  t.like(row, {
    gross_kobo: 30_000_000n,
    fee_kobo: 300_000n,
    net_kobo: 29_700_000n,
    promised_kobo: 31_680_000n,
  })
  t.is(Number((await world().db('rates').where({ id: row.rate_id }).first()).value), 1500)
  await sendDuePayouts(world())
  t.is(sentKobo(reference), 29_700_000)
  await until('it is paid', async () => {
    await reconcileAll(world())
    return (await listHistory(world(), ada))[0]?.status === 'completed'
  })
  t.like((await listHistory(world(), ada))[0], {
    amountNGN: 297_000,
    promisedNGN: 316_800,
    systemFeeNGN: 3000,
  })
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
})

test.serial('a release never sends more than was promised', async (t) => {
  const ada = await creatorWithBalance(world(), 400)
  const held = [
    await createWithdrawal(world(), ada, { amountUSDC: 200 }),
    await createWithdrawal(world(), ada, { amountNGN: 300_000 }),
  ]
  world().fiat.rates.set({ NGN: 1900 })
  const verify = (...args: string[]) =>
    runOpsScript(world(), 'verify-identity', '--user', ada.user.id, ...args)
  t.is((await verify(...confirmed(ada.user.id))).code, 0)
  await sendDuePayouts(world())
  t.deepEqual(
    held.map(({ reference }) => sentKobo(reference)),
    [31_680_000, 29_700_000],
  )
  for (const { amountNGN, promisedNGN } of await listHistory(world(), ada)) t.is(promisedNGN, amountNGN)
})

test.serial('verify-identity prices what it releases, and shows the promise in the plan', async (t) => {
  const ada = await creatorWithBalance(world(), 400)
  const { reference } = await createWithdrawal(world(), ada, { amountNGN: 300_000 })
  world().fiat.rates.set({ NGN: 1500 })
  const verify = (...args: string[]) =>
    runOpsScript(world(), 'verify-identity', '--user', ada.user.id, ...args)
  // 300,000 naira are 187.5 dollars at 1,600.
  t.regex((await verify()).out, /NGN 278,437\.50 \(promised NGN 297,000\.00\) {2}would be sent/)
  t.is((await verify(...confirmed(ada.user.id))).code, 0)
  await sendDuePayouts(world())
  t.is(sentKobo(reference), 27_843_750)
})

test.serial('what is worth too little at its release is given back', async (t) => {
  const ada = await creatorWithBalance(world(), 1000)
  for (const amountNGN of [200_000, 200_000, 99_900]) await createWithdrawal(world(), ada, { amountNGN })
  const { reference, requiresVerification } = await createWithdrawal(world(), ada, { amountNGN: 155 })
  t.true(requiresVerification)
  const { availableUSDC } = await readBalance(world(), ada)
  world().fiat.rates.set({ NGN: 1500 })
  t.is((await release(reference, ...confirmed(reference))).code, 0)
  t.is(countExecutions(world(), reference), 0)
  t.like((await listHistory(world(), ada))[0], {
    reference,
    status: 'failed',
    failureReason: 'Below the smallest withdrawal at the current rate',
  })
  t.is((await readBalance(world(), ada)).availableUSDC, availableUSDC + 0.096875)
})

test.serial('the database refuses any other change of a price', async (t) => {
  const ada = await creatorWithBalance(world(), 400)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 200 })
  const sent = await createWithdrawal(world(), ada, { amountUSDC: 10 })
  const change = (of: string, set: string) =>
    world().db.raw(`update withdrawals set ${set} where reference = ?`, [of])
  const lower = 'gross_kobo = gross_kobo - 1, net_kobo = net_kobo - 1, promised_kobo = net_kobo'
  for (const [of, set] of [
    [reference, lower],
    [reference, `${lower}, debit_micro = debit_micro - 1, send_state = 'not_sent'`],
    [reference, `gross_kobo = gross_kobo - 1, net_kobo = net_kobo - 1, send_state = 'not_sent'`],
    [reference, `gross_kobo = gross_kobo + 1, net_kobo = net_kobo + 1, send_state = 'not_sent'`],
    [sent.reference, lower],
    [sent.reference, `account_last_four = '9999'`],
  ] as const)
    await t.throwsAsync(change(of, set), { message: /does not change|keeps its price/ }, set)
  await change(reference, `${lower}, send_state = 'not_sent', due_at = clock_timestamp()`)
  await sendDuePayouts(world())
  t.is(sentKobo(reference), 31_679_999)
})

test.serial('a USDC amount above the balance by more than noise is Insufficient Balance', async (t) => {
  const ada = await creatorWithBalance(world(), 9.5)
  const ask = (amountUSDC: number) =>
    world().request('POST', '/payouts/withdraw', {
      session: ada.session,
      body: { amountUSDC, bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' },
    })
  const refused = await ask(9.500_000_1)
  t.is(`${refused.status} ${refused.body.error}`, '400 Insufficient Balance')
  t.is((await ask(9.500_000_001)).status, 200)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 9.5 })
})
