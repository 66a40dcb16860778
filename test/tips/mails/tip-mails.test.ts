import test from 'ava'
import { sendTipMails } from '../../../src/tips/mails/send-tip-mails.js'
import { tipMail } from '../../../src/tips/mails/tip-mail.js'
import {
  createConfirmedSolTips,
  createConfirmedTips,
  someConfirmation,
} from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)
const hourMs = 3_600_000

async function verifiedCreator(): Promise<TestCreator> {
  const creator = await registerCreator(world())
  await world().db('users').where({ id: creator.user.id }).update({ email_verified_at: new Date() })
  return creator
}
const choose = ({ session }: TestCreator, tipMails: unknown) =>
  world().request<{ tipMails?: string; error?: string }>('PUT', '/auth/tip-mails', {
    session,
    body: { tipMails },
  })
const tips = (creator: TestCreator, count = 1) =>
  createConfirmedSolTips(world().services, Array<string>(count).fill(creator.wallet))
const send = () => sendTipMails(as('clock', world().services))
const mailsOf = ({ email }: TestCreator): Promise<{ subject: string; body_text: string }[]> =>
  world().db('emails').where({ recipient: email, kind: 'tips' }).orderBy('created_at')
const subjectsOf = async (creator: TestCreator) => (await mailsOf(creator)).map(({ subject }) => subject)
const partyOf = async ({ user }: TestCreator): Promise<bigint> =>
  (await world().db('parties').where({ user_id: user.id }).first()).id
async function moveBack(creator: TestCreator, columns: Record<string, Date>): Promise<void> {
  await setRows(world(), 'tip_mails', { party_id: await partyOf(creator) }, columns)
}
async function moveTipsTo(creator: TestCreator, at: Date): Promise<void> {
  const [party, db] = [await partyOf(creator), world().db]
  await db.raw(
    `update tips t set confirmed_at = ?::timestamptz + n * interval '1 ms'
     from (select id, row_number() over (order by confirmed_at) as n from tips where recipient_party = ?) o where o.id = t.id`,
    [at, String(party)],
  )
}
/** The last time it was 08:00 in Lagos, which is 07:00 UTC. */
function lastMorning(): Date {
  const at = new Date()
  at.setUTCHours(7, 0, 0, 0)
  return at.getTime() > Date.now() ? new Date(at.getTime() - 24 * hourMs) : at
}

// Serial, because a run mails every creator who is due.
test.serial('by default no mail is sent about tips, and after `off` none is', async (t) => {
  const [ada, eve] = [await verifiedCreator(), await verifiedCreator()]
  await choose(eve, 'each')
  t.deepEqual((await choose(eve, 'off')).body, { success: true, tipMails: 'off' } as never)
  await Promise.all([tips(ada), tips(eve)])
  await send()
  t.deepEqual([await subjectsOf(ada), await subjectsOf(eve)], [[], []])
})

test.serial('an address that nobody has proven, and a wrong choice, are refused', async (t) => {
  const ada = await registerCreator(world())
  t.is((await choose(ada, 'each')).body.error, 'E-mail not verified')
  t.is((await choose(ada, 'off')).status, 200)
  for (const wrong of ['weekly', '', 1, null]) t.is((await choose(ada, wrong)).body.error, 'Invalid tipMails')
})

test.serial('`each`: tips after the choice, at once, then bundled every ten minutes', async (t) => {
  const ada = await verifiedCreator()
  await tips(ada, 3)
  await choose(ada, 'each')
  await send()
  t.deepEqual(await subjectsOf(ada), [], 'these were before the choice')
  await tips(ada)
  await Promise.all([send(), send(), send()])
  t.deepEqual(await subjectsOf(ada), ['You received a tip at tips.example'], 'three clocks send one mail')
  await tips(ada, 25)
  await send()
  t.is((await mailsOf(ada)).length, 1, 'ten minutes have not passed')
  await choose(ada, 'each')
  await moveBack(ada, { mailed_at: new Date(Date.now() - hourMs) })
  await Promise.all([send(), send()])
  t.deepEqual((await subjectsOf(ada)).slice(1), ['You received 25 tips at tips.example'])
  const text = (await mailsOf(ada))[1]?.body_text ?? ''
  t.is(text.match(/^- 0\.5 SOL from /gm)?.length, 20)
  t.regex(text, /^- and 5 more$/m)
  await moveBack(ada, { mailed_at: new Date(Date.now() - hourMs) })
  await send()
  t.is((await mailsOf(ada)).length, 2, 'each tip is in one mail')
})

test.serial('`daily`: one mail about the tips until 08:00 in Lagos, with count and sums', async (t) => {
  const ada = await verifiedCreator()
  await choose(ada, 'daily')
  await tips(ada, 2)
  await createConfirmedTips(world(), [someConfirmation(ada.wallet, { units: 1_250_000_000n })])
  await moveTipsTo(ada, new Date(lastMorning().getTime() + 1))
  await moveBack(ada, { told_until: new Date(lastMorning().getTime() - 24 * hourMs) })
  await send()
  t.deepEqual(await subjectsOf(ada), [], 'they belong to tomorrow’s mail')
  await moveTipsTo(ada, new Date(lastMorning().getTime() - hourMs))
  await Promise.all([send(), send()])
  t.deepEqual(await subjectsOf(ada), ['You received 3 tips at tips.example'])
  const text = (await mailsOf(ada))[0]?.body_text ?? ''
  t.regex(text, /^- 1 SOL in 2 tips$/m)
  t.regex(text, /^- 1,250 USDC in a tip$/m)
  await tips(ada)
  await moveTipsTo(ada, new Date(lastMorning().getTime() - hourMs / 2))
  await send()
  t.is((await mailsOf(ada)).length, 1, 'one mail a day')
  await choose(ada, 'each')
  await moveBack(ada, { mailed_at: new Date(0) })
  await send()
  t.is((await mailsOf(ada)).length, 2, 'another choice skips no tip')
})

test.serial('a creator whose mail fails keeps nobody else from theirs, and gets it later', async (t) => {
  const [ada, ben] = [await verifiedCreator(), await verifiedCreator()]
  for (const creator of [ada, ben]) await choose(creator, 'each')
  await tips(ada)
  await tips(ben)
  const { db } = world()
  await db.raw(
    `alter table emails add constraint test_broken check (recipient <> '${ada.email}' or kind <> 'tips') not valid`,
  )
  await send()
  t.deepEqual([await subjectsOf(ada), (await subjectsOf(ben)).length], [[], 1])
  await db.raw('alter table emails drop constraint test_broken')
  await send()
  t.is((await subjectsOf(ada)).length, 1)
})

test('a mail about tips has no words of strangers', (t) => {
  const hostile = 'Your account is locked: https://evil.example 481516'
  const tip = {
    mint: null,
    decimals: 2,
    displayRaw: '2000',
    sender: hostile,
    message: hostile,
    confirmedAt: new Date('2026-11-22T09:05:00Z'),
    usd: null,
  }
  const { text, html, subject } = tipMail([tip], { choice: 'each', publicUrl: 'https://tips.example' })
  t.false(`${text}${html}${subject}`.includes('evil'))
  t.regex(text, /^- USD 20 paid in naira, 09:05 UTC$/m)
})
