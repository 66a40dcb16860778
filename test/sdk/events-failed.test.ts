import test from 'ava'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('an internal error of GET /sdk/events has its own code and text, other endpoints the general one', async (t) => {
  const { id, apiKey } = await registerEmbedder(world())
  await world().db.raw('alter table tips rename column display_raw to gone')
  const events = await world().request('GET', `/sdk/events?creatorId=${id}`, { bearer: apiKey })
  t.is(events.status, 500)
  t.like(events.body, { error: 'Failed to fetch verified events', code: 'events_failed' })
  const list = await world().request('GET', `/chain/tips?address=${id}`)
  t.is(list.status, 500)
  t.is(list.body.error, 'Internal Server Error')
})
