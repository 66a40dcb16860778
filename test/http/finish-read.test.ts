import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import test from 'ava'
import { type Raw, requestRaw } from '../helpers/http/raw-request.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createFiatIntent } from '../helpers/make/fiat/fiat-tips.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Raw> =>
  requestRaw(world().url, method, path, headers)
const asOwner = ({ session }: TestCreator) => ({ cookie: `session=${session}` })

async function creatorWithTips(count = 30): Promise<TestCreator> {
  const ada = await registerCreator(world())
  await tip(ada, count)
  return ada
}
const tip = ({ wallet }: TestCreator, count: number) =>
  createConfirmedTips(
    world(),
    Array.from({ length: count }, () => someConfirmation(wallet)),
  )

test.serial('a public list is sent again only when it has changed, and compressed on request', async (t) => {
  const ada = await creatorWithTips()
  const path = `/chain/tips?address=${ada.wallet}`
  const plain = await get(path)
  t.is(plain.status, 200, plain.text)
  t.like(plain.headers, { vary: 'Origin, Accept-Encoding', 'cache-control': 'no-cache' })
  t.is(plain.headers['content-encoding'], undefined)
  const tag = String(plain.headers.etag)
  t.regex(tag, /^W\/"[\w-]{22}"$/)
  for (const [encoding, decompress] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const { headers, bytes } = await get(path, { 'accept-encoding': encoding })
    t.like(headers, {
      'content-encoding': encoding,
      etag: tag,
      'content-type': plain.headers['content-type'],
    })
    t.is(headers['content-length'], String(bytes.length))
    t.true(bytes.length < plain.bytes.length / 3)
    t.deepEqual(decompress(bytes), plain.bytes)
  }
  for (const refused of ['identity', 'br;q=0, gzip;q=0', 'zstd', 'nonsense', ''])
    t.deepEqual((await get(path, { 'accept-encoding': refused })).bytes, plain.bytes, refused)
  for (const known of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
    const same = await get(path, { 'if-none-match': known, 'accept-encoding': 'br' })
    t.is(same.status, 304, known)
    t.like(same.headers, { etag: tag, 'access-control-allow-origin': '*' })
    t.is(same.bytes.length, 0)
    t.is(same.headers['content-encoding'], undefined)
  }
  for (const other of ['W/"AAAAAAAAAAAAAAAAAAAAAA"', 'nonsense', `${'"x",'.repeat(3000)}"y"`, '\u00ff'])
    t.is((await get(path, { 'if-none-match': other })).status, 200, other.slice(0, 40))
  const head = await get(path, {}, 'HEAD')
  t.like(head.headers, { etag: tag, 'content-length': String(plain.bytes.length) })
  await tip(ada, 1)
  const later = await get(path, { 'if-none-match': tag })
  t.is(later.status, 200)
  t.not(later.headers.etag, tag)
})

test.serial('what may not be stored is never 304, and only lists of it are compressed', async (t) => {
  const ada = await creatorWithTips()
  const owner = asOwner(ada)
  const asked = { ...owner, 'if-none-match': '*', 'accept-encoding': 'br' }
  for (const path of [
    '/creators/tips',
    '/creators/tips?format=csv',
    '/creators/transactions',
    '/creators/events',
    '/creators/banks',
  ]) {
    const { status, headers, bytes } = await get(path, asked)
    const plain = await get(path, owner)
    t.is(plain.status, 200, `${path} ${plain.text}`)
    t.deepEqual([status, headers['cache-control'], headers.etag], [200, 'no-store', undefined], path)
    t.is(headers['content-encoding'], plain.bytes.length < 1024 ? undefined : 'br', path)
    if (path !== '/creators/banks') t.is(headers['content-encoding'], 'br', path)
    if (headers['content-encoding'] === 'br') t.deepEqual(brotliDecompressSync(bytes), plain.bytes, path)
  }
  for (let n = 0; n < 9; n++)
    await world().request('POST', '/creators/api-keys', {
      session: ada.session,
      body: { label: 'k'.repeat(50) },
    })
  const keys = await get('/creators/api-keys', asked)
  t.true(keys.bytes.length > 1024)
  t.deepEqual([keys.headers['content-encoding'], keys.headers.etag], [undefined, undefined])
  const { intentId } = await createFiatIntent(world(), { creatorId: ada.user.id, amount: 10 })
  for (const path of [`/payments/fiat/status?intentId=${intentId}`, '/auth/me', '/creators/me']) {
    const { status, headers } = await get(path, asked)
    t.deepEqual([status, headers['cache-control'], headers.etag], [200, 'no-store', undefined], path)
  }
  for (const path of ['/chain/tips', '/nowhere', '/reserves']) {
    const { status, headers } = await get(path, { 'if-none-match': '*' })
    t.true(status >= 400, path)
    t.is(headers.etag, undefined, path)
  }
})

test.serial('streams stay as they are, and documents are compressed once', async (t) => {
  const ada = await creatorWithTips(1)
  const headers = { 'accept-encoding': 'br, gzip', 'if-none-match': '*' }
  const stream = await new Promise<IncomingMessage>((resolve, reject) =>
    httpGet(`${world().url}/chain/tips/stream?wallet=${ada.wallet}`, { headers, agent: false }, resolve).on(
      'error',
      reject,
    ),
  )
  t.teardown(() => stream.destroy())
  t.is(stream.statusCode, 200)
  for (const name of ['content-encoding', 'etag']) t.is(stream.headers[name], undefined)
  const [first] = await once(stream, 'data')
  t.regex(String(first), /^retry: /)
  for (const path of ['/openapi.json', '/docs', '/docs.md', '/llms.txt']) {
    const plain = await get(path)
    const zipped = await get(path, { 'accept-encoding': 'gzip' })
    t.is(zipped.headers['content-encoding'], 'gzip', path)
    t.deepEqual(gunzipSync(zipped.bytes), plain.bytes, path)
    const known = { 'accept-encoding': 'gzip', 'if-none-match': String(zipped.headers.etag) }
    t.is((await get(path, known)).status, 304, path)
  }
})
