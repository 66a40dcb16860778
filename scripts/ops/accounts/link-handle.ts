import type { Knex } from 'knex'
import { changeUser } from '../../../src/accounts/change-user.js'
import { User } from '../../../src/accounts/models.js'
import { lockCreator } from '../../../src/creators/find-creator.js'
import { parseDiscordHandle, parseTwitterHandle } from '../../../src/creators/handles.js'
import { applyOptions, defineCommand, defineOptions, type Outcome, type Values } from '../support/command.js'
import { describeChange, type Order, RefusedError, UsageError } from '../support/order.js'
import { findUser, withDatabase } from '../support/services.js'

const options = defineOptions(applyOptions, {
  '--user <id|e-mail>': 'the account',
  '--twitter <handle>': 'with or without @; 1 to 15 letters, digits, underscores',
  '--discord <handle>': '2 to 32 letters, digits, underscores, dots',
  '--unlink <network>': 'twitter or discord',
  '--apply': 'make the change',
})

/** Links a Twitter or Discord handle to a creator's account, or unlinks it. Tips to the handle go to this account. */
const usage = `npm run ops -- accounts link --user <id|e-mail> (--twitter <handle> | --discord <handle> | --unlink twitter|discord)

Links a handle to a creator's account. The account then receives the tips that are sent to the handle: first make sure
that the handle belongs to this creator. Without --apply this changes nothing.`

type Network = 'twitter' | 'discord'
const handleFrom = { twitter: parseTwitterHandle, discord: parseDiscordHandle } as const

interface HandleChange {
  readonly network: Network
  /** Null: unlink. */
  readonly handle: string | null
}

type Given = Values<typeof options>

function parseChange({ twitter, discord, unlink }: Given): HandleChange {
  const given = Object.entries({ twitter, discord, unlink }).filter(([, value]) => value !== undefined)
  const [name, value] = given[0] ?? []
  if (given.length !== 1 || name === undefined || value === undefined)
    throw new UsageError('give exactly one of --twitter, --discord and --unlink')
  if (name === 'unlink') {
    if (value !== 'twitter' && value !== 'discord') throw new UsageError('--unlink needs twitter or discord')
    return { network: value, handle: null }
  }
  const network = name as Network
  const handle = handleFrom[network](value)
  if (handle === undefined)
    throw new UsageError(`--${network}: ${value} is not a valid handle; --help shows what is`)
  return { network, handle }
}

async function refuseTaken(db: Knex, user: User, { network, handle }: HandleChange): Promise<void> {
  if (handle === null) return
  const taken = await User.query(db)
    .whereRaw('lower(??) = lower(?)', [`${network}_handle`, handle])
    .whereNot({ id: user.id })
    .first()
  if (taken !== undefined)
    throw new RefusedError(`${network} handle ${handle} belongs to user ${taken.id}; unlink it there first`)
}

async function applyChange(
  db: Knex,
  user: User,
  { network, handle }: HandleChange,
  order: Order,
): Promise<void> {
  await db.transaction(async (trx) => {
    await lockCreator(trx, user.id)
    // Two operators may link the same handle at the same time: the second waits here, and is refused.
    await trx.raw('select pg_advisory_xact_lock(hashtext(?))', [`${network}:${handle?.toLowerCase()}`])
    await refuseTaken(trx, user, { network, handle })
    await changeUser(trx, user.id, { [`${network}Handle`]: handle })
    const details = { network, before: user[`${network}Handle`], after: handle }
    await order.audit(trx, 'link-handle', `user:${user.id}`, details)
  })
}

async function run(values: Given, order: Order): Promise<Outcome> {
  const change = parseChange(values)
  if (values.user === undefined) throw new UsageError('--user is required')
  return withDatabase(async (db) => {
    const user = await findUser(db, values.user)
    await refuseTaken(db, user, change)
    const applied = order.apply && user[`${change.network}Handle`] !== change.handle
    if (applied) await applyChange(db, user, change, order)
    return present(user, change, applied)
  })
}

function present(user: User, { network, handle }: HandleChange, applied: boolean): Outcome {
  const { id, email, [`${network}Handle` as const]: before } = user
  const json = { applied, userId: id, email, network, before, after: handle }
  const line = `${network} handle of ${email} (${id}): ${before ?? 'none'} -> ${handle ?? 'none'}`
  if (before === handle) return { text: `${line}: nothing to do`, json }
  return { text: describeChange(line, 'done', applied), json }
}

export const command = await defineCommand(import.meta, { usage, options, run })
