import test from 'ava'
import { solMint, usdc } from '../../src/kernel/tokens.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { createSupporter, unusedSignature, unusedWallet } from '../helpers/make/supporter.js'
import { setRows, useWorld } from '../helpers/servers/world.js'
import { createTippable } from './support.js'

const world = useWorld(test, { chain: true, proxies: true })

interface WalletRefusal {
  readonly error: string
  readonly code: string
  readonly message: string
}
const post = (path: string, body: unknown = { account: unusedWallet() }) =>
  world().request<WalletRefusal>('POST', path, { body })
const versions = { 'x-action-version': '2.4', 'access-control-allow-origin': '*' }

test('an amount, a token or a wallet that cannot be: refused with words for the person, and nothing is stored', async (t) => {
  const { handle } = await createTippable(world(), { settings: { maxTipUsd: 50 } })
  const path = `/actions/tip/${handle}`
  const account = unusedWallet()
  const form = 'Invalid amount: amount must be a finite positive number'
  const cases: [query: string, body: unknown, message: RegExp | string][] = [
    ['?amount=NaN', { account }, form],
    ['?amount=1e400', { account }, form],
    ['?amount=-5', { account }, form],
    ['?amount=', { account }, form],
    ['?amount=5&amount=6', { account }, /^Invalid amount: amount must be /],
    ['?amount=%7Bamount%7D', { account }, form],
    ['?amount=0', { account }, /^Invalid amount: amount must be /],
    ['?amount=50.01', { account }, 'Invalid amount: amount must be worth from 0.01 to 50 USD'],
    ['?amount=9999999', { account }, 'Invalid amount: amount must be worth from 0.01 to 50 USD'],
    ['?amount=5', { account, amount: 500 }, ''],
    ['?amount=5&token=DOGE', { account }, 'Invalid token: token must be a known symbol or a mint'],
    ['?amount=5&message=%E0%A4%A', { account }, /message must be UTF-8/],
    ['', {}, 'Invalid account: account is missing'],
    ['', { account: 'x' }, 'Invalid account: account must be a wallet address: base58 of 32 bytes'],
    ['', { account: 7 }, /^Invalid account: /],
    ['', { account: '0'.repeat(44) }, /^Invalid account: /],
    ['', { account: 'x'.repeat(70 * 1024) }, 'Invalid account: body must have at most 64 KB'],
    ['', '[1]', /^Invalid account: /],
  ]
  for (const [query, body, message] of cases) {
    const answer = await post(path + query, body)
    if (message === '') {
      t.is(answer.body.message, 'Tip Ada Lovelace 5 USDC', 'the query decides')
      continue
    }
    t.is(answer.status, 400, query)
    if (typeof message === 'string') t.is(answer.body.message, message, query)
    else t.regex(answer.body.message, message, query)
    t.like(answer.headers, versions)
  }
  t.is((await world().db('payment_intents').where({ source_wallet: account })).length, 1)
})

test('unknown, closed and frozen creators, and other paths, are refused alike, with the headers of Actions', async (t) => {
  const [closed, frozen] = [await createTippable(world()), await createTippable(world())]
  await setRows(world(), 'users', { id: closed.user.id }, { closed_at: new Date() })
  await setRows(world(), 'users', { id: frozen.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
  const callback = { account: unusedWallet(), signature: unusedSignature() }
  for (const handle of ['nobody_here', closed.handle, frozen.handle, 'x'.repeat(2000), '%00', '..%2f'])
    for (const [method, end, body] of [
      ['GET', ''],
      ['POST', '', { account: unusedWallet() }],
      ['POST', '/sent?intent=pi_1', callback],
      ['POST', '/naira', {}],
    ] as const) {
      const path = `/actions/tip/${handle}${end}`
      const answer = await world().request<WalletRefusal>(method, path, body && { body })
      t.is(answer.status, 404, `${method} ${path}`)
      t.like(answer.body, { code: 'creator_not_found', message: 'Creator not found' })
      t.like(answer.headers, versions)
    }
  for (const [method, path, status] of [
    ['GET', '/actions', 404],
    ['GET', '/actions/', 404],
    ['GET', '/actions/tip', 404],
    ['PUT', `/actions/tip/${frozen.handle}`, 405],
    ['DELETE', '/actions.json', 405],
    ['GET', '/pay/nothing', 404],
    ['POST', '/pay/nothing', 400],
  ] as const) {
    const { status: answered, text } = await requestRaw(world().url, method, path)
    t.is(answered, status, path)
    if (path === '/actions') continue
    const { error, message } = JSON.parse(text)
    t.true(message.startsWith(error), `${path}: ${message}`)
  }
})

test('OPTIONS of every path of Actions lets the pages of wallets in, with and without a preflight', async (t) => {
  for (const path of ['/actions.json', '/actions/tip/ada', '/actions/tip/ada/sent', '/actions/nowhere'])
    for (const headers of [
      {},
      { origin: 'https://wallet.example', 'access-control-request-method': 'POST' },
    ]) {
      const answer = await requestRaw(world().url, 'OPTIONS', path, headers)
      t.deepEqual([answer.status, answer.text], [204, ''])
      t.like(answer.headers, {
        ...versions,
        'access-control-allow-methods': 'GET,POST,PUT,OPTIONS',
        'x-blockchain-ids': 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      })
      t.regex(
        String(answer.headers['access-control-allow-headers']),
        /^Content-Type, Authorization, Content-Encoding, Accept-Encoding\b/,
      )
    }
})

test.serial('a callback for an intent of another creator, or for none, records nothing', async (t) => {
  const [one, other] = [await createTippable(world()), await createTippable(world())]
  const account = unusedWallet()
  const made = await world().request<{ links: { next: { href: string } } }>(
    'POST',
    `/actions/tip/${one.handle}?amount=5`,
    { body: { account } },
  )
  const { href } = made.body.links.next
  const signature = unusedSignature()
  for (const path of [
    href.replace(one.handle, other.handle),
    href.replace('pi_', 'pi_0'),
    href.split('?')[0] ?? '',
  ]) {
    const answer = await post(path, { account, signature })
    t.deepEqual([answer.status, answer.body.code], [404, 'payment_intent_not_found'], path)
  }
  for (const [body, code] of [
    [{ account }, 'invalid_tx_signature'],
    [{ account, signature: 'x' }, 'invalid_tx_signature'],
    [{ signature }, 'invalid_account'],
  ] as const)
    t.is((await post(href, body)).body.code, code)
  t.is((await world().db('tips')).length, 0)
  const again = Array.from({ length: 100 }, () => post(href, { account, signature }))
  const statuses = (await Promise.all(again)).map(({ status }) => status)
  t.true(statuses.includes(200))
  t.true(
    statuses.every((status) => status === 200 || status === 503),
    'a loaded machine turns some away',
  )
  const tips = await world().db('tips')
  t.is(tips.length, 1)
  t.like(tips[0], { id: signature, status: 'pending', sender: account, creator_wallet: one.wallet })
})

test.serial('a POST costs the statements of POST /payments/intent and one that finds the page', async (t) => {
  const { handle, user } = await createTippable(world())
  const { wallet } = createSupporter(world().sandbox)
  const intent = { creatorId: user.id, amountUsd: 5, sourceWalletAddress: wallet }
  const byIntent = (inputTokenMint: string) => post('/payments/intent', { ...intent, inputTokenMint })
  const byAction = (token: string) =>
    post(`/actions/tip/${handle}?amount=5&token=${token}`, { account: wallet })
  for (const [symbol, mint] of [
    ['USDC', usdc.mint],
    ['SOL', solMint],
  ] as const) {
    // What a process remembers, it remembers for both.
    await byIntent(mint)
    await byAction(symbol)
    const counted = async (work: () => Promise<unknown>) =>
      (await world().proxies.sql.during(work)).filter((name) => name !== 'prices.store').sort()
    t.deepEqual(
      await counted(() => byAction(symbol)),
      [...(await counted(() => byIntent(mint))), 'page_handles.find'].sort(),
      symbol,
    )
  }
})
