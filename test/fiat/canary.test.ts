import test from 'ava'
import { createClient } from '../helpers/http/client.js'
import { type FiatIntentBody, fiatStatus, pay } from '../helpers/make/fiat-tips.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { monitorRedis } from '../helpers/servers/redis-monitor.js'
import { startMs, startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

// Payers go through processes of their own, which log all they can; nothing of who they are may come out.
const world = useWorld(test, { fiat: true })

test('names and e-mails of payers, anonymous or not, are in no log line, no Redis command and no error text', async (t) => {
  t.timeout(3 * startMs)
  const creator = await registerEmbedder(world())
  const env: Record<string, string> = { ...world().env, RATE_LIMIT_FACTOR: '20' }
  const commands = await monitorRedis(t, env['REDIS_URL'] ?? '')
  const [web, worker] = await Promise.all([
    startWeb(t, env, 'trace'),
    startWorkerProcess(t, 'settlement', env, 'trace'),
  ])
  const request = await createClient(web.url)
  const answers: string[] = []
  let canaries = 0
  /** Every request brings a name and an address of its own, each once. */
  async function ask(change: Record<string, unknown> = {}): Promise<FiatIntentBody> {
    canaries += 1
    const who = { senderName: `Zqxname${canaries}`, payerEmail: `zqxmail${canaries}@example.com` }
    const body = { creatorId: creator.id, amount: 5, ...who, memo: `zqxmemo${canaries}`, ...change }
    const headers = { 'idempotency-key': `zqx-key-${canaries}` }
    const answer = await request<FiatIntentBody>('POST', '/payments/fiat/intent', { body, headers })
    answers.push(JSON.stringify(answer.body))
    return answer.body
  }

  const granted = [await ask({ isAnonymous: true }), await ask(), await ask({ isAnonymous: 'please' })]
  for (const { intentId } of granted) pay(world(), intentId)
  await until('all are completed', async () => {
    const statuses = await Promise.all(granted.map(({ intentId }) => fiatStatus(world(), intentId)))
    return statuses.every((status) => status === 'completed')
  })
  // The same through what refuses and what breaks.
  await ask({ amount: 'zqxamount' })
  await ask({ creatorId: 'zqxnobody' })
  await ask({ payerEmail: 'zqxmail@refused.local' })
  world().fiat.fiatpay.behaviour.setMode({ charges: 'down' })
  await ask()
  world().fiat.fiatpay.behaviour.setMode({ charges: 'ok' })
  await world().db.raw('alter table fiat_intents add constraint broken check (false) not valid')
  await ask({ isAnonymous: true })
  await ask()
  await world().db.raw('alter table payers add constraint broken check (false) not valid')
  await ask()
  await until('the failures are logged', () => web.logs.filter(({ level }) => level >= 50).length >= 3)

  const logs = JSON.stringify([...web.logs, ...worker.logs])
  t.true(logs.includes('/payments/fiat/intent'), 'the log is there at all')
  t.true(commands().includes('/payments') || commands().includes('settlement'), 'so is Redis')
  for (const [what, text] of Object.entries({ logs, redis: commands(), answers: answers.join('\n') }))
    t.deepEqual(text.match(/zqx(?:name|mail|memo)\w*/gi) ?? [], [], what)
})
