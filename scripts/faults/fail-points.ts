import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/**
 * Loaded before a process of the service (`node --import`), it makes every statement and every request of that process a
 * named point at which it can be killed: `FAIL_AT` is such as `before payouts.sending`, `after COMMIT` or
 * `during POST /transfer`, `FAIL_NTH` the how manyth time. With `FAIL_HOW=cut` the database connection is ended there
 * instead, every time, and the process lives. The service itself knows nothing of this.
 */
const failAt = process.env['FAIL_AT'] ?? ''
const cuts = process.env['FAIL_HOW'] === 'cut'
let left = Number(process.env['FAIL_NTH'] ?? 1)

/** A request was written and not yet answered, most of the time. */
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

/** The name of a prepared statement, else its first word. */
function labelOf(config: unknown): string {
  const { name, text = '' } = (typeof config === 'string' ? { text: config } : config) as {
    name?: string
    text?: string
  }
  return name ?? text.split(/[\s;]/, 1)[0]?.toUpperCase() ?? ''
}

/** knex asks with a callback, we with a promise. */
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
  const label = labelOf(given[0])
  const point = (phase: string) => `${phase} ${label}`
  if (isDue(point('before'))) return cuts ? cutAround(this, () => query.apply(this, given)) : die()
  const { args, called } = watchAnswer(given, () => isDue(point('after')) && die())
  const result = query.apply(this, args)
  if (!called && result instanceof Promise)
    return result.then((answer: unknown) => {
      if (isDue(point('after'))) die()
      return answer
    })
  return result
}

const admin = cuts ? new pg.Client({ connectionString: process.env['DATABASE_URL'] }) : undefined
await admin?.connect()
let cutting = 0

/** In turn: the server ends the connection just before, just after, or the socket breaks once the statement has left. */
function cutAround({ processID, connection }: Connection, run: () => unknown): unknown {
  const way = cutting++ % 3
  const end = () => query.call(admin, 'select pg_terminate_backend($1)', [processID]) as Promise<unknown>
  if (way === 0) void end().catch(() => undefined)
  const result = run()
  if (way === 1) void end().catch(() => undefined)
  if (way === 2) void sleep(0).then(() => connection.stream.destroy())
  return result
}

const { fetch } = globalThis
globalThis.fetch = async (input, init) => {
  const { pathname } = new URL(input instanceof Request ? input.url : input)
  const path = pathname.replace(/^\/fiatpay/, '').replace(/\/fiatpay-[^/]*$/, '')
  const label = `${init?.method ?? 'GET'} ${path}`
  if (isDue(`before ${label}`)) die()
  if (isDue(`during ${label}`)) void sleep(duringMs).then(die)
  const response = await fetch(input, init)
  if (isDue(`after ${label}`)) die()
  return response
}
