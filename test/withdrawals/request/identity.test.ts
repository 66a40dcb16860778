import test from 'ava'
import { words } from '../../../src/pages/i18n/dashboard.js'
import {
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  readBalance,
  readWithdrawalRow,
  requestWithdrawal,
  sendDuePayouts,
} from '../../helpers/make/withdrawals.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { useWorld } from '../../helpers/servers/world.js'
import { listBrokenInvariants } from '../../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })
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
  const mailText = mail.body_text.replaceAll(/\s+/g, ' ')
  t.regex(mailText, /Reply to this e-mail, and we tell you what we need to see\./)
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
