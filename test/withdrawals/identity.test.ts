import test from 'ava'
import { words } from '../../src/pages/i18n/dashboard.js'
import {
  askWithdrawal,
  balanceOf,
  creatorWith,
  executions,
  historyOf,
  rowOf,
  sendNow,
  withdrawal,
} from '../helpers/make/payouts.js'
import { runScript } from '../helpers/ops.js'
import { useWorld } from '../helpers/servers/world.js'
import { brokenNow } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })
test.afterEach.always('the books hold', async (t) => {
  t.deepEqual(await brokenNow(world().db), [])
})

const verify = (...args: string[]) => runScript(world(), 'verify-identity', ...args)
const surely = (id: string) => ['--apply', `--confirm=${id}`, '--reason', 'passport seen', '--as', 'ngozi']
const mailsTo = (email: string) =>
  world().db('emails').where({ kind: 'identity-verification', recipient: email })

test.serial('one above NGN 200,000 is held, asked about by e-mail, and never sent while it is', async (t) => {
  const ada = await creatorWith(world(), 400)
  const exactly = await withdrawal(world(), ada, { amountNGN: 200_000 })
  t.false(exactly.requiresVerification)
  const held = await withdrawal(world(), ada, { amountNGN: 200_000.01 })
  t.like(held, { status: 'pending', requiresVerification: true })
  await sendNow(world())
  t.is(executions(world(), exactly.reference), 1)
  t.is(executions(world(), held.reference), 0)
  t.like(await rowOf(world(), held.reference), { send_state: 'identity_hold', due_at: null })
  const [mail, ...more] = await mailsTo(ada.email)
  t.is(more.length, 0)
  // The page that shows the withdrawal tells the same.
  const asked = mail.body_text.replaceAll(/\s+/g, ' ')
  t.regex(asked, /Reply to this e-mail, and we tell you what we need to see\./)
  t.regex(words.progress.heldMore('', ''), /reply to that e-mail, and we tell you what we need to see\.$/)
  const [listed] = await historyOf(world(), ada)
  t.like(listed, { reference: held.reference, status: 'pending', requiresVerification: true })
})

test.serial('so is what goes above NGN 500,000 in 24 hours, failed ones not counted', async (t) => {
  const ada = await creatorWith(world(), 1000)
  const failed = await withdrawal(world(), ada, { amountNGN: 200_000, accountNumber: '0000000001' })
  await sendNow(world())
  t.is((await rowOf(world(), failed.reference)).status, 'failed')
  for (const amountNGN of [200_000, 200_000, 100_000])
    t.false((await withdrawal(world(), ada, { amountNGN })).requiresVerification)
  t.true((await withdrawal(world(), ada, { amountNGN: 1000 })).requiresVerification)
  await world().db.raw(`alter table withdrawals disable trigger withdrawals_fixed`)
  await world()
    .db('withdrawals')
    .where({ user_id: ada.user.id })
    .update({ created_at: new Date(Date.now() - 25 * 3_600_000) })
  await world().db.raw(`alter table withdrawals enable trigger withdrawals_fixed`)
  t.false((await withdrawal(world(), ada, { amountNGN: 1000 })).requiresVerification)
})

test.serial('two at once do not each look small', async (t) => {
  const ada = await creatorWith(world(), 1000)
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => askWithdrawal(world(), ada, { amountNGN: 200_000 })),
  )
  t.is(answers.filter(({ body }) => body.requiresVerification).length, 3)
})

test.serial('verifying sends what is held, once, and later ones are not held', async (t) => {
  const ada = await creatorWith(world(), 1000)
  const { reference } = await withdrawal(world(), ada, { amountNGN: 300_000 })
  const plan = await verify('--user', ada.email)
  t.is(plan.code, 0)
  t.regex(plan.out, new RegExp(`${reference}  NGN 297000 +would be sent`))
  t.regex(plan.out, /^would be verified: later ones are not held; --apply does it$/m)
  t.is((await rowOf(world(), reference)).send_state, 'identity_hold')
  t.is((await verify('--user', ada.email, '--apply')).code, 3)
  const runs = await Promise.all(
    [1, 2].map(() => verify('--user', ada.user.id, ...surely(ada.user.id), '--json')),
  )
  t.deepEqual(
    runs.map(({ code }) => code),
    [0, 0],
  )
  const sent = runs.flatMap(({ out }) => JSON.parse(out).withdrawals)
  t.is(sent.length, 1)
  await sendNow(world())
  t.is(executions(world(), reference), 1)
  t.false((await withdrawal(world(), ada, { amountNGN: 600_000 })).requiresVerification)
  const entries = await world()
    .db('audit_log')
    .where({ subject: `user:${ada.user.id}` })
  t.like(entries[0], { actor: 'ngozi', action: 'verify-identity' })
})

test.serial('who is verified is not verified again, and cannot be refused', async (t) => {
  const ada = await creatorWith(world(), 300)
  t.regex((await verify('--user', ada.email)).out, /would be verified/)
  t.is((await verify('--user', ada.email, ...surely(ada.user.id))).code, 0)
  const again = await verify('--user', ada.email, '--apply')
  t.is(again.code, 0)
  t.regex(again.out, /verified 20.*\nnothing waits for the identity: nothing to do$/m)
  for (const apply of [[], surely(ada.user.id)]) {
    const refused = await verify('--user', ada.email, '--refuse', ...apply)
    t.is(refused.code, 1)
    t.regex(refused.err, /verified 20.*; nothing of theirs waits .* a verification is not taken back$/m)
  }
  const entries = await world()
    .db('audit_log')
    .where({ subject: `user:${ada.user.id}` })
  t.is(entries.length, 1)
})

test.serial('refusing gives the money back', async (t) => {
  const ada = await creatorWith(world(), 300)
  t.regex(
    (await verify('--user', ada.email, '--refuse')).out,
    /not verified\nnothing waits .*: nothing to do/,
  )
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 300 })
  const plan = await verify('--user', ada.email, '--refuse')
  t.regex(plan.out, new RegExp(`${reference} .* would be given back\nwould be refused: .*; --apply does it`))
  const run = await verify('--user', ada.email, '--refuse', ...surely(ada.user.id))
  t.is(run.code, 0)
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 300, heldUSDC: 0 })
  const [failed] = await historyOf(world(), ada)
  t.like(failed, { reference, status: 'failed', failureReason: 'Your identity could not be verified' })
  t.true((await withdrawal(world(), ada, { amountUSDC: 300 })).requiresVerification)
})

test.serial('one held withdrawal can be released without verifying anybody', async (t) => {
  const ada = await creatorWith(world(), 600)
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 200 })
  const args = ['release', reference, '--apply', `--confirm=${reference}`, '--reason', 'known']
  t.is((await runScript(world(), 'payouts', ...args)).code, 0)
  await sendNow(world())
  t.is(executions(world(), reference), 1)
  t.true((await withdrawal(world(), ada, { amountUSDC: 200 })).requiresVerification)
})
