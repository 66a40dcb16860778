import test from 'ava'
import { mailText, type QueuedEmail, renderQueued } from '../../../scripts/kit/mail-text.js'
import { sendTipMails } from '../../../src/tips/mails/send-tip-mails.js'
import {
  createConfirmedSolTips,
  createConfirmedTips,
  someConfirmation,
} from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../../helpers/make/fiat/fiat-tips.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
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
const mailsOf = ({ email }: TestCreator): Promise<(QueuedEmail & { unsubscribe_url: string })[]> =>
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
test.serial(
  'who has chosen nothing is told once the address is proven; `off`, frozen and closed are not',
  async (t) => {
    const [ada, eve, cold, gone] = await Promise.all([1, 2, 3, 4].map(() => verifiedCreator()))
    const young = await registerCreator(world())
    if (!ada || !eve || !cold || !gone) return t.fail()
    await choose(eve, 'each')
    t.deepEqual((await choose(eve, 'off')).body, { success: true, tipMails: 'off' } as never)
    await setRows(world(), 'users', { id: cold.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
    await setRows(world(), 'users', { id: gone.user.id }, { closed_at: new Date() })
    const all = [ada, eve, cold, gone, young]
    for (const creator of all) await tips(creator, 2)
    await Promise.all([send(), send(), send()])
    const counts = async () => Promise.all(all.map(async (creator) => (await subjectsOf(creator)).length))
    t.deepEqual(await counts(), [1, 0, 0, 0, 0])
    await tips(ada)
    await moveBack(ada, { mailed_at: new Date(Date.now() - 14 * 60_000) })
    await send()
    t.is((await mailsOf(ada)).length, 1, 'a quarter of an hour has not passed')
    await moveBack(ada, { mailed_at: new Date(Date.now() - 16 * 60_000) })
    await world().db('users').where({ id: young.user.id }).update({ email_verified_at: new Date() })
    await Promise.all([send(), send()])
    t.deepEqual(await counts(), [2, 0, 0, 0, 1])
    t.deepEqual(await subjectsOf(young), ['You received 2 tips at tips.example'], 'with those of before')
  },
)

test.serial(
  'the link of a mail turns the mails off without signing in, once, and only by its button',
  async (t) => {
    const ada = await verifiedCreator()
    await tips(ada)
    await send()
    const [mail] = await mailsOf(ada)
    const address = /http:\/\/tips\.example(\/tip-mails\/\S+)/.exec(mailText(mail))
    const path = address?.[1] ?? ''
    t.is(mail?.unsubscribe_url, address?.[0])
    t.true(renderQueued(mail).html.includes(`href="${address?.[0]}"`))
    const chosen = async () => (await world().db('users').where({ id: ada.user.id }).first()).tip_mails
    const page = await fetch(world().url + path)
    t.regex(await page.text(), /<form method="post"><button>Turn these e-mails off<\/button><\/form>/)
    t.regex(page.headers.get('content-security-policy') ?? '', /form-action 'self'/)
    t.is(page.headers.get('cache-control'), 'no-store')
    t.is(await chosen(), 'each', 'opening it changes nothing: mail scanners open links')
    // As a mail program's own button sends it (RFC 8058).
    const press = (to = path, body = 'List-Unsubscribe=One-Click') =>
      fetch(world().url + to, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      })
    t.is((await press()).status, 200)
    t.is((await press()).status, 404)
    t.is(await chosen(), 'off')
    await tips(ada)
    await moveBack(ada, { mailed_at: new Date(0) })
    await send()
    t.is((await mailsOf(ada)).length, 1)
    for (const wrong of ['x', '%00', crypto.randomUUID(), `${path.slice(11)}x`])
      t.is((await press(`/tip-mails/${wrong}`)).status, 404, wrong)
    t.is((await press(path, 'x'.repeat(70_000))).status, 404)
    await choose(ada, 'each')
    t.is((await press()).status, 404, 'what was chosen since is not undone by an old mail')
    t.is(await chosen(), 'each')
  },
)

test.serial('of a naira tip the mail quotes name and message, and nothing of who is anonymous', async (t) => {
  const ada = await verifiedCreator()
  for (const extra of [
    { senderName: 'Tobi of evil.example', memo: 'Win 481516 at https://evil.example/now' },
    { senderName: 'Secret Ngozi', memo: 'hidden', isAnonymous: true, payerEmail: 'ngozi@example.com' },
  ]) {
    const { intentId } = await createFiatIntent(world(), { creatorId: ada.user.id, amount: 5, ...extra })
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
  }
  await send()
  const { text, html } = renderQueued((await mailsOf(ada))[0])
  t.regex(
    text.replaceAll('\n', ' '),
    /- NGN 7,600\.00 from "Tobi of \(link\)", \d\d:\d\d UTC: "Win 481\.\.\. at \(link\)"/,
  )
  t.regex(text, /^- NGN 7,600\.00, \d\d:\d\d UTC$/m)
  t.notRegex(text + html, /evil\.example|Ngozi|hidden|Anonymous|481516/i)
})

test.serial('an address that nobody has proven, and a wrong choice, are refused', async (t) => {
  const ada = await registerCreator(world())
  t.is((await choose(ada, 'each')).body.error, 'E-mail not verified')
  t.is((await choose(ada, 'off')).status, 200)
  for (const wrong of ['weekly', '', 1, null]) t.is((await choose(ada, wrong)).body.error, 'Invalid tipMails')
})

test.serial('`each`: tips after the choice, at once, then bundled every quarter of an hour', async (t) => {
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
  t.is((await mailsOf(ada)).length, 1, 'a quarter of an hour has not passed')
  await choose(ada, 'each')
  await moveBack(ada, { mailed_at: new Date(Date.now() - hourMs) })
  await Promise.all([send(), send()])
  t.deepEqual((await subjectsOf(ada)).slice(1), ['You received 25 tips at tips.example'])
  const text = mailText((await mailsOf(ada))[1])
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
  const text = mailText((await mailsOf(ada))[0])
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
