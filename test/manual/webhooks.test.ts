import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { installClient } from '../helpers/install-client.js'
import { settlementBatch } from '../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { dispatch } from '../helpers/make/webhooks.js'
import { localTest, runBatch, useWorld } from '../helpers/servers/world.js'
import { startProgram } from '../helpers/start-program.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'
import { chapterText, fencesOf, filled, type Json } from './fences.js'

const world = useWorld(test, { fiat: true, env: localTest })
const run = promisify(execFile)
const guidePort = 5173

async function readGuide(): Promise<string> {
  const { text } = await requestRaw(world().url, 'GET', '/docs.md')
  return chapterText(text, 'Webhooks and events')
}

interface Server {
  readonly language: string
  readonly file: string
  readonly command: readonly [string, ...string[]]
  readonly isHere: boolean
}
const servers: readonly Server[] = [
  { language: 'js', file: 'server.mjs', command: [process.execPath, 'server.mjs'], isHere: true },
  { language: 'python', file: 'server.py', command: ['python3', 'server.py'], isHere: true },
  {
    language: 'php',
    file: 'webhook.php',
    command: ['php', '-S', `localhost:${guidePort}`, 'webhook.php'],
    isHere: spawnSync('php', ['--version']).status === 0,
  },
]

/** Starts the server of a language as the guide has it, on another port. Returns what it prints. */
async function startServer(
  t: ExecutionContext,
  { language, file, command: [program, ...args] }: Server,
  { cwd, port, secret, guide }: { cwd: string; port: number; secret: string; guide: string },
) {
  const here = (text: string): string => text.replace(String(guidePort), String(port))
  writeFileSync(join(cwd, file), here(fencesOf(guide, language)[0] ?? ''))
  const { output } = await startProgram(t, [program, ...args.map(here)], {
    cwd,
    env: { WEBHOOK_SECRET: secret },
    at: `http://localhost:${port}/webhooks`,
  })
  const forged = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,abc' }
  const send = () =>
    fetch(`http://localhost:${port}/webhooks`, { method: 'POST', headers: forged, body: '{"type":"forged"}' })
  await until('the server refuses a forged webhook', async () => (await send()).status === 400)
  return output
}

// Serial, because every dispatch sends to all webhooks.
for (const server of servers)
  (server.isHere ? test.serial : test.skip)(
    `the commands of the guide lead to a webhook that the server in ${server.language} has verified, with its reference`,
    async (t) => {
      t.timeout(120_000)
      const guide = await readGuide()
      const creator = await registerEmbedder(world())
      const port = await freePort()
      const cwd = temporaryFolder(t)
      if (server.language === 'js') await installClient(cwd)
      await run(process.execPath, ['src/sdk/python/build.mjs', join(cwd, 'python')])
      if (server.language === 'python') await run('cp', [join(cwd, 'python/tipping.py'), cwd])
      const answers: Json[] = [{ apiKey: creator.apiKey, user: { id: creator.id } }]
      const step = async (line: string): Promise<void> => {
        const command = filled(line, answers)
          .replaceAll(localTest.PUBLIC_URL, world().url)
          .replace(`:${guidePort}`, `:${port}`)
          .replace('-b jar.txt', `-b session=${creator.session}`)
        const { stdout } = await run('bash', ['-c', command], { cwd })
        const answer = JSON.parse(stdout) as Json
        t.true(answer['success'], `${line}\n${stdout}`)
        answers.unshift(answer)
      }
      const [create = '', ping = '', intent = '', pay = '', redeliver = '', read = '', ...others] = fencesOf(
        guide,
        'sh',
      )
      t.deepEqual(others, [])
      await step(create)
      const printed = await startServer(t, server, {
        cwd,
        port,
        secret: String(answers[0]?.['secret']),
        guide,
      })
      await step(ping)
      await dispatch(world())
      await until('the ping is verified', () => printed().includes('ping'))
      await step(intent)
      await step(pay)
      await until('the tip is confirmed', async () => {
        await runBatch(settlementBatch(world()))
        return (await world().db('events').where({ user_id: creator.id, type: 'tip.confirmed' })).length > 0
      })
      await dispatch(world())
      await until('the tip’s webhook is verified', () => printed().includes('tip.confirmed Order 1042'))
      t.false(printed().includes('forged'))
      await step(redeliver)
      await step(read)
      const { events } = answers[0] as { events: { data: Json }[] }
      t.like(events[0]?.data, { reference: 'Order 1042', metadata: { items: 3 }, valueUsd: 20 })
    },
  )
