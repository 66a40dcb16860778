import type { CreatorSettings } from '../../src/creators/settings.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import type { World } from '../helpers/servers/world.js'

/** A creator with a public page. */
export interface TippableCreator extends TestCreator {
  readonly handle: string
  /** What `GET /creators/page` offers for wallets. */
  readonly payUrl: string
}

let made = 0

export async function createTippable(
  world: World,
  { settings = {}, page = {} }: { settings?: Partial<CreatorSettings>; page?: object } = {},
): Promise<TippableCreator> {
  const creator = await registerCreator(world, settings)
  made += 1
  // Letters that no other handle of this file looks like.
  const handle = `ada_${'abcdefhjk'.charAt(made % 9).repeat(2 + Math.floor(made / 9))}`
  const { status, body } = await world.request<{ page: { payUrl: string } }>('PATCH', '/creators/page', {
    session: creator.session,
    body: { handle, ...page },
  })
  if (status !== 200) throw new Error(`page: ${status} ${JSON.stringify(body)}`)
  return { ...creator, handle, payUrl: body.page.payUrl }
}
