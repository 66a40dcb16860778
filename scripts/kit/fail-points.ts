import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { RoundTrip } from '../../src/platform/database/connections/round-trip.js'
import { transport } from '../../src/platform/http-client.js'

/**
 * A module that is loaded before a process of the service (`node --import`). It kills the process at a named point.
 * `FAIL_AT` is a statement or request and a phase, for example `before payouts.sending`, `after COMMIT` or
 * `during POST /transfer`. `FAIL_NTH` is the number of the occurrence. With `FAIL_HOW=cut` it does not kill the process
 * but breaks the database connection at every occurrence. The service has no code for this.
 */
const failAt = process.env['FAIL_AT'] ?? ''
const cuts = process.env['FAIL_HOW'] === 'cut'
let left = Number(process.env['FAIL_NTH'] ?? 1)

/** After this time a request is usually written and not yet answered. */
const duringMs = 3

function isDue(point: string): boolean {
  if (point !== failAt) return false
  left -= 1
  return left <= 0
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

type Queried = (...args: unknown[]) => unknown
interface Connection {
  readonly processID: number | null
  readonly connection: { readonly stream: { destroy(): void } }
}

/** The names of prepared statements, or the first word of another statement: of all that are sent together. */
function labelsOf(config: unknown): string[] {
  if (config instanceof RoundTrip) return config.commands.flatMap(labelsOf)
  const { name, text = '' } = (typeof config === 'string' ? { text: config } : config) as {
    name?: string
    text?: string
  }
  const word = text.split(/[\s;]/, 1)[0]?.toUpperCase() ?? ''
  return [name === undefined || word === 'BEGIN' || word === 'COMMIT' ? word : name]
}

/** Calls `answered` when a callback gets its answer. knex uses callbacks, the service's own queries use promises. */
function watchAnswer(args: unknown[], answered: () => void): { args: unknown[]; called: boolean } {
  const index = args.findLastIndex((arg) => typeof arg === 'function')
  const callback = args[index] as Queried | undefined
  if (callback === undefined) return { args, called: false }
  const watched = (...results: unknown[]) => {
    if (!results[0]) answered()
    return callback(...results)
  }
  return { args: args.with(index, watched), called: true }
}

const prototype = pg.Client.prototype as unknown as { query: Queried }
const { query } = prototype
prototype.query = function (this: Connection, ...given: unknown[]): unknown {
  const labels = labelsOf(given[0])
  const isPoint = (phase: string) => labels.some((label) => isDue(`${phase} ${label}`))
  if (isPoint('before')) return cuts ? cutAround(this, () => query.apply(this, given)) : die()
  const { args, called } = watchAnswer(given, () => isPoint('after') && die())
  const result = query.apply(this, args)
  if (!called && result instanceof Promise)
    return result.then((answer: unknown) => {
      if (isPoint('after')) die()
      return answer
    })
  return result
}

const admin = cuts ? new pg.Client({ connectionString: process.env['DATABASE_URL'] }) : undefined
await admin?.connect()
let cutting = 0

/** In turn: the server ends the connection just before or just after the statement, or the socket breaks after it is sent. */
function cutAround({ processID, connection }: Connection, run: () => unknown): unknown {
  const how = cutting++ % 3
  const end = () => query.call(admin, 'select pg_terminate_backend($1)', [processID]) as Promise<unknown>
  if (how === 0) void end().catch(() => undefined)
  const result = run()
  if (how === 1) void end().catch(() => undefined)
  if (how === 2) void sleep(0).then(() => connection.stream.destroy())
  return result
}

const { send } = transport
transport.send = async (url, request) => {
  const path = url.pathname.replace(/^\/fiatpay/, '').replace(/\/fiatpay-[^/]*$/, '')
  const label = `${request.method} ${path}`
  if (isDue(`before ${label}`)) die()
  if (isDue(`during ${label}`)) void sleep(duringMs).then(die)
  const answer = await send(url, request)
  if (isDue(`after ${label}`)) die()
  return answer
}
