import type { Knex } from 'knex'
import { query } from '../../src/platform/database/database.js'
import { listDeliveries, redeliver } from '../../src/webhooks/deliveries.js'
import {
  type Delivery,
  type Endpoint,
  endpointColumns,
  presentDelivery,
  presentEndpoint,
} from '../../src/webhooks/endpoint.js'
import { disableEndpoint, enableEndpoint, findEndpoint } from '../../src/webhooks/manage-endpoints.js'
import {
  applyOptions,
  defineCommand,
  defineOptions,
  type Outcome,
  onlyArgument,
  parseVerb,
  type Values,
  wholeNumber,
} from './support/command.js'
import { type Order, RefusedError, UsageError } from './support/order.js'
import { findUser, withDatabase } from './support/services.js'

const options = defineOptions(applyOptions, {
  '--user <id|e-mail>': 'for list: those of one account; without it: those that fail or are disabled',
  '--from <n>': 'for redeliver: with --to, the events of these sequence numbers',
  '--to <n>': 'see --from',
  '--failed': 'for redeliver: all that have failed for good',
  '--from-now': 'for enable: do not send what happened meanwhile',
})

/** Shows creators' webhooks and what became of their events, and has events sent again. */
const usage = `npm run ops -- webhooks list [--user <id|e-mail>]
npm run ops -- webhooks show <webhook>
npm run ops -- webhooks redeliver <webhook> (--failed | --from <n> --to <n>) [--apply]
npm run ops -- webhooks enable|disable <webhook> [--apply]

  list                  the webhooks of an account, or all that fail or are disabled, the longest first
  show <webhook>        one with its newest deliveries
  redeliver <webhook>   sends events again, at most 10,000, with the same ids as before
  enable <webhook>      sends to it again, also what happened while it was disabled
  disable <webhook>     sends nothing more to it; its events are kept`

type Given = Values<typeof options>
const mostListed = 1000
const mostSequence = Number.MAX_SAFE_INTEGER
/** A dispatcher looks every two seconds, so nothing needs to wake it. */
const wake = (): void => undefined

async function list(db: Knex, { user }: Given): Promise<Outcome> {
  const userId = user === undefined ? null : (await findUser(db, user)).id
  const rows = await query<Endpoint>(db, {
    name: 'ops.webhooks',
    text: /* sql */ `
      select ${endpointColumns} from webhook_endpoints e
      where e.user_id = $1 or ($1::uuid is null and (e.failing_since is not null or e.disabled is not null))
      order by coalesce(e.failing_since, e.disabled_at, e.created_at) limit ${mostListed}`,
    values: [userId],
  })
  const webhooks = rows.map((row) => ({ userId: row.userId, ...presentEndpoint({ ...row, last: null }) }))
  const lines = rows.map(endpointLine)
  return { text: lines.length === 0 ? 'no such webhook' : lines.join('\n'), json: { webhooks } }
}

function endpointLine({ id, userId, url, disabled, disabledAt, failingSince }: Endpoint): string {
  const fails = failingSince === null ? '' : `, fails since ${failingSince.toISOString()}`
  const state = disabled === null ? 'active' : `disabled (${disabled}) since ${disabledAt?.toISOString()}`
  return `${id}  of ${userId}  ${new URL(url).host}  ${state}${fails}`
}

/** Throws RefusedError. */
async function ownerOf(db: Knex, id: string): Promise<string> {
  const [row] = await query<{ userId: string }>(db, {
    name: 'ops.webhook-owner',
    text: 'select user_id as "userId" from webhook_endpoints where id::text = $1',
    values: [id],
  })
  if (row === undefined) throw new RefusedError(`there is no webhook ${id}`)
  return row.userId
}

async function show(db: Knex, id: string): Promise<Outcome> {
  const userId = await ownerOf(db, id)
  const endpoint = await findEndpoint(db, userId, id)
  const { deliveries } = await listDeliveries(db, userId, { id, limit: 20 })
  const json = { userId, webhook: presentEndpoint(endpoint), deliveries: deliveries.map(presentDelivery) }
  return { text: [endpointLine(endpoint), ...deliveries.map(deliveryLine)].join('\n'), json }
}

function deliveryLine({ sequence, type, state, attempts, status, dueAt }: Delivery): string {
  const next = dueAt === null ? '' : `, next at ${dueAt.toISOString()}`
  return `${String(sequence).padStart(8)}  ${type.padEnd(20)} ${state}, ${attempts} attempts, ${status ?? 'no answer'}${next}`
}

async function act(
  db: Knex,
  verb: 'redeliver' | 'enable' | 'disable',
  id: string,
  given: Given,
  order: Order,
): Promise<Outcome> {
  const userId = await ownerOf(db, id)
  const endpoint = await findEndpoint(db, userId, id)
  if (verb === 'redeliver' && endpoint.disabled !== null)
    throw new RefusedError('it is disabled: enable it first')
  const which = verb === 'redeliver' ? whichOf(given) : undefined
  let queued: number | undefined
  if (order.apply)
    await db.transaction(async (trx) => {
      if (which !== undefined) queued = await redeliver({ trx, wake }, userId, id, which)
      if (verb === 'enable') await enableEndpoint({ trx, wake }, endpoint, given['from-now'] !== true)
      if (verb === 'disable') await disableEndpoint({ trx }, id, 'operator')
      await order.audit(trx, `webhooks ${verb}`, `user:${userId}`, { webhook: id, ...which })
    })
  const done = {
    redeliver: `${queued ?? ''} events queued`.trim(),
    enable: 'enabled',
    disable: 'disabled',
  } as const
  return {
    text: order.tell(`webhook ${id}`, order.apply ? done[verb] : `${verb}d`),
    json: { applied: order.apply, webhook: id, ...(queued === undefined ? {} : { queued }) },
  }
}

function whichOf({ failed, from, to }: Given) {
  if (failed === true && from === undefined && to === undefined) return { failed } as const
  if (failed === true || from === undefined || to === undefined)
    throw new UsageError('give --failed, or --from and --to')
  const first = wholeNumber('--from', from, 1, mostSequence)
  return { from: first, to: wholeNumber('--to', to, first, mostSequence) } as const
}

async function run(given: Given, order: Order, [name, ...rest]: readonly string[]): Promise<Outcome> {
  const verb = parseVerb(name, ['list', 'show', 'redeliver', 'enable', 'disable'])
  if (verb === 'list' && rest.length > 0) throw new UsageError('list takes no argument')
  return withDatabase((db) => {
    if (verb === 'list') return list(db, given)
    const id = onlyArgument(rest, 'webhook')
    return verb === 'show' ? show(db, id) : act(db, verb, id, given, order)
  })
}

export const command = await defineCommand(import.meta, { usage, options, allowPositionals: true, run })
