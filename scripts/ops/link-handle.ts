import type { Knex } from 'knex'
import { discordHandleFrom, twitterHandleFrom } from '../../src/creators/handles.js'
import { lockCreator } from '../../src/creators/lock-creator.js'
import { audit } from './support/audit.js'
import {
  acting,
  actorOf,
  CannotDo,
  concluded,
  exitHelp,
  type Outcome,
  runCommand,
  UsageError,
  type Values,
} from './support/command.js'
import { findPerson, type Person } from './support/person.js'
import { withDatabase } from './support/with-database.js'

/** Links a creator's Twitter or Discord handle, or takes it away: tips to the handle then go to this account. */
const help = `npm run ops -- link-handle --user <id|e-mail> (--twitter <handle> | --discord <handle> | --unlink twitter|discord)

Links a handle to a creator's account. Whoever has a handle receives the tips sent to it: make sure first that it
is theirs. Without --apply nothing is changed.

  --user <id|e-mail>     the account
  --twitter <handle>     with or without @; 1 to 15 letters, digits, underscores
  --discord <handle>     2 to 32 letters, digits, underscores, dots
  --unlink <network>     twitter or discord
  --apply                do it
  --as <name>            in whose name, for the audit log; default: the user of the operating system
  --json                 answer as one line of JSON
  --help

${exitHelp}`

const options = {
  ...acting,
  user: { type: 'string' },
  twitter: { type: 'string' },
  discord: { type: 'string' },
  unlink: { type: 'string' },
} as const

type Network = 'twitter' | 'discord'
const columnOf = { twitter: 'twitter_handle', discord: 'discord_handle' } as const
const handleFrom = { twitter: twitterHandleFrom, discord: discordHandleFrom } as const

interface Wanted {
  readonly network: Network
  /** Null takes the handle away. */
  readonly handle: string | null
}

type Given = Values<typeof options>

function wantedFrom({ twitter, discord, unlink }: Given): Wanted {
  const given = Object.entries({ twitter, discord, unlink }).filter(([, value]) => value !== undefined)
  const [name, value] = given[0] ?? []
  if (given.length !== 1 || name === undefined || value === undefined)
    throw new UsageError('give one of --twitter, --discord and --unlink')
  if (name === 'unlink') {
    if (value !== 'twitter' && value !== 'discord') throw new UsageError('--unlink: twitter or discord')
    return { network: value, handle: null }
  }
  const network = name as Network
  const handle = handleFrom[network](value)
  if (handle === undefined) throw new UsageError(`--${network}: ${value} cannot be a handle there`)
  return { network, handle }
}

async function refuseTaken(db: Knex, person: Person, { network, handle }: Wanted): Promise<void> {
  if (handle === null) return
  const taken = await db('users')
    .whereRaw('lower(??) = lower(?) and id <> ?', [columnOf[network], handle, person.id])
    .first('id')
  if (taken !== undefined)
    throw new CannotDo(`${network} handle ${handle} belongs to user ${taken.id}; unlink it there first`)
}

async function link(db: Knex, person: Person, { network, handle }: Wanted, actor: string): Promise<void> {
  await db.transaction(async (trx) => {
    await lockCreator(trx, person.id)
    // Two operators may link the same handle at the same moment.
    await trx.raw('select pg_advisory_xact_lock(hashtext(?))', [`${network}:${handle?.toLowerCase()}`])
    await refuseTaken(trx, person, { network, handle })
    await trx('users')
      .where({ id: person.id })
      .update({ [columnOf[network]]: handle })
    const details = { network, before: person[network], after: handle }
    await audit(trx, { actor, action: 'link-handle', subject: `user:${person.id}`, details })
  })
}

async function run(values: Given): Promise<Outcome> {
  const wanted = wantedFrom(values)
  const { user } = values
  if (user === undefined) throw new UsageError('--user is required')
  return withDatabase(async (db) => {
    const person = await findPerson(db, user)
    await refuseTaken(db, person, wanted)
    const applied = values.apply === true && person[wanted.network] !== wanted.handle
    if (applied) await link(db, person, wanted, actorOf(values))
    return present(person, wanted, applied)
  })
}

function present(person: Person, { network, handle }: Wanted, applied: boolean): Outcome {
  const { id, email, [network]: before } = person
  const json = { applied, userId: id, email, network, before, after: handle }
  const change = `${network} handle of ${email} (${id}): ${before ?? 'none'} -> ${handle ?? 'none'}`
  if (before === handle) return { text: `${change}: nothing to do`, json }
  return { text: concluded(change, 'done', applied), json }
}

await runCommand({ help, options, run })
