import test from 'ava'
import sharp from 'sharp'
import { createClient } from '../helpers/http/client.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { sdkTipBody } from '../helpers/make/sdk.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, fiat: true })

async function creatorAt(handle: string, page: Record<string, unknown> = {}): Promise<TestCreator> {
  const creator = await registerCreator(world())
  const body = { handle, ...page }
  const { status } = await world().request('PATCH', '/creators/page', { session: creator.session, body })
  if (status !== 200) throw new Error(`the page was refused: ${status}`)
  return creator
}
const pageOf = (path: string, accept = 'text/html') =>
  world().request<string>('GET', path, { headers: { accept } })

test.serial('a page is read without a script, and says to other sites what it is', async (t) => {
  await creatorAt('tems_fan', {
    words: 'Songs & "stories" <b>',
    links: [{ title: 'My songs', url: 'https://songs.example/?a=1&b=2' }],
    goal: { title: 'A microphone', amountUsd: 250 },
    robots: false,
  })
  const { status, body, headers } = await pageOf('/@tems_fan')
  t.is(status, 200)
  t.regex(String(headers['content-security-policy']), /frame-ancestors 'none'/)
  for (const part of [
    '<h1>Ada Lovelace</h1>',
    '<p class="profile__words">Songs &amp; &quot;stories&quot; &lt;b&gt;</p>',
    'rel="nofollow ugc noopener" target="_blank" href="https://songs.example/?a=1&amp;b=2">My songs</a>',
    '$0 of $250 (0 %)',
    `<link rel="canonical" href="${publicUrl}/@tems_fan">`,
    '<meta name="robots" content="noindex, nofollow">',
    '<meta property="og:title" content="Tip Ada Lovelace">',
  ])
    t.true(body.includes(part), part)
  t.false(body.includes('Newest tips'))
  const card = /og:image" content="([^"]+)"/.exec(body)?.[1] ?? ''
  const { pathname, search } = new URL(card)
  const app = await fetch(`${world().url}${pathname}${search}`)
  t.is(app.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  const drawn = await sharp(await app.arrayBuffer())
  t.like(await drawn.metadata(), { format: 'png', width: 1200, height: 630 })
  // Letters are drawn: the card has more than its ground.
  t.true((await drawn.stats()).channels.some(({ stdev }) => stdev > 5))
  const svg = await pageOf('/@tems_fan/qr.svg')
  t.is(svg.headers['content-type'], 'image/svg+xml')
  const png = await fetch(`${world().url}/@tems_fan/qr.png`)
  t.true(((await sharp(await png.arrayBuffer()).metadata()).width ?? 0) > 700)
})

test.serial('the document has what its script would ask for, and names the file of its texts', async (t) => {
  await creatorAt('quick_page')
  // From now on the service knows the rate for some seconds.
  await world().request('GET', '/payments/fiat/rate?amount=100')
  const { body } = await pageOf('/@quick_page?lang=pcm')
  t.regex(body, / data-session="[^"]*&quot;tokens&quot;/)
  t.regex(body, / data-rate="[^"]*&quot;rate&quot;:1600,/)
  t.regex(body, /<link rel="modulepreload" href="\/assets\/checkout\.pcm-[\w-]+\.js">/)
  t.notRegex((await pageOf('/@quick_page?lang=en')).body, /checkout\.(pcm|fr)-/)
})

test.serial(
  'an earlier handle and other writings lead to the page; a handle of nobody has none',
  async (t) => {
    const { session } = await creatorAt('first_name')
    await world().request('PATCH', '/creators/page', { session, body: { handle: 'later_name' } })
    for (const path of ['/@first_name?x=1', '/@Later_Name?x=1', '/@later_name/?x=1']) {
      const { status, headers } = await pageOf(path)
      t.is(`${status} ${headers.location}`, '302 /@later_name?x=1', path)
    }
    for (const path of [
      '/@nobody_here',
      '/@x',
      '/@%00',
      '/@nobody_here/picture',
      '/@nobody_here/og.png',
      '/@nobody_here/qr.svg',
    ])
      t.is((await pageOf(path, 'application/json')).status, 404, path)
    t.is((await world().request('POST', '/page/nobody_here/session')).body.code, 'page_not_found')
  },
)

test.serial(
  'the wall has paid tips of who is not anonymous, and holds words with links or account numbers',
  async (t) => {
    const { wallet, user } = await creatorAt('walled', { wall: true })
    const crypto = someConfirmation(wallet, { units: 3_000_000n, message: 'pay me at 0123 456 789 0 gtbank' })
    await createConfirmedTips(world(), [crypto])
    const naira = async (body: Record<string, unknown>, isPaid = true) => {
      const { intentId } = await createFiatIntent(world(), { creatorId: user.id, amount: 5, ...body })
      if (!isPaid) return
      payFiatIntent(world(), intentId)
      await settleIntentNow(world(), intentId)
    }
    await naira({ senderName: 'Tobi', memo: 'keep singing <3' })
    await naira({ senderName: 'evil.example', memo: 'see www.evil.example' })
    await naira({ senderName: 'Secret', memo: 'unsaid', isAnonymous: true })
    await naira({ senderName: 'Unpaid', memo: 'unpaid words' }, false)
    const { body } = await pageOf('/@walled')
    for (const part of [
      '<strong>Tobi</strong>',
      'keep singing &lt;3',
      '₦7,600',
      '3 USDC',
      '<strong>A supporter</strong>',
      'Largest tips',
    ])
      t.true(body.includes(part), part)
    for (const part of ['evil', '0123 456', 'Secret', 'unsaid', 'Unpaid', 'unpaid words', wallet])
      t.false(body.includes(part), part)
  },
)

test.serial(
  'a session of the page has the rows and rights of any other, and is not opened from another site',
  async (t) => {
    const { db, request } = world()
    const { user, wallet } = await creatorAt('session_page')
    const opened = await request<{ sessionToken: string }>('POST', '/page/Session_Page/session')
    const { sessionToken: bearer } = opened.body
    t.is(opened.headers['cache-control'], 'no-store')
    const described = await request<{ parentOrigin: string; creator: { id: string } }>(
      'GET',
      '/sdk/session',
      {
        bearer,
      },
    )
    t.is(described.body.parentOrigin, publicUrl)
    t.is(described.body.creator.id, user.id)
    const tip = await request<{ recipient: string }>('POST', '/sdk/tip', {
      bearer,
      body: sdkTipBody({ id: user.id }, { senderName: 'Bola' }),
    })
    t.is(tip.body.recipient, wallet)
    const { intentId } = await createFiatIntent(world(), { creatorId: user.id, amount: 5 }, bearer)
    const listed = await request<{ intents: { intentId: string }[] }>('GET', '/sdk/intents', { bearer })
    t.true(listed.body.intents.some((one) => one.intentId === intentId))
    t.is((await db('sdk_sessions').where({ user_id: user.id })).length, 1)
    const foreign = { origin: 'https://evil.example' }
    t.is((await request('POST', '/page/session_page/session', { headers: foreign })).status, 403)
  },
)

test.serial(
  'the supporter chooses a bank transfer where the creator takes both, and no checkout where not',
  async (t) => {
    const { user } = await creatorAt('both_ways')
    const ask = async (creatorId: string, collection?: unknown) => {
      const intent = await createFiatIntent(world(), { creatorId, amount: 5, collection })
      return intent.checkoutUrl === null ? 'transfer' : 'checkout'
    }
    t.is(await ask(user.id), 'checkout')
    t.is(await ask(user.id, 'bank_transfer'), 'transfer')
    t.is(await ask(user.id, 7), 'checkout')
    const other = await registerCreator(world(), { fiatCollection: 'bank_transfer' })
    t.is(await ask(other.user.id, 'checkout'), 'transfer')
  },
)

test.serial('a stranger who opens a thousand sessions is limited, and others are not', async (t) => {
  const { user } = await creatorAt('crowded')
  const env = { ...world().env, RATE_LIMIT_FACTOR: '1', TRUST_PROXY: 'true' }
  const request = await createClient((await startApp(t, env)).url)
  const open = (address: string) =>
    request('POST', '/page/crowded/session', { headers: { 'x-forwarded-for': address } })
  const opened = []
  for (let begun = 0; begun < 1000; begun += 50)
    opened.push(...(await Promise.all(Array.from({ length: 50 }, () => open('192.0.2.1')))))
  t.is(opened.filter(({ status }) => status === 200).length, 60)
  t.is(opened.filter(({ status }) => status === 429).length, 940)
  t.is((await open('192.0.2.2')).status, 200)
  t.is((await world().db('sdk_sessions').where({ user_id: user.id })).length, 61)
})
