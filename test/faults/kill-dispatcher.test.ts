import test from 'ava'
import { registerPerson } from '../helpers/make/creators.js'
import { createWebhook, recordEvents, startReceiver } from '../helpers/make/webhooks.js'
import { startWorkerProcess } from '../helpers/servers/service-process.js'
import { localTest, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { env: localTest })

const creators = 4
const rounds = 4
const eventsPerRound = 40

test('of two dispatchers one is killed again and again: every event arrives, and a repeat is the same message', async (t) => {
  t.timeout(300_000)
  const { db, env } = world()
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  receiver.answer = (_, response) => setImmediate(() => response.end())
  const owners = await Promise.all(Array.from({ length: creators }, () => registerPerson(world())))
  for (const { session } of owners) await createWebhook(world(), session, { url: receiver.url })

  await startWorkerProcess(t, 'dispatcher', env)
  for (let round = 1; round <= rounds; round++) {
    const victim = await startWorkerProcess(t, 'dispatcher', env)
    const before = receiver.received.length
    await Promise.all(owners.map(({ user }) => recordEvents(world(), user.id, eventsPerRound)))
    await until('messages are on their way', () => receiver.received.length > before)
    victim.signal('SIGKILL')
    t.is(await victim.ended, 'SIGKILL')
    // Instead of waiting for the leases of the dead to end.
    await db('webhook_endpoints')
      .whereNotNull('due_at')
      .update({ due_at: new Date(0) })
  }
  const pending = () => db('webhook_deliveries').where({ state: 'pending' })
  await until(
    'everything is delivered',
    async () => {
      const behind = await db('webhook_endpoints as e')
        .join('event_counters as c', 'c.user_id', 'e.user_id')
        .whereRaw('e.cursor < c.last_sequence')
      return behind.length === 0 && (await pending()).length === 0
    },
    120_000,
  )
  const texts = new Map<string, Set<string>>()
  for (const { headers, text } of receiver.received) {
    const id = String(headers['webhook-id'])
    texts.set(id, (texts.get(id) ?? new Set()).add(text))
  }
  // One ping each.
  t.is(texts.size, creators * (rounds * eventsPerRound + 1))
  t.true([...texts.values()].every((one) => one.size === 1))
  t.log(`${texts.size} events, ${receiver.received.length - texts.size} repeats after ${rounds} kills`)
})
