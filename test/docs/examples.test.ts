import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { installClient } from '../helpers/install-client.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { type Embedder, registerEmbedder } from '../helpers/make/sdk.js'
import { createWebhook, dispatch } from '../helpers/make/webhooks.js'
import { localTest, useWorld } from '../helpers/servers/world.js'
import { startProgram } from '../helpers/start-program.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, env: localTest })
const run = promisify(execFile)
const examples = 'docs/examples'
const mostLines = 88

/** An empty project with the packed client. */
const project = mkdtempSync(join(tmpdir(), 'tipping-examples-'))
test.before('the client is installed', async (t) => {
  t.timeout(120_000)
  await installClient(project)
})
test.after.always('the project is removed', () => rmSync(project, { recursive: true, force: true }))

const tip = ({ wallet }: Embedder, message: string) =>
  createConfirmedTips(world(), [someConfirmation(wallet, { message, sender: wallet })])

test('in the shop a payment with the reference of an order marks it paid, and a forged webhook marks nothing', async (t) => {
  const creator = await registerEmbedder(world())
  const port = await freePort()
  const shop = `http://localhost:${port}`
  const { secret } = await createWebhook(world(), creator.session, { url: `${shop}/webhooks` })
  copyFileSync(join(examples, 'shop/shop.mjs'), join(project, 'shop.mjs'))
  await startProgram(t, [process.execPath, 'shop.mjs'], {
    cwd: project,
    env: {
      TIPPING_URL: world().url,
      API_KEY: creator.apiKey,
      CREATOR_ID: creator.id,
      WEBHOOK_SECRET: secret,
      PORT: String(port),
    },
    says: 'the shop is open',
  })
  const order = async (): Promise<string> => {
    const answer = await fetch(`${shop}/orders`, { method: 'POST', redirect: 'manual' })
    return answer.headers.get('location') ?? ''
  }
  const isPaid = async (path: string) => (await fetch(`${shop}${path}/paid`)).json()
  t.regex(await (await fetch(shop)).text(), /<form method="post" action="\/orders">/)
  const [bought, other] = [await order(), await order()]
  const html = await (await fetch(`${shop}${bought}`)).text()
  const [, token = ''] = /<iframe src="[^"#]+#(sdk_sess_[^"]+)"/.exec(html) ?? []
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.id, amount: 10 }, token)
  t.false(await isPaid(bought))

  const forged = await fetch(`${shop}/webhooks`, {
    method: 'POST',
    headers: {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,abc',
    },
    body: JSON.stringify({ type: 'tip.confirmed', data: { reference: bought.split('/')[2], valueUsd: 10 } }),
  })
  t.is(forged.status, 400)
  t.false(await isPaid(bought))

  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  await dispatch(world())
  t.true(await isPaid(bought))
  t.false(await isPaid(other))
})

test('the notifier posts each tip to Discord as plain text, waits when it must, and goes on after a stop', async (t) => {
  const creator = await registerEmbedder(world())
  const posted: { content: string; allowed_mentions: object }[] = []
  const answers = [(response: ServerResponse) => response.writeHead(429, { 'retry-after': '0.01' }).end()]
  const discord = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const refuse = answers.pop()
    if (refuse !== undefined) return refuse(response)
    posted.push(body)
    return response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => discord.listen(0, '127.0.0.1', resolve))
  t.teardown(() => discord.close())
  copyFileSync(join(examples, 'discord-notifier/notifier.mjs'), join(project, 'notifier.mjs'))
  const startNotifier = () =>
    startProgram(t, [process.execPath, 'notifier.mjs'], {
      cwd: project,
      env: {
        TIPPING_URL: world().url,
        API_KEY: creator.apiKey,
        DISCORD_WEBHOOK_URL: `http://127.0.0.1:${(discord.address() as AddressInfo).port}`,
      },
      says: 'waiting for tips',
    })
  const first = await startNotifier()
  await tip(creator, 'hello @everyone [free](https://x.example)')
  await until('the cursor is stored', () => cursor() === '1')
  await first.kill()
  await tip(creator, 'again')
  await startNotifier()
  await until('the second tip is posted', () => posted.length === 2)
  t.deepEqual(posted, [
    {
      content: `**${creator.wallet}** tipped 1 USDC: hello \\@everyone \\[free\\]\\(https\\://x.example\\)`,
      allowed_mentions: { parse: [] },
    },
    { content: `**${creator.wallet}** tipped 1 USDC: again`, allowed_mentions: { parse: [] } },
  ])
})

function cursor(): string {
  try {
    return readFileSync(join(project, 'cursor.txt'), 'utf8')
  } catch {
    return ''
  }
}

test('the Python consumer has each tip once in its table after it was killed', async (t) => {
  const creator = await registerEmbedder(world())
  const folder = temporaryFolder(t)
  await run(process.execPath, ['src/sdk/python/build.mjs', folder])
  copyFileSync(join(examples, 'python-consumer/consumer.py'), join(folder, 'consumer.py'))
  const startConsumer = (after: number) =>
    startProgram(t, ['python3', 'consumer.py'], {
      cwd: folder,
      env: { TIPPING_URL: world().url, API_KEY: creator.apiKey },
      says: `reading the events after ${after}\n`,
    })
  const first = await startConsumer(0)
  await tip(creator, 'one')
  await tip(creator, 'two')
  await until('six events are read', () => first.output().includes('\n6 balance.available'))
  await first.kill()
  await tip(creator, 'three')
  const second = await startConsumer(6)
  await until('all are read', () => second.output().includes('\n9 balance.available'))
  const look = `import json, sqlite3
database = sqlite3.connect("tips.db")
print(json.dumps([database.execute(f"select {what}").fetchall() for what in ("sequence from cursor", "usd, status from tips")]))`
  const { stdout } = await run('python3', ['-c', look], { cwd: folder })
  t.deepEqual(JSON.parse(stdout), [[[9]], Array.from({ length: 3 }, () => [1, 'confirmed'])])
})

test('every example is short and is named in the README with its files', (t) => {
  const readme = readFileSync(join(examples, 'README.md'), 'utf8')
  const files = readdirSync(examples, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[/]/.test(name),
  )
  t.deepEqual(files.toSorted(), [
    'discord-notifier/notifier.mjs',
    'overlay/overlay.html',
    'python-consumer/consumer.py',
    'shop/shop.mjs',
  ])
  for (const file of files) {
    t.true(readme.includes(`(${file})`), file)
    t.true(readFileSync(join(examples, file), 'utf8').split('\n').length - 1 <= mostLines, file)
  }
})
