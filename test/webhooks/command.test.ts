import test from 'ava'
import { registerPerson } from '../helpers/make/creators.js'
import { createWebhook, dispatch, recordEvents, startReceiver } from '../helpers/make/webhooks.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { localTest, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { env: localTest })
const webhooks = (...args: string[]) => runOpsScript(world(), 'webhooks', ...args)

test.serial(
  'operators see webhooks that fail, disable and enable them, and have events sent again',
  async (t) => {
    const receiver = await startReceiver()
    t.teardown(() => receiver.close())
    const { session, user, email } = await registerPerson(world())
    const { webhook } = await createWebhook(world(), session, { url: receiver.url })
    const { id } = webhook
    await dispatch(world())
    t.is((await webhooks('list')).out, 'no such webhook\n')
    t.regex(
      (await webhooks('list', '--user', email)).out,
      new RegExp(`^${id} {2}of ${user.id} {2}127.0.0.1:\\d+ {2}active\n$`),
    )
    receiver.answer = (_, response) => response.writeHead(500).end()
    await recordEvents(world(), user.id, 1)
    await dispatch(world())
    t.regex((await webhooks('list')).out, /active, fails since 20/)
    const shown = await webhooks('show', id)
    t.regex(
      shown.out,
      /\n +2 {2}tip\.confirmed +pending, 1 attempts, 500, next at 20.*\n +1 {2}ping +delivered, 1 attempts, 200\n$/,
    )
    t.false((await webhooks('show', id, '--json')).out.includes('ealed'))

    t.is((await webhooks('disable', id)).out, `webhook ${id}: not disabled yet; add --apply to do it\n`)
    t.is((await webhooks('disable', id, '--apply', '--as', 'olu')).code, 0)
    t.like(await world().db('webhook_endpoints').where({ id }).first(), {
      disabled: 'operator',
      due_at: null,
    })
    t.is((await webhooks('redeliver', id, '--failed')).code, 1)
    t.is((await webhooks('enable', id, '--apply', '--as', 'olu')).code, 0)
    receiver.answer = (_, response) => response.end()
    const before = receiver.received.length
    t.is(
      (await webhooks('redeliver', id, '--from', '1', '--to', '2', '--apply', '--as', 'olu')).out,
      `webhook ${id}: 2 events queued\n`,
    )
    await dispatch(world())
    t.is(receiver.received.length, before + 2)
    const acts = await world()
      .db('audit_log')
      .where({ subject: `user:${user.id}` })
      .orderBy('at')
      .pluck('action')
    t.deepEqual(acts, ['webhooks disable', 'webhooks enable', 'webhooks redeliver'])
  },
)

test.serial('only an operator enables what an operator has disabled', async (t) => {
  const { session } = await registerPerson(world())
  const { webhook } = await createWebhook(world(), session, { url: 'http://localhost:9/' })
  const { id } = webhook
  const path = `/creators/webhooks/${id}`
  const change = async (body: unknown) => {
    const answer = await world().request<{ error?: string }>('PATCH', path, { session, body })
    return [answer.status, answer.body.error]
  }
  const disabledBy = async () => (await world().db('webhook_endpoints').where({ id }).first()).disabled
  // What the creator has disabled an operator disables too.
  t.deepEqual(await change({ status: 'disabled' }), [200, undefined])
  t.is((await webhooks('disable', id, '--apply', '--as', 'olu')).code, 0)
  t.is(await disabledBy(), 'operator')
  t.deepEqual(await change({ status: 'active', description: 'mine' }), [409, 'Webhook disabled'])
  t.deepEqual(await change({ status: 'disabled' }), [200, undefined])
  t.deepEqual(await change({ url: 'http://localhost:10/' }), [200, undefined])
  t.is(await disabledBy(), 'operator')
  t.is((await webhooks('enable', id, '--apply', '--as', 'olu')).code, 0)
  t.is(await disabledBy(), null)
})

test.serial('wrong arguments are refused', async (t) => {
  t.is((await webhooks('show', 'nonsense')).code, 1)
  for (const args of [[], ['lose'], ['list', 'x'], ['show'], ['redeliver']])
    t.is((await webhooks(...args)).code, 2, args.join(' '))
})
