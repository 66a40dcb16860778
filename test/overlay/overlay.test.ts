import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import { readWall } from '../../src/public-page/wall.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { badBodies } from '../helpers/http/hostile-input.js'
import { openEventStream } from '../helpers/http/stream-reader.js'
import {
  createConfirmedSolTips,
  createConfirmedTips,
  someConfirmation,
} from '../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { recordTip } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { runBatch, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, chain: true })

interface OverlayBody {
  readonly overlay: { readonly url: string; readonly settings: Readonly<Record<string, unknown>> }
}
type Event = Readonly<Record<string, unknown>>
interface JudgedBody {
  readonly waiting: readonly { readonly eventId: string; readonly state: string }[]
  readonly latest: readonly { readonly eventId: string; readonly state: string; readonly message: string }[]
}

const read = ({ session }: TestCreator) =>
  world().request<OverlayBody>('GET', '/creators/overlay', { session })
const change = <Body = OverlayBody>({ session }: TestCreator, body: unknown) =>
  world().request<Body>('PATCH', '/creators/overlay', { session, body })
const renew = ({ session }: TestCreator) =>
  world().request<OverlayBody>('POST', '/creators/overlay/token', { session, body: {} })
const testAlert = ({ session }: TestCreator, body: unknown = {}) =>
  world().request('POST', '/creators/overlay/test', { session, body })
const judged = async ({ session }: TestCreator) =>
  (await world().request<JudgedBody>('GET', '/creators/overlay/tips', { session })).body
const decide = ({ session }: TestCreator, signature: string, decision: string) =>
  world().request<{ state: string; error?: string }>('POST', '/creators/overlay/tips', {
    session,
    body: { signature, decision },
  })

async function addressOf(creator: TestCreator): Promise<string> {
  const { pathname } = new URL((await read(creator)).body.overlay.url)
  return world().url + pathname
}

async function follow(t: ExecutionContext, address: string, lastEventId?: string) {
  const reader = openEventStream(t, `${address}/stream`, lastEventId === undefined ? {} : { lastEventId })
  await until('the stream is connected', () => reader.body().includes('"connected"'))
  return { ...reader, told: (): Event[] => reader.events.map(({ data }) => data) }
}

const tip = async ({ wallet }: TestCreator, message: string | null = null): Promise<string> => {
  const [id = ''] = await createConfirmedSolTips(world().services, [wallet], { message })
  return id
}

test('an overlay has one address and settings with defaults, and a change is merged and told to open ones', async (t) => {
  const creator = await registerCreator(world())
  const both = await Promise.all([read(creator), read(creator)])
  t.is(both[0]?.body.overlay.url, both[1]?.body.overlay.url)
  t.regex(both[0]?.body.overlay.url ?? '', /\/overlay\/[\w-]{43}$/)
  const reader = await follow(t, await addressOf(creator))
  t.true(reader.body().includes('"durationMs":7000'))
  t.false(reader.body().includes('"filter"'))
  await change(creator, { durationMs: 5000, filter: ['one', 'one'], unknown: 1 })
  const { body } = await change(creator, { tiers: [{ fromUsd: 10, sound: 'bell' }], speech: null })
  t.like(body.overlay.settings, {
    durationMs: 5000,
    gapMs: 600,
    filter: ['one'],
    tiers: [{ fromUsd: 10, sound: 'bell' }],
    speech: { enabled: false, fromUsd: 0 },
  })
  await until('both changes came', () => reader.events.length === 2)
  t.like(reader.told()[1], { type: 'settings', settings: { durationMs: 5000, tiers: [{ fromUsd: 10 }] } })
  t.is((await testAlert(creator, { amountUsd: 12.5 })).status, 200)
  await until('the test came', () => reader.events.length === 3)
  t.deepEqual(reader.told()[2], { type: 'test', valueUsd: 12.5 })
})

test('what breaks a rule is refused with the name of the field, and hostile texts are cleaned', async (t) => {
  const creator = await registerCreator(world())
  const wrong: readonly (readonly [body: unknown, field: string])[] = [
    [{ filter: Array.from({ length: 1_000_000 }, () => 'x') }, 'body'],
    [{ filter: Array.from({ length: 201 }, (_, at) => `w${at}`) }, 'filter'],
    [{ filter: ['x'.repeat(41)] }, 'filter.0'],
    [{ filter: ['\u2060'] }, 'filter.0'],
    [{ filter: 'x' }, 'filter'],
    [{ template: '' }, 'template'],
    [{ template: 'x'.repeat(201) }, 'template'],
    [{ durationMs: '7000' }, 'durationMs'],
    [{ durationMs: 999 }, 'durationMs'],
    [{ queue: 1.5 }, 'queue'],
    [{ accent: 'red;background:url(//x)' }, 'accent'],
    [{ sound: 'https://x.example/a.mp3' }, 'sound'],
    [{ tiers: Array.from({ length: 11 }, () => ({ fromUsd: 1 })) }, 'tiers'],
    [{ tiers: [{ fromUsd: -1 }] }, 'tiers.0.fromUsd'],
    [{ speech: true }, 'speech'],
    [{ approval: 'maybe' }, 'approval'],
  ]
  for (const [body, field] of wrong) {
    const answer = await change<{ error: string; details: { field: string }[] }>(creator, body)
    t.deepEqual(
      [answer.status, answer.body.error, answer.body.details[0]?.field],
      [400, 'Invalid settings', field],
    )
  }
  for (const [name, options] of Object.entries(badBodies)) {
    const answer = await world().request('PATCH', '/creators/overlay', {
      ...options,
      session: creator.session,
    })
    t.is(answer.status, 400, name)
  }
  for (const amountUsd of [0, -1, 1e9, '5'])
    t.is((await testAlert(creator, { amountUsd })).body.error, 'Invalid amount')
  t.deepEqual(await world().db('overlays').where({ user_id: creator.user.id }), [], 'nothing was stored')
  const { body } = await change(creator, { template: ' \u202e<b>{sender}</b>\u0007\n{amount} ' })
  t.is(body.overlay.settings['template'], '<b>{sender}</b> {amount}')
})

test('a picture for a tier is made anew, seen under the address only, and the unused ones do not pile up', async (t) => {
  const creator = await registerCreator(world())
  const address = await addressOf(creator)
  const send = (body: Buffer, type: string) =>
    world().request<{ picture: string; error: string }>('POST', '/creators/overlay/pictures', {
      session: creator.session,
      body,
      headers: { 'content-type': type },
    })
  const draw = (hue: number) =>
    sharp({ create: { width: 1000, height: 40, channels: 3, background: { r: hue * 15, g: 0, b: 0 } } })
      .withExif({ IFD0: { Artist: 'zqx-camera' } })
      .jpeg()
      .toBuffer()
  for (const [body, type] of [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png'],
    [Buffer.concat([await draw(1), Buffer.alloc(1024 * 1024)]), 'image/jpeg'],
    [(await draw(1)).subarray(0, 200), 'image/jpeg'],
  ] as const)
    t.is((await send(body, type)).body.error, 'Invalid picture')
  const { picture } = (await send(await draw(1), 'image/jpeg')).body
  await change(creator, { tiers: [{ fromUsd: 0, picture }] })
  for (let hue = 2; hue < 15; hue++) t.is((await send(await draw(hue), 'image/jpeg')).status, 200)
  const rows = await world().db('overlay_pictures').where({ user_id: creator.user.id })
  t.is(rows.length, 11)
  const seen = await fetch(`${address}/pictures/${picture}`)
  t.is(seen.headers.get('content-type'), 'image/webp')
  const bytes = Buffer.from(await seen.arrayBuffer())
  t.like(await sharp(bytes).metadata(), { format: 'webp', width: 800, height: 32 })
  t.false(bytes.includes('zqx'))
  for (const path of [
    `${address}/pictures/0000000000000000`,
    `${address}x/pictures/${picture}`,
    `${address}/pictures/%00`,
  ])
    t.is((await fetch(path)).status, 404)
})

test('a wrong token is answered like a path that does not exist, and a renewed one ends what is open', async (t) => {
  const creator = await registerCreator(world())
  const address = await addressOf(creator)
  const reader = await follow(t, address)
  const wrong = ['x', 'A'.repeat(43), '%00', `${address.split('/').at(-1)}x`, '..%2f..']
  for (const token of wrong)
    for (const part of ['stream', 'figures', 'nothing']) {
      const answer = await fetch(`${world().url}/overlay/${token}/${part}`)
      t.deepEqual([answer.status, (await answer.json()).error], [404, 'Not found'], `${token} ${part}`)
    }
  for (const token of ['x', 'A'.repeat(43)])
    t.is((await fetch(`${world().url}/overlay/${token}`)).status, 404)
  t.is((await fetch(address)).status, 200)
  const renewed = await renew(creator)
  await until('the open stream has ended', () => !reader.isOpen())
  t.is((await fetch(`${address}/stream`)).status, 404)
  t.is((await fetch(address)).status, 404)
  const { pathname } = new URL(renewed.body.overlay.url)
  await follow(t, world().url + pathname)
  t.is((await fetch(`${world().url}${pathname}/figures`)).status, 200)
})

test('tips, approvals, settings and tests come in one order, each once, whoever resumes after which', async (t) => {
  const creator = await registerCreator(world())
  await change(creator, { approval: 'filtered', filter: ['wait'] })
  const address = await addressOf(creator)
  const waiting = await Promise.all(Array.from({ length: 15 }, (_, at) => tip(creator, `wait ${at}`)))
  const reader = await follow(t, address)
  await Promise.all([
    ...Array.from({ length: 40 }, (_, at) => tip(creator, `live ${at}`)),
    ...waiting.flatMap((id) => [decide(creator, id, 'approve'), decide(creator, id, 'approve')]),
    ...Array.from({ length: 10 }, (_, at) => change(creator, { gapMs: at })),
  ])
  const tipsIn = (events: readonly Event[]) => events.filter(({ type }) => type === 'tip')
  const all = 40 + waiting.length
  const { overlay } = (await read(creator)).body
  // Of changes that come together, the last one is told.
  await until('all came', () => {
    const told = reader.told()
    const last = told.findLast(({ type }) => type === 'settings')?.['settings'] as
      | { gapMs?: number }
      | undefined
    return tipsIn(told).length >= all && last?.gapMs === overlay.settings['gapMs']
  })
  const tips = tipsIn(reader.told())
  t.is(new Set(tips.map(({ eventId }) => eventId)).size, all)
  t.is(tips.length, all, 'each once')
  const ids = reader.events.map(({ id }) => id)
  t.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  t.is(new Set(ids).size, ids.length)
  for (const at of [0, 7, ids.length - 2]) {
    const resumed = await follow(t, address, String(ids[at]))
    const rest = tipsIn(reader.told().slice(at + 1))
    await until('the rest came', () => tipsIn(resumed.told()).length === rest.length)
    t.deepEqual(tipsIn(resumed.told()), rest)
  }
})

test('words of the filter are left out or wait, a held tip never comes, and the contract’s lists have all of it', async (t) => {
  const creator = await registerCreator(world())
  const address = await addressOf(creator)
  const reader = await follow(t, address)
  await change(creator, { filter: ['scam'] })
  const plain = await tip(creator, 'hello')
  const left = await tip(creator, 'a scam')
  await until('both came', () => reader.told().filter(({ type }) => type === 'tip').length === 2)
  t.deepEqual(
    reader.told().flatMap(({ eventId, message }) => (eventId === undefined ? [] : [[eventId, message]])),
    [
      [plain, 'hello'],
      [left, null],
    ],
  )
  await change(creator, { approval: 'all' })
  const first = await tip(creator, 'one')
  const second = await tip(creator, 'two')
  const wordless = await tip(creator)
  await until('the one without words came', () => reader.told().some(({ eventId }) => eventId === wordless))
  const waiting = (await judged(creator)).waiting.map(({ eventId }) => eventId)
  t.deepEqual(waiting.slice(-2), [first, second], 'oldest first')
  t.is((await decide(creator, second, 'hold')).body.state, 'held')
  t.is((await decide(creator, first, 'approve')).body.state, 'shown')
  t.is((await decide(creator, plain, 'hold')).body.state, 'held')
  await until('the approval and both removals came', () => {
    const told = reader.told()
    return (
      told.filter(({ type }) => type === 'removed').length === 2 &&
      told.some(({ eventId }) => eventId === first)
    )
  })
  const late = await follow(t, address, '0')
  await until('the approved one came', () => late.told().some(({ eventId }) => eventId === first))
  await until('all came', () =>
    late.told().some(({ type, eventId }) => type === 'removed' && eventId === plain),
  )
  const shown = late.told().filter(({ type }) => type === 'tip')
  t.false(shown.some(({ eventId }) => eventId === second || eventId === plain))
  const figures = await world().request<{ latest: { eventId: string }[]; top: unknown[] }>(
    'GET',
    `${new URL(address).pathname}/figures`,
  )
  const wall = await readWall(world().db, creator.user.id)
  t.deepEqual(
    wall.newest.map(({ words }) => words),
    [null, 'one'],
    'the page shows what the overlay does',
  )
  t.false(figures.body.latest.some(({ eventId }) => eventId === second || eventId === plain))
  const { body } = await world().request<{ tips: { message: string }[] }>(
    'GET',
    `/chain/tips?address=${creator.wallet}`,
  )
  t.deepEqual(
    body.tips.map(({ message }) => message),
    [null, 'two', 'one', 'a scam', 'hello'],
  )
})

test('hidden words are gone from lists, streams, events and figures, for good, and the money stays', async (t) => {
  const creator = await registerCreator(world())
  const address = await addressOf(creator)
  const confirmation = someConfirmation(creator.wallet, { message: 'zqxcanary-insult' })
  await createConfirmedTips(world(), [confirmation])
  const { id } = confirmation
  await world().db('tips').where({ id }).update({ sender_name: 'zqxcanary-name' })
  const { intentId } = await createFiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 10,
    senderName: 'zqxcanary-payer',
    memo: 'zqxcanary-memo',
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const before = await balance(creator)
  const stranger = await registerCreator(world())
  for (const signature of [id, intentId]) {
    t.is((await decide(stranger, signature, 'hide')).body.error, 'Tip not found')
    const answers = await Promise.all(Array.from({ length: 50 }, () => decide(creator, signature, 'hide')))
    t.deepEqual([...new Set(answers.map(({ body }) => body.state))], ['hidden'])
    t.is((await decide(creator, signature, 'approve')).body.state, 'hidden')
  }
  // A claim that agrees with the facts brings no message back.
  await recordTip(world(), {
    creatorWallet: creator.wallet,
    senderWallet: confirmation.facts.sender,
    tipAmount: 1,
    tokenSymbol: 'USDC',
    txSignature: id,
    message: 'zqxcanary-again',
  })
  await runBatch(createVerifierBatch(as('verifier', world().services)))
  const { request, url } = world()
  const { session } = creator
  const seen = await Promise.all([
    request('GET', `/chain/tips?address=${creator.wallet}`),
    request('GET', '/creators/tips', { session }),
    request('GET', '/creators/events', { session }),
    request('GET', '/creators/overlay/tips', { session }),
    request('GET', `${new URL(address).pathname}/figures`),
  ])
  for (const { status, body } of seen) {
    t.is(status, 200)
    t.false(JSON.stringify(body).includes('zqxcanary'))
  }
  const stream = openEventStream(t, `${url}/chain/tips/stream?wallet=${creator.wallet}`, { lastEventId: '0' })
  await until('both tips are replayed', () => stream.events.length === 2)
  t.false(stream.body().includes('zqxcanary'))
  const overlay = await follow(t, address, '0')
  await until('the removals came', () => overlay.told().filter(({ type }) => type === 'removed').length === 2)
  t.false(overlay.told().some(({ type }) => type === 'tip'))
  t.deepEqual(await balance(creator), before)
})

async function balance({ session }: TestCreator): Promise<unknown> {
  return (await world().request<{ balance: unknown }>('GET', '/creators/balance', { session })).body.balance
}

test('naira come with what was paid, names with the wallet, and top supporters are summed by wallet or name', async (t) => {
  const creator = await registerCreator(world())
  const address = await addressOf(creator)
  const reader = await follow(t, address)
  const [one, two] = [
    someConfirmation(creator.wallet),
    someConfirmation(creator.wallet, { units: 7_000_000n }),
  ]
  await createConfirmedTips(world(), [one, { ...two, facts: { ...two.facts, sender: one.facts.sender } }])
  await world().db('tips').where({ id: one.id }).update({ sender_name: 'Chidi' })
  for (const senderName of ['Bola', 'Bola', undefined]) {
    const { intentId } = await createFiatIntent(world(), {
      creatorId: creator.user.id,
      amount: 5,
      ...(senderName && { senderName }),
    })
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
  }
  await until('all came', () => reader.events.length === 5)
  const naira = reader.told().filter(({ tokenSymbol }) => tokenSymbol === 'FIAT')
  t.is(naira.length, 3)
  for (const { amountNgn } of naira) t.true(Number(amountNgn) > 1000)
  const read = () =>
    world().request<{ goal: unknown; top: { name: string; valueUsd: number }[] }>(
      'GET',
      `${new URL(address).pathname}/figures`,
    )
  t.is((await read()).body.goal, null)
  const goal = { title: 'A microphone', amountUsd: 250 }
  await world().request('PATCH', '/creators/page', { session: creator.session, body: { goal } })
  const figures = await read()
  t.deepEqual(figures.body.goal, { ...goal, raisedUsd: 0 })
  t.deepEqual(
    figures.body.top.map(({ valueUsd }) => valueUsd),
    [10, 8],
  )
  t.is(figures.body.top[0]?.name, 'Bola')
})
