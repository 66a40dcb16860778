import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import test from 'ava'
import { type ReceivedWebhook, verifyWebhook, WebhookError } from '../../src/sdk/client/verify-webhook.js'

const key = randomBytes(32)
const secret = `whsec_${key.toString('base64')}`
const pair = generateKeyPairSync('ed25519')
const { x = '' } = pair.publicKey.export({ format: 'jwk' })
const publicKey = `whpk_${Buffer.from(x, 'base64url').toString('base64')}`
const other = `whsec_${randomBytes(32).toString('base64')}`
const body =
  '{"id":"evt_1","type":"ping","timestamp":"2026-11-25T22:00:00.000Z","sequence":1,"data":{"a":"é€😀"}}'

/** A webhook as the service sends it, signed this many seconds ago. */
function webhook(age = 0, signedBody = body) {
  const id = 'evt_1'
  const timestamp = String(Math.floor(Date.now() / 1000) - age)
  const signed = Buffer.from(`${id}.${timestamp}.${signedBody}`)
  const v1 = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  const v1a = `v1a,${sign(null, signed, pair.privateKey).toString('base64')}`
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `${v1} ${v1a}`,
    'content-type': 'application/json',
  }
  return { body: signedBody, headers, v1, v1a }
}

test('a webhook is accepted by its secret and by its public key, as text and bytes, with headers of either kind', async (t) => {
  const { body: text, headers } = webhook()
  for (const credential of [{ secret }, { publicKey }])
    for (const received of [text, new TextEncoder().encode(text)])
      for (const given of [headers, new Headers(headers)])
        t.deepEqual(await verifyWebhook({ body: received, headers: given, ...credential }), JSON.parse(body))
})

test('the known example of Standard Webhooks is accepted', async (t) => {
  const age = Math.ceil(Date.now() / 1000) - 1_614_265_330 + 60
  const event = await verifyWebhook({
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    toleranceSeconds: age,
  })
  t.deepEqual(event as unknown, { test: 2432232314 })
})

test('one of several signatures is enough, also after others and broken ones', async (t) => {
  const { body: text, headers, v1, v1a } = webhook()
  const wrong = `v1,${randomBytes(32).toString('base64')}`
  for (const signatures of [
    [wrong, v1],
    ['v2,abc', 'v1,', 'v1,*', 'nonsense', v1],
    [v1a, wrong, v1],
  ])
    await t.notThrowsAsync(
      verifyWebhook({
        body: text,
        headers: { ...headers, 'webhook-signature': signatures.join(' ') },
        secret,
      }),
    )
})

test('whatever is changed in a webhook, it is refused with the reason', async (t) => {
  const good = webhook()
  const { v1, v1a } = good
  const without = (name: string) => ({ ...good.headers, [name]: undefined })
  const changed = (change: Record<string, string>) => ({ ...good.headers, ...change })
  const cases: [change: Partial<ReceivedWebhook>, reason: RegExp][] = [
    [{ body: `${body} ` }, /no v1 signature/],
    [{ body: body.replace('"sequence":1', '"sequence":2') }, /no v1 signature/],
    [{ body: JSON.stringify(JSON.parse(body), null, 1) }, /no v1 signature/],
    [{ body: '' }, /no v1 signature/],
    [{ body: new TextEncoder().encode(body).slice(1) }, /no v1 signature/],
    [{ secret: other }, /no v1 signature/],
    [{ headers: changed({ 'webhook-id': 'evt_2' }) }, /no v1 signature/],
    [{ headers: changed({ 'webhook-signature': v1.slice(0, -3) }) }, /no v1 signature/],
    [{ headers: changed({ 'webhook-signature': v1.replace('v1,', 'v2,') }) }, /no v1 signature/],
    [{ headers: changed({ 'webhook-signature': v1.replace('v1,', 'v1a,') }) }, /no v1 signature/],
    [{ headers: changed({ 'webhook-signature': v1.replace(/,./, ',') }) }, /no v1 signature/],
    [{ headers: changed({ 'webhook-signature': v1.slice(3) }) }, /no v1 signature/],
    [{ headers: changed({ 'webhook-signature': v1a }) }, /no v1 signature/],
    [{ headers: changed({ 'webhook-signature': 'v1,' }) }, /no v1 signature/],
    [{ headers: without('webhook-signature') }, /webhook-signature is missing/],
    [{ headers: without('webhook-id') }, /webhook-id is missing/],
    [{ headers: without('webhook-timestamp') }, /webhook-timestamp is missing/],
    [{ headers: new Headers() }, /webhook-id is missing/],
    [{ headers: changed({ 'webhook-timestamp': 'now' }) }, /no time/],
    [{ headers: changed({ 'webhook-timestamp': '-1' }) }, /no time/],
    [
      { headers: changed({ 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 100) }) },
      /no v1 signature/,
    ],
    [webhook(320), /too old/],
    [webhook(20), /too old/],
    [webhook(-320), /from the future/],
    [{ secret: undefined, publicKey: `whpk_${randomBytes(32).toString('base64')}` }, /no v1a signature/],
    [{ secret: undefined, publicKey, body: `${body}\n` }, /no v1a signature/],
    [{ secret: undefined, publicKey, headers: changed({ 'webhook-signature': v1 }) }, /no v1a signature/],
  ] as never
  for (const [change, message] of cases) {
    const toleranceSeconds = change.body === undefined || change.headers === undefined ? 300 : 10
    const received = { ...good, secret, toleranceSeconds, ...change } as ReceivedWebhook
    await t.throwsAsync(verifyWebhook(received), { instanceOf: WebhookError, message })
  }
})

test('a key that is none is an error of the program, not of the webhook', async (t) => {
  const received = webhook()
  for (const wrong of [
    {},
    { secret, publicKey },
    { secret: key.toString('base64') },
    { secret: 'whsec_' },
    { secret: 'whsec_*' },
    { secret: publicKey },
    { publicKey: secret },
  ])
    await t.throwsAsync(verifyWebhook({ ...received, ...wrong }), { instanceOf: TypeError })
})
