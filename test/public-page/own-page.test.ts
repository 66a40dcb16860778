import { crc32 } from 'node:zlib'
import test from 'ava'
import sharp from 'sharp'
import { closeAccount } from '../../src/privacy/close-account.js'
import { findByPageHandle } from '../../src/public-page/handle.js'
import type { OwnPage } from '../../src/public-page/schemas.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { type Person, registerCreator, registerPerson } from '../helpers/make/creators.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

interface Answer {
  readonly page: OwnPage
  readonly code?: string
  readonly details?: readonly { readonly field: string; readonly problem: string }[]
}
const change = ({ session }: Pick<Person, 'session'>, body: unknown) =>
  world().request<Answer>('PATCH', '/creators/page', { session, body })
const refusalOf = async (person: Person, body: unknown) => {
  const { status, body: answer } = await change(person, body)
  return `${status} ${answer.code} ${answer.details?.[0]?.field} ${answer.details?.[0]?.problem}`
}
const ownerOf = async (handle: string) => (await findByPageHandle(world().db, handle))?.userId

test.serial(
  'a page without a handle is nobody’s; what is set is shown, and null takes it away',
  async (t) => {
    const ada = await registerPerson(world())
    const { body } = await world().request<Answer>('GET', '/creators/page', ada)
    t.like(body.page, {
      handle: null,
      url: null,
      words: null,
      links: [],
      goal: null,
      wall: false,
      robots: true,
    })
    const { page } = (
      await change(ada, {
        handle: ' @Ada_Sings ',
        words: 'I sing\u202e on\nFridays',
        links: [{ title: 'Songs', url: 'https://songs.example' }],
        goal: { title: 'A new microphone', amountUsd: 250.5 },
        thanks: 'You are kind',
        currency: 'NGN',
        wall: true,
        robots: false,
      })
    ).body
    t.like(page, {
      handle: 'ada_sings',
      url: `${world().services.config.http.publicUrl}/@ada_sings`,
      words: 'I sing on Fridays',
      links: [{ title: 'Songs', url: 'https://songs.example/' }],
      goal: { title: 'A new microphone', amountUsd: 250.5, raisedUsd: 0 },
      thanks: 'You are kind',
      currency: 'NGN',
      wall: true,
      robots: false,
      pictureUrl: null,
    })
    const cleared = (await change(ada, { words: null, goal: null, currency: null, thanks: ' ', links: [] }))
      .body
    t.like(cleared.page, {
      handle: 'ada_sings',
      words: null,
      goal: null,
      currency: null,
      thanks: null,
      links: [],
    })
  },
)

test.serial('what breaks a rule is refused with the reason, and nothing changes', async (t) => {
  const ada = await registerPerson(world())
  const form = '400 invalid_handle handle must have 3 to 30 of a-z, 0-9 and _'
  for (const handle of ['ab', 'a'.repeat(31), 'ada obi', 'аda_obi', 'ada.sol', 'ada-obi', '7', ada.user.id])
    t.is(await refusalOf(ada, { handle }), form, handle)
  const reserved =
    '400 invalid_handle handle is reserved, or looks like a name that is: payers would take it for somebody else'
  for (const handle of ['paypal', 'paypa1', 'pay_pal', 'PAYSTACK', 'opay_help', 'admin', '4dm1n', 'supp0rt'])
    t.is(await refusalOf(ada, { handle }), reserved, handle)
  t.is(await refusalOf(ada, { handle: 5 }), '400 invalid_handle handle must be a text')
  const links = (url: unknown) => ({ links: [{ title: 'x', url }] })
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'https://a:b@x.example/',
    '//x',
    'x',
    7,
    `https://x.example/${'a'.repeat(500)}`,
  ])
    t.regex(await refusalOf(ada, links(url)), /^400 invalid_page links.0.url/, String(url))
  t.regex(
    await refusalOf(ada, { links: Array(6).fill({ title: 'x', url: 'https://x.example' }) }),
    /links must have at most 5/,
  )
  t.is(
    await refusalOf(ada, { words: 'a'.repeat(501) }),
    '400 invalid_page words must have at most 500 characters',
  )
  for (const amountUsd of [0, -1, 1e7, '5', Number.NaN])
    t.regex(await refusalOf(ada, { goal: { title: 'x', amountUsd } }), /^400 invalid_page goal.amountUsd/)
  t.regex(await refusalOf(ada, { goal: { title: '\u3164', amountUsd: 5 } }), /^400 invalid_page goal.title/)
  t.regex(await refusalOf(ada, { wall: 'yes' }), /^400 invalid_page wall/)
  t.is((await change(ada, 'x'.repeat(70_000))).status, 400)
  const { body } = await world().request<Answer>('GET', '/creators/page', ada)
  t.like(body.page, { handle: null, words: null, links: [], goal: null })
})

test.serial('of a hundred who want one handle or one that looks like it one gets it', async (t) => {
  const people = await Promise.all(Array.from({ length: 10 }, () => registerPerson(world())))
  const wanted = ['tolu_obi', 'to1u_obi', 'tolu_0bi', 'toluobi', 'TOLU_OBI']
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      change(people[index % 10] as Person, { handle: wanted[Math.floor(index / 10) % wanted.length] }),
    ),
  )
  const owners = new Set(await Promise.all(wanted.map((handle) => ownerOf(handle.toLowerCase()))))
  owners.delete(undefined)
  t.is(owners.size, 1)
  // A crowd may be told to come again.
  t.true(answers.every(({ status }) => [200, 400, 503].includes(status)))
})

test.serial(
  'a handle that was given up leads to its creator for 90 days, is nobody else’s, and three are kept',
  async (t) => {
    const { db } = world()
    const [ada, eve] = [await registerPerson(world()), await registerPerson(world())]
    for (const handle of ['amara_one', 'amara_two']) t.is((await change(ada, { handle })).status, 200)
    t.deepEqual(await findByPageHandle(db, 'amara_one'), {
      userId: ada.user.id,
      name: ada.user.name,
      handle: 'amara_two',
    })
    t.is(await refusalOf(eve, { handle: 'amara_one' }), '400 invalid_handle handle is taken')
    t.is(
      await refusalOf(eve, { handle: 'amara_0ne' }),
      '400 invalid_handle handle looks like the handle of another creator',
    )
    t.is((await change(ada, { handle: 'amara_one' })).body.page.oldHandles[0]?.handle, 'amara_two')
    for (const handle of ['amara_3', 'amara_4']) t.is((await change(ada, { handle })).status, 200)
    t.regex(await refusalOf(ada, { handle: 'amara_5' }), /was changed 3 times in the last 90 days/)
    t.is((await change(ada, { handle: 'amara_two' })).status, 200, 'back to an earlier one')
    await db('page_handles')
      .where({ handle: 'amara_one' })
      .update({ until: new Date(Date.now() - 1000) })
    t.is(await ownerOf('amara_one'), undefined)
    t.is((await change(eve, { handle: 'amara_one' })).status, 200)
    t.is(await ownerOf('amara_one'), eve.user.id)
  },
)

test.serial('a linked Twitter handle is kept for its owner', async (t) => {
  const [ada, eve] = [await registerPerson(world()), await registerPerson(world())]
  await world().db('users').where({ id: ada.user.id }).update({ twitter_handle: 'Ada_Tweets' })
  t.regex(await refusalOf(eve, { handle: 'ada_tweets' }), /is the Twitter handle of another creator/)
  t.is((await change(ada, { handle: 'ada_tweets' })).status, 200)
})

test.serial('nobody finds the page of a frozen or closed account, and nobody gets its handle', async (t) => {
  const { db, services } = world()
  const [ada, eve] = [await registerPerson(world()), await registerPerson(world())]
  await change(ada, { handle: 'zainab_x', words: 'x' })
  await db('users').where({ id: ada.user.id }).update({ frozen_at: new Date(), frozen_reason: 'test' })
  t.is(await ownerOf('zainab_x'), undefined)
  t.is((await change(ada, { words: 'y' })).body.code, 'account_frozen')
  await db('users').where({ id: ada.user.id }).update({ frozen_at: null, frozen_reason: null })
  t.is(await ownerOf('zainab_x'), ada.user.id)
  await services.transact((uow) => closeAccount(uow, services.config.http.publicUrl, ada.user.id))
  t.is(await ownerOf('zainab_x'), undefined)
  t.deepEqual(await db('creator_pages').where({ user_id: ada.user.id }), [])
  t.is(await refusalOf(eve, { handle: 'zainab_x' }), '400 invalid_handle handle is taken')
})

test.serial('a goal counts paid tips from the moment it is set', async (t) => {
  const ada = await registerCreator(world())
  await createConfirmedTips(world(), [someConfirmation(ada.wallet, { units: 7_000_000n })])
  await change(ada, { goal: { title: 'Microphone', amountUsd: 100 } })
  await createConfirmedTips(world(), [someConfirmation(ada.wallet, { units: 5_000_000n })])
  const { body } = await change(ada, { goal: { title: 'A better microphone', amountUsd: 120 } })
  t.deepEqual(body.page.goal, { title: 'A better microphone', amountUsd: 120, raisedUsd: 5 })
})

const upload = ({ session }: Person, body: Uint8Array | string, type: string) =>
  world().request<Answer>('PUT', '/creators/page/picture', {
    session,
    body,
    headers: { 'content-type': type },
  })

/** A PNG whose header promises this many pixels. */
function promise(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    size.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([size, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', Buffer.alloc(9)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

test.serial(
  'an uploaded picture becomes ours: small, upright, without metadata, and browsers may keep it',
  async (t) => {
    const { request } = world()
    const ada = await registerPerson(world())
    await change(ada, { handle: 'pictured' })
    const photo = await sharp({ create: { width: 900, height: 1200, channels: 3, background: '#c33' } })
      .jpeg()
      .withExif({ IFD0: { Copyright: 'zqx-place' } })
      .withMetadata({ orientation: 6 })
      .toBuffer()
    const { status, body } = await upload(ada, photo, 'image/jpeg')
    t.is(status, 200)
    const address = body.page.pictureUrl ?? ''
    t.regex(address, /^\/@pictured\/picture\?v=[0-9a-f]{16}$/)
    const stored = await world().db('creator_pages').where({ user_id: ada.user.id }).first()
    const { format, width, height, exif, orientation } = await sharp(stored.picture).metadata()
    t.deepEqual(
      { format, width, height, exif, orientation },
      { format: 'webp', width: 512, height: 384, exif: undefined, orientation: undefined },
    )
    const shown = await request('GET', address)
    t.like(shown.headers, {
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    const again = await request('GET', '/@pictured/picture', {
      headers: { 'if-none-match': shown.headers.etag ?? '' },
    })
    t.is(again.status, 304)
    t.is(again.headers['cache-control'], 'public, max-age=300')
    t.is((await request('DELETE', '/creators/page/picture', ada)).status, 200)
    t.is((await request('GET', '/@pictured/picture')).status, 404)
  },
)

test.serial(
  'what is no picture is refused before anything decodes it, and a bomb harms nobody',
  async (t) => {
    const ada = await registerPerson(world())
    const problem = async (body: Uint8Array | string, type: string) => {
      const answer = await upload(ada, body, type)
      t.is(answer.status, 400)
      t.is(answer.body.code, 'invalid_picture')
      return answer.body.details?.[0]?.problem
    }
    const types = 'must be a picture with the Content-Type image/png, image/jpeg, image/webp'
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    for (const type of ['image/svg+xml', 'image/gif', 'text/html', 'application/json', ''])
      t.is(await problem(svg, type), types, type)
    t.is(await problem(svg, 'image/png'), 'is not of the type image/png')
    t.is(await problem(promise(1, 1), 'image/webp'), 'is not of the type image/webp')
    t.is(await problem(Buffer.alloc(5 * 1024 * 1024 + 1, 1), 'image/png'), 'must have at most 5 MB')
    const refused = 'cannot be decoded, or has more than 40 million pixels'
    t.is(await problem(promise(60_000, 60_000), 'image/png'), refused)
    t.is(await problem(promise(100, 100), 'image/png'), refused)
  },
)
