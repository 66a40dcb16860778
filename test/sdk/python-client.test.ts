import { execFile, execFileSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { fillEventLog } from '../helpers/make/many-events.js'
import { registerEmbedder, site } from '../helpers/make/sdk.js'
import { localTest, useWorld } from '../helpers/servers/world.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

const world = useWorld(test, { fiat: true, env: localTest })
const run = promisify(execFile)
const pythonMs = 60_000

/** Runs a program with the client as `npm run build` makes it. `given` is its `given`, and what it prints last is the result. */
async function python<Result>(t: ExecutionContext, given: unknown, program: string): Promise<Result> {
  const folder = temporaryFolder(t)
  await run(process.execPath, ['src/sdk/python/build.mjs', folder])
  const lines = [
    'import json, sys',
    'from tipping import *',
    'given = json.loads(sys.argv[1])',
    program,
    'print(json.dumps(result))',
  ]
  const { stdout } = await run('python3', ['-W', 'error', '-c', lines.join('\n'), JSON.stringify(given)], {
    cwd: folder,
    timeout: pythonMs,
  })
  return JSON.parse(stdout) as Result
}

test('the built folder has the module and a pyproject.toml with the version of the service', async (t) => {
  const folder = temporaryFolder(t)
  await run(process.execPath, ['src/sdk/python/build.mjs', folder])
  const program = `import json, pathlib, tipping
print(json.dumps([pathlib.Path("pyproject.toml").read_text(), sorted(path.name for path in pathlib.Path().iterdir() if path.is_file())]))`
  const [toml, files] = JSON.parse(
    execFileSync('python3', ['-c', program], { cwd: folder, encoding: 'utf8' }),
  ) as [string, string[]]
  t.regex(toml, /^version = "\d+\.\d+\.\d+"$/m)
  t.deepEqual(files, ['LICENSE', 'pyproject.toml', 'tipping.py'])
})

test('a backend in Python opens a session, asks for a naira tip and reads its events with its reference', async (t) => {
  const creator = await registerEmbedder(world())
  const given = { url: `${world().url}/`, key: creator.apiKey, creator: creator.id, site }
  const before = await python<{ token: string; intent: string; status: string; ngn: number }>(
    t,
    given,
    `client = Client(given["url"], api_key=given["key"])
session = client.create_sdk_session(creator_id=given["creator"], origin_url=given["site"], reference="Order 1042")
intent = client.create_fiat_intent(
    creator_id=given["creator"], amount=10, reference="Order 1042", metadata={"items": 3}, idempotency_key="once")
again = client.create_fiat_intent(
    creator_id=given["creator"], amount=10, reference="Order 1042", metadata={"items": 3}, idempotency_key="once")
assert again["intentId"] == intent["intentId"]
result = {
    "token": session["sessionToken"],
    "intent": intent["intentId"],
    "status": client.get_fiat_status(intent_id=intent["intentId"])["status"],
    "ngn": client.get_fiat_rate(amount=10.5)["amountNgn"],
}`,
  )
  t.regex(before.token, /^sdk_sess_/)
  t.is(before.status, 'requires_action')
  t.true(before.ngn > 0)
  payFiatIntent(world(), before.intent)
  await settleIntentNow(world(), before.intent)
  const after = await python<{
    all: string[]
    rest: number[]
    own: unknown
    listed: { reference: string }[]
  }>(
    t,
    given,
    `from itertools import islice
client = Client(given["url"], api_key=given["key"])
events = list(islice(client.events(), 2))
result = {
    "all": [event["type"] for event in events],
    "own": [events[0]["data"]["reference"], events[0]["data"]["metadata"]],
    "rest": [event["sequence"] for event in islice(client.events(after=1, types=["tip.*", "naira.*"]), 1)],
    "listed": client.list_tip_events(creator_id=given["creator"])["events"],
}`,
  )
  t.deepEqual(after.all, ['tip.confirmed', 'naira.completed'])
  t.deepEqual(after.own, ['Order 1042', { items: 3 }])
  t.deepEqual(after.rest, [2])
  t.is(after.listed[0]?.reference, 'Order 1042')
})

test('a rare type comes from behind thousands of other events', async (t) => {
  const creator = await registerEmbedder(world())
  await fillEventLog(world(), creator.user.id, 120_001)
  const given = { url: world().url, key: creator.apiKey }
  const sequence = await python<number>(
    t,
    given,
    `result = next(Client(given["url"], api_key=given["key"]).events(types=["ping"]))["sequence"]`,
  )
  t.is(sequence, 120_001)
})

test('a refusal has its text, code, status, request id and the name of the field', async (t) => {
  const creator = await registerEmbedder(world())
  const given = { url: world().url, key: creator.apiKey, creator: creator.id }
  const refused = await python<unknown[][]>(
    t,
    given,
    `def refusal(call):
    try:
        call()
    except TippingError as error:
        fields = [detail["field"] for detail in error.details]
        return [str(error), error.code, error.status, error.temporary, len(error.request_id or ""), fields]

client = Client(given["url"], api_key=given["key"])
stranger = Client(given["url"], api_key="tk_live_unknown")
result = [
    refusal(lambda: next(stranger.events())),
    refusal(lambda: client.create_fiat_intent(creator_id=given["creator"], amount=10, reference="a\\nb")),
    refusal(lambda: Client("http://127.0.0.1:1").get_fiat_rate())[1:],
    [TippingError("", code, status).temporary for code, status in
     [("request_in_progress", 409), ("tip_refunded", 409), ("payment_refused", 502), ("bad_answer", 502)]],
]`,
  )
  t.deepEqual(refused, [
    ['Missing or invalid API key', 'invalid_api_key', 401, false, 36, []],
    ['Invalid reference', 'invalid_payment_reference', 400, false, 36, ['reference']],
    ['network', 0, true, 0, []],
    [true, false, false, true],
  ])
})

test('webhooks are made and listed with the session of their creator, not with a key', async (t) => {
  const creator = await registerEmbedder(world())
  const given = { url: world().url, session: creator.session, key: creator.apiKey }
  const made = await python<{ secret: string; listed: object[]; refused: number }>(
    t,
    given,
    `client = Client(given["url"], session=given["session"])
made = client.create_webhook(url="http://localhost:5173/webhooks", types=["tip.final"])
try:
    Client(given["url"], api_key=given["key"]).list_webhooks()
except TippingError as error:
    refused = error.status
result = {"secret": made["secret"], "listed": client.list_webhooks()["webhooks"], "refused": refused}`,
  )
  t.regex(made.secret, /^whsec_/)
  t.like(made.listed[0], { url: 'http://localhost:5173/webhooks', types: ['tip.final'] })
  t.is(made.refused, 401)
})

const json = (status: number, body: object) => (response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const page = (...sequences: number[]) =>
  json(200, { success: true, events: sequences.map((sequence) => ({ sequence })) })

test('the events go on after failures with the last cursor, and a redirect never gets the key', async (t) => {
  const answers = [
    json(503, { success: false, error: 'Service unavailable', code: 'service_unavailable' }),
    (response: ServerResponse) => response.destroy(),
    page(),
    page(1, 2),
    (response: ServerResponse) => response.writeHead(502).end('<html>'),
    page(3),
    (response: ServerResponse) => response.writeHead(302, { location: '/elsewhere' }).end(),
  ]
  const asked: (string | undefined)[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url)
    answers[asked.length - 1]?.(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const seen = await python(
    t,
    { url },
    `seen = []
try:
    for event in Client(given["url"], api_key="tk_live_x").events():
        seen.append(event["sequence"])
except TippingError as error:
    seen.append(error.code)
result = seen`,
  )
  t.deepEqual(seen, [1, 2, 3, 'bad_answer'])
  t.deepEqual(
    asked,
    [0, 0, 0, 0, 2, 2, 3].map((after) => `/creators/events?after=${after}&wait=30`),
  )
})

test('a webhook is accepted by its secret only, unchanged and in time', async (t) => {
  const key = randomBytes(32)
  const body = '{"id":"evt_1","type":"ping","data":{"a":"é€😀"}}'
  const webhook = (age: number) => {
    const timestamp = String(Math.floor(Date.now() / 1000) - age)
    const signed = `evt_1.${timestamp}.${body}`
    const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
    return {
      body,
      headers: { 'Webhook-Id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature },
      secret: `whsec_${key.toString('base64')}`,
    }
  }
  const good = webhook(0)
  const { 'webhook-signature': v1 } = good.headers
  const wrong = `v1,${randomBytes(32).toString('base64')}`
  const headers = (change: Record<string, string>) => ({ ...good, headers: { ...good.headers, ...change } })
  const known = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    tolerance_seconds: 1e10,
  }
  const several = headers({ 'webhook-signature': `v1a,abc ${wrong} v2,x nonsense é ${v1}` })
  const cases: [sent: object, outcome: string][] = [
    [good, 'accepted'],
    [known, 'accepted'],
    [several, 'accepted'],
    [{ ...good, body: `${body} ` }, 'no v1 signature of the webhook is of this secret'],
    [{ ...good, body: body.replace('ping', 'pong') }, 'no v1 signature of the webhook is of this secret'],
    [{ ...good, body: '' }, 'no v1 signature of the webhook is of this secret'],
    [{ ...good, secret: `whsec_${wrong.slice(3)}` }, 'no v1 signature of the webhook is of this secret'],
    [headers({ 'Webhook-Id': 'evt_2' }), 'no v1 signature of the webhook is of this secret'],
    [headers({ 'webhook-signature': wrong }), 'no v1 signature of the webhook is of this secret'],
    [headers({ 'webhook-signature': v1.slice(3) }), 'no v1 signature of the webhook is of this secret'],
    [headers({ 'webhook-signature': v1.slice(0, -2) }), 'no v1 signature of the webhook is of this secret'],
    [
      headers({ 'webhook-signature': v1.replace('v1', 'v1a') }),
      'no v1 signature of the webhook is of this secret',
    ],
    [headers({ 'webhook-signature': '' }), 'the header webhook-signature is missing'],
    [headers({ 'Webhook-Id': '' }), 'the header webhook-id is missing'],
    [{ ...good, headers: {} }, 'the header webhook-id is missing'],
    [headers({ 'webhook-timestamp': '١' }), 'the header webhook-timestamp is no time in seconds'],
    [headers({ 'webhook-timestamp': '-1' }), 'the header webhook-timestamp is no time in seconds'],
    [headers({ 'webhook-timestamp': '1e9' }), 'the header webhook-timestamp is no time in seconds'],
    [webhook(320), 'the webhook is too old'],
    [webhook(-320), 'the webhook is from the future'],
    [{ ...good, secret: key.toString('base64') }, 'ValueError'],
    [{ ...good, secret: 'whsec_' }, 'ValueError'],
    [{ ...good, secret: 'whsec_*' }, 'ValueError'],
  ]
  const program = `def outcome(sent, as_bytes):
    body = sent["body"].encode() if as_bytes else sent["body"]
    try:
        event = verify_webhook(**{**sent, "body": body})
        return "accepted" if event == json.loads(sent["body"]) else "another event"
    except WebhookError as error:
        return str(error)
    except ValueError:
        return "ValueError"

result = [[outcome(sent, False), outcome(sent, True)] for sent in given]`
  const outcomes = await python<string[][]>(
    t,
    cases.map(([sent]) => sent),
    program,
  )
  t.deepEqual(
    outcomes,
    cases.map(([, outcome]) => [outcome, outcome]),
  )
})
