import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { installClient } from '../helpers/install-client.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { localTest, useWorld } from '../helpers/servers/world.js'
import { startProgram } from '../helpers/start-program.js'
import { until } from '../helpers/until.js'
import { chapterText, fencesOf } from './fences.js'

const world = useWorld(test, { fiat: true, env: localTest })

/** An empty project with the packed client. */
const project = mkdtempSync(join(tmpdir(), 'tipping-recipes-'))
test.before('the client is installed', async (t) => {
  t.timeout(120_000)
  await installClient(project)
})
test.after.always('the project is removed', () => rmSync(project, { recursive: true, force: true }))

/** Saves the program at this place of the guide, for this service and port. */
async function saveProgram(place: number, file: string, port = 0): Promise<void> {
  const { text } = await requestRaw(world().url, 'GET', '/docs.md')
  const program = fencesOf(chapterText(text, 'Recipes'), 'js')[place] ?? ''
  const here = program.replaceAll(localTest.PUBLIC_URL, world().url).replaceAll('5173', String(port))
  writeFileSync(join(project, file), here)
}

test('what was paid for a shout-out is printed, and a smaller tip or one without words is not', async (t) => {
  const creator = await registerEmbedder(world())
  const pay = async (message: string, amount: number, senderName: string): Promise<void> => {
    const tip = { creatorId: creator.id, amount, senderName, ...(message !== '' && { memo: message }) }
    const { intentId } = await createFiatIntent(world(), tip)
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
  }
  await pay('too cheap', 9, 'Ada')
  await pay('', 20, 'Bola')
  await pay('hello Lagos', 10, 'Chidi')
  await saveProgram(0, 'shout-outs.mjs')
  const env = { API_KEY: creator.apiKey }
  const command = [process.execPath, 'shout-outs.mjs'] as const
  const { output } = await startProgram(t, command, { cwd: project, env, says: 'Chidi: hello Lagos' })
  t.regex(output(), /^\d+\. Chidi: hello Lagos\n$/)
  const [number = ''] = output().split('.')
  await pay('and again', 12, 'Dayo')
  const later = await startProgram(t, [...command, number], { cwd: project, env, says: 'Dayo: and again' })
  t.false(later.output().includes('Chidi'))
})

test('a visitor opens what the sum of their tips has paid for, nobody else does, and a new start remembers it', async (t) => {
  const creator = await registerEmbedder(world())
  const port = await freePort()
  const at = `http://localhost:${port}`
  await saveProgram(1, 'unlock.mjs', port)
  const env = { API_KEY: creator.apiKey, CREATOR_ID: creator.id }
  const start = () => startProgram(t, [process.execPath, 'unlock.mjs'], { cwd: project, env, at })
  const first = await start()
  async function visit(cookie = '') {
    const answer = await fetch(at, { headers: { cookie } })
    const html = await answer.text()
    const [, token = ''] = /#(sdk_sess_[^"]+)"/.exec(html) ?? []
    return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '', html, token }
  }
  async function pay(token: string): Promise<void> {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.id, amount: 3 }, token)
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
  }
  const { cookie, token } = await visit()
  await pay(token)
  await createConfirmedTips(world(), [someConfirmation(creator.wallet, { message: 'no reference' })])
  const again = await visit(cookie)
  t.is(again.cookie, cookie, 'the same visitor')
  t.false(again.html.includes('unreleased'), 'three dollars are not enough')
  await pay(again.token)
  const isOpen = async () => (await visit(cookie)).html.includes('unreleased')
  await until('it is open', isOpen)
  for (const other of ['', 'visitor=undefined', `visitor=${'a'.repeat(4000)}`, "visitor='; drop table tips"])
    t.false((await visit(other)).html.includes('unreleased'))
  await first.kill()
  await start()
  await until('it is open after a new start', isOpen)
})
