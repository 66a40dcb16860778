import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { requestRaw } from '../helpers/http/raw-request.js'
import { provisionerBatch } from '../helpers/make/creators.js'
import { settlementBatch } from '../helpers/make/fiat/fiat-tips.js'
import { publicUrl, runBatch, useWorld } from '../helpers/servers/world.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'
import { chapterText, fencesOf, filled, type Json } from './fences.js'

const world = useWorld(test, { fiat: true })
const run = promisify(execFile)
const stepMs = 10_000
const hasCurl = spawnSync('curl', ['--version']).status === 0

/** The manual prints the address of the stand-ins that this installation has. */
const here = (text: string): string => text.replaceAll(publicUrl, world().url)

/** Does the work of a running stack's workers. */
async function work(): Promise<void> {
  await runBatch(provisionerBatch(world()))
  await runBatch(settlementBatch(world()))
}

const title = 'the commands of the quickstart lead from registration to an event'
;(hasCurl ? test : test.skip)(title, async (t) => {
  const { text } = await requestRaw(world().url, 'GET', '/docs.md')
  const quickstart = chapterText(text, 'Quickstart')
  const cwd = temporaryFolder(t)
  const answers: Json[] = []
  const lines = fencesOf(quickstart, 'sh')
  t.is(lines.length, 6)
  async function step(line: string): Promise<void> {
    const { stdout } = await run('bash', ['-c', filled(here(line), answers)], { cwd, timeout: stepMs })
    const answer = JSON.parse(stdout) as Json
    t.true(answer['success'], `${line}\n${stdout}`)
    answers.unshift(answer)
    await work()
  }
  for (const line of lines.slice(0, -1)) await step(line)
  const event = (): Json | undefined => (answers[0] as { events?: Json[] }).events?.[0]
  await until('the event is there', async () => {
    await step(lines.at(-1) ?? '')
    return event() !== undefined
  })
  t.like(event(), { type: 'tip_completed', tokenSymbol: 'FIAT', amountRaw: 2000, sender: 'Chidi' })

  const [html = ''] = fencesOf(quickstart, 'html')
  const [, source = ''] = /src="([^"]+)"/.exec(html) ?? []
  const { pathname } = new URL(filled(source, answers))
  const { status, headers } = await requestRaw(world().url, 'GET', pathname)
  t.is(status, 200)
  t.regex(String(headers['content-security-policy']), /frame-ancestors http:\/\/localhost:5173\b/)
})
