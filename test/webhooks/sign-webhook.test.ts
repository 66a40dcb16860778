import { spawnSync } from 'node:child_process'
import { createPublicKey, randomUUID, verify } from 'node:crypto'
import test from 'ava'
import { Webhook } from 'standardwebhooks'
import { DataKeys } from '../../src/kernel/personal-data.js'
import {
  newWebhookKey,
  newWebhookSecret,
  openSigningKeys,
  publicKeyText,
  signatureHeaders,
} from '../../src/webhooks/sign-webhook.js'

const config = { dataKeys: new DataKeys([Buffer.alloc(32, 3)]) }
const endpointId = randomUUID()
const secret = newWebhookSecret(config, endpointId)
const older = newWebhookSecret(config, endpointId)
const key = newWebhookKey(config, endpointId)
const keys = openSigningKeys(config, {
  id: endpointId,
  sealedSecret: secret.sealed,
  sealedPrevious: older.sealed,
  sealedKey: key.sealed,
})
const id = 'evt_0123456789abcdef0123456789abcdef_7'
const body = JSON.stringify({ id, type: 'ping', data: { text: 'naïve ₦ 😀' } })
type Headers = Record<string, string>
const sign = (now = Date.now()): Headers => signatureHeaders(keys, { id, body }, now)

/** What somebody in the middle may send instead. */
function changed(): [name: string, headers: Headers, body: string][] {
  const good = sign()
  const { 'webhook-id': sent, 'webhook-timestamp': at = '', 'webhook-signature': signature = '' } = good
  const [first = '', second = ''] = signature.split(' ')
  const withHeaders = (changes: Headers): Headers => ({ ...good, ...changes })
  const without = (name: string): Headers =>
    Object.fromEntries(Object.entries(good).filter(([one]) => one !== name))
  const flipped = `v1,${Buffer.from(Buffer.from(first.slice(3), 'base64').map((byte, n) => (n === 0 ? byte ^ 1 : byte))).toString('base64')}`
  return [
    ['another body', good, `${body} `],
    ['an empty body', good, ''],
    ['a body cut short', good, body.slice(0, -1)],
    ['another amount', good, body.replace('7', '8')],
    ['keys in another order', good, JSON.stringify({ type: 'ping', id })],
    ['another id', withHeaders({ 'webhook-id': `${sent}0` }), body],
    ['no id', without('webhook-id'), body],
    ['an id with a dot', withHeaders({ 'webhook-id': `${sent}.${at}` }), body],
    ['another time', withHeaders({ 'webhook-timestamp': String(Number(at) + 1) }), body],
    ['an old time', sign(Date.now() - 600_000), body],
    ['a time to come', sign(Date.now() + 600_000), body],
    ['no time', without('webhook-timestamp'), body],
    ['a time that is none', withHeaders({ 'webhook-timestamp': 'now' }), body],
    ['no signature', without('webhook-signature'), body],
    ['an empty signature', withHeaders({ 'webhook-signature': 'v1,' }), body],
    ['one bit flipped', withHeaders({ 'webhook-signature': flipped }), body],
    ['another version', withHeaders({ 'webhook-signature': first.replace('v1,', 'v2,') }), body],
    ['no version', withHeaders({ 'webhook-signature': first.slice(3) }), body],
    ['a signature cut short', withHeaders({ 'webhook-signature': first.slice(0, -4) }), body],
    ['the signature of the other secret only', withHeaders({ 'webhook-signature': second }), body],
  ]
}

test('standardwebhooks accepts ours with either secret, and refuses each of twenty changed ones', (t) => {
  const verifier = new Webhook(secret.text)
  t.deepEqual(verifier.verify(body, sign()), JSON.parse(body))
  t.deepEqual(new Webhook(older.text).verify(body, sign()), JSON.parse(body))
  const cases = changed()
  t.is(cases.length, 20)
  for (const [name, headers, text] of cases) t.throws(() => verifier.verify(text, headers), undefined, name)
})

const python = `
import base64, hashlib, hmac, json, sys, time
def verify(secret, headers, body):
    try:
        key = base64.b64decode(secret[len("whsec_"):])
        if abs(time.time() - int(headers["webhook-timestamp"])) > 300: return False
        text = ".".join([headers["webhook-id"], headers["webhook-timestamp"], body])
        mine = base64.b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()
        return any(hmac.compare_digest("v1," + mine, one) for one in headers["webhook-signature"].split(" "))
    except (KeyError, ValueError):
        return False
print(json.dumps([verify(*one) for one in json.load(sys.stdin)]))
`

test("Python's hmac accepts ours, and refuses each of twenty changed ones", (t) => {
  const cases = [
    [secret.text, sign(), body],
    [older.text, sign(), body],
    ...changed().map(([, h, b]) => [secret.text, h, b]),
  ]
  const { stdout, status, error } = spawnSync('python3', ['-c', python], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
  })
  if (error !== undefined) {
    t.log('python3 is not installed')
    t.pass()
    return
  }
  t.is(status, 0)
  t.deepEqual(
    JSON.parse(stdout),
    cases.map((_, index) => index < 2),
  )
})

test('v1a is an Ed25519 signature of the same text under the public key', (t) => {
  const headers = sign()
  const signature = headers['webhook-signature']?.split(' ').find((one) => one.startsWith('v1a,')) ?? ''
  const text = publicKeyText(key.publicKey)
  t.regex(text, /^whpk_[A-Za-z0-9+/]{43}=$/)
  const x = Buffer.from(text.slice('whpk_'.length), 'base64').toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = Buffer.from(`${id}.${headers['webhook-timestamp']}.${body}`)
  t.true(verify(null, signed, publicKey, Buffer.from(signature.slice(4), 'base64')))
})

test('without a previous secret one HMAC signs', (t) => {
  const { secrets } = openSigningKeys(config, {
    id: endpointId,
    sealedSecret: secret.sealed,
    sealedPrevious: null,
    sealedKey: key.sealed,
  })
  t.is(secrets.length, 1)
  t.regex(secret.text, /^whsec_[A-Za-z0-9+/]{43}=$/)
})
