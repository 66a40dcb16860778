import test from 'ava'
import { createClient } from '../helpers/http/client.js'
import { type FiatIntentBody, payFiatIntent, readFiatStatus } from '../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { monitorRedis } from '../helpers/servers/private-redis.js'
import { startMs, startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

// The requests go to separate processes that log at the lowest level. No name and no e-mail may appear anywhere.
const world = useWorld(test, { fiat: true })

test('names and e-mails of payers are in no log line, no Redis command and no error text', async (t) => {
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
  /** Every request has its own name and e-mail. */
  async function requestIntent(change: Record<string, unknown> = {}): Promise<FiatIntentBody> {
    canaries += 1
    const who = { senderName: `Zqxname${canaries}`, payerEmail: `zqxmail${canaries}@example.com` }
    const body = { creatorId: creator.id, amount: 5, ...who, memo: `zqxmemo${canaries}`, ...change }
    const headers = { 'idempotency-key': `zqx-key-${canaries}` }
    const answer = await request<FiatIntentBody>('POST', '/payments/fiat/intent', { body, headers })
    answers.push(JSON.stringify(answer.body))
    return answer.body
  }

  const accepted = [
    await requestIntent({ isAnonymous: true }),
    await requestIntent(),
    await requestIntent({ isAnonymous: 'please' }),
  ]
  for (const { intentId } of accepted) payFiatIntent(world(), intentId)
  await until('all are completed', async () => {
    const statuses = await Promise.all(accepted.map(({ intentId }) => readFiatStatus(world(), intentId)))
    return statuses.every((status) => status === 'completed')
  })
  // The same for requests that are refused, and for internal errors.
  await requestIntent({ amount: 'zqxamount' })
  await requestIntent({ creatorId: 'zqxnobody' })
  await requestIntent({ payerEmail: 'zqxmail@refused.local' })
  world().fiat.fiatpay.faults.setMode({ charges: 'down' })
  await requestIntent()
  world().fiat.fiatpay.faults.setMode({ charges: 'ok' })
  await world().db.raw('alter table fiat_intents add constraint broken check (false) not valid')
  await requestIntent({ isAnonymous: true })
  await requestIntent()
  await world().db.raw('alter table payers add constraint broken check (false) not valid')
  await requestIntent()
  await until('the failures are logged', () => web.logs.filter(({ level }) => level >= 50).length >= 3)

  const logs = JSON.stringify([...web.logs, ...worker.logs])
  t.true(logs.includes('/payments/fiat/intent'), 'the log has the requests')
  t.true(commands().includes('/payments') || commands().includes('settlement'), 'the Redis log has commands')
  for (const [what, text] of Object.entries({ logs, redis: commands(), answers: answers.join('\n') }))
    t.deepEqual(text.match(/zqx(?:name|mail|memo)\w*/gi) ?? [], [], what)
})
