import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { Knex } from 'knex'
import pg from 'pg'
import { RoundTrip, takeHeld } from '../../src/platform/database/connections/round-trip.js'
import type { Chance } from './chance.js'
import type { Clock, Inside } from './clocks.js'

/** Turns of the event loop in which code that waits for nothing but promises comes to its next statement or call. */
const idleTurns = 3
/** A statement that takes longer may be waiting for a lock. PostgreSQL says so; each look waits twice as long as the one before. */
const lockLookMs = 4
/** A process that stands still: from what nobody notices to far beyond every lease. */
const frozenMs = { least: 2_000, most: 1_500_000 }

/** How often something goes wrong, for one turn. */
export interface Odds {
  readonly crash: number
  readonly freeze: number
  readonly lostCommit: number
  /** How long an answer from outside takes. */
  readonly answerMs: { readonly least: number; readonly most: number }
}

interface Turn {
  readonly process: Process
  readonly text: string
  readonly isCommit?: boolean
  readonly freesLocks?: boolean
  /** `lost`: it is done, and nobody is told. */
  start(lost: boolean): Promise<void>
}

interface Blocked {
  readonly process: Process
  readonly text: string
  readonly backend: number
  readonly settled: Promise<() => void>
}

/** A process of the service. When it is killed, nothing in it ever goes on. */
export class Process implements Inside {
  isAlive = true
  frozenUntil = 0
  /** The connections whose transaction is open. */
  readonly inTransaction = new Set<pg.Client>()
  /** The connections that it uses now. */
  readonly clients = new Set<pg.Client>()
  /** Those who wait for an answer of it. */
  readonly callers = new Set<(error: Error) => void>()
  readonly name: string
  readonly #turns: Turns

  constructor(name: string, turns: Turns) {
    this.name = name
    this.#turns = turns
  }

  sleep(ms: number): Promise<void> {
    return new Promise((done) => this.#turns.after(ms, () => this.isAlive && done()))
  }

  /** Has it do some work. Rejects when it dies meanwhile. */
  do<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((done, fail) => {
      if (!this.isAlive) return fail(new Error(`${this.name} does not run`))
      this.callers.add(fail)
      this.#turns.inside.run(this, () => {
        work()
          .then(done, fail)
          .finally(() => this.callers.delete(fail))
      })
    })
  }
}

/** What the types of pg leave out. */
interface Connected extends EventEmitter {
  readonly processID: number
  readonly connection: { readonly stream: { readonly destroyed: boolean } }
}

type NodeQuery = (...args: unknown[]) => Promise<unknown>
type Callback = (error: unknown, result?: unknown) => void

/**
 * Who goes next. Every statement and every call to a provider is a turn, one at a time, and the seed decides whose. So the order of
 * everything is a draw, and a seed repeats it. Between two turns a process may be killed or stand still.
 */
export class Turns {
  readonly inside = new AsyncLocalStorage<Process>()
  /** What happens between the turns. */
  onKill: (process: Process) => void = () => undefined
  /** Nobody can go on before this time of the calendar. */
  onIdle: (until: number) => Promise<void> = async () => undefined
  tell: (text: string) => void = () => undefined
  /** The answer to this statement comes in a turn of its own. */
  answersLater: (text: string) => boolean = () => false
  count = 0
  readonly #clock: Clock
  readonly #chance: Chance
  readonly #odds: Odds
  readonly #control: pg.Client
  #waiting: Turn[] = []
  #blocked: Blocked[] = []
  #calendar: { readonly at: number; readonly work: () => void }[] = []
  /** Work beside the turns, such as connecting: nobody goes on before it is done. */
  #beside = 0
  #begun: Promise<unknown> = Promise.resolve()
  #databaseTime = 0
  readonly #releases = new WeakMap<pg.Client, () => Promise<void>>()

  constructor(clock: Clock, chance: Chance, odds: Odds, control: pg.Client) {
    this.#clock = clock
    this.#chance = chance
    this.#odds = odds
    this.#control = control
  }

  /** Does this in so many ms of the run's time, or as soon as it is anybody's turn after that. */
  after(ms: number, work: () => void): void {
    const at = this.#clock.now + Math.max(0, Math.round(ms))
    const place = this.#calendar.findLastIndex((entry) => entry.at <= at)
    this.#calendar.splice(place + 1, 0, { at, work })
  }

  /** A call to the world outside. It acts in one turn, and its answer comes in a later one. */
  call<Result>(text: string, act: () => Result): Promise<Result> {
    const process = this.#here()
    const { least, most } = this.#odds.answerMs
    return new Promise((done, fail) => {
      this.#enter({
        process,
        text,
        start: async () => {
          const settle = settled(act, done, fail)
          this.after(this.#chance.whole('answer ms', least, most), () =>
            this.#enterAnswer(process, text, settle),
          )
        },
      })
    })
  }

  /** Does this before anybody goes on, and after what was begun before: a race of two would be real. */
  async beside<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#beside += 1
    const result = this.#begun.then(work)
    this.#begun = result.catch(() => undefined)
    try {
      return await result
    } finally {
      this.#beside -= 1
    }
  }

  /** Takes turns until `isOver`, or until nothing is left to happen. */
  async take(isOver: () => boolean): Promise<void> {
    for (;;) {
      await this.#untilQuiet()
      if (isOver()) return
      const ready = this.#waiting.filter(({ process }) => process.frozenUntil <= this.#clock.now)
      if (ready.length === 0) await this.onIdle(this.#calendar[0]?.at ?? Number.POSITIVE_INFINITY)
      const [next] = this.#calendar
      if (next !== undefined && (next.at <= this.#clock.now || ready.length === 0)) {
        this.#calendar.shift()
        this.#clock.now = Math.max(this.#clock.now, next.at)
        next.work()
        continue
      }
      const turn = this.#chance.oneOf('turn', ready)
      if (turn === undefined) return
      await this.#start(turn)
    }
  }

  /** Nothing is left to happen by itself. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#calendar.length === 0
  }

  /** What a process would do in its next turns. */
  waitingOf(process: Process): readonly string[] {
    return this.#waiting.filter((turn) => turn.process === process).map(({ text }) => text)
  }

  /** Every process goes on. */
  thaw(): void {
    for (const { process } of this.#waiting) process.frozenUntil = 0
  }

  /** Kills a process: what it had not committed is gone. */
  async kill(process: Process): Promise<void> {
    process.isAlive = false
    this.#waiting = this.#waiting.filter((turn) => turn.process !== process)
    const blocked = this.#blocked.filter((turn) => turn.process === process).map(({ backend }) => backend)
    this.#blocked = this.#blocked.filter((turn) => turn.process !== process)
    for (const client of process.clients) await this.#leave(client, blocked)
    for (const fail of process.callers) fail(new Error(`${process.name} was killed`))
    this.onKill(process)
    await this.#lookAtBlocked()
  }

  /** Every statement of a process waits for its turn. Returns what undoes it. */
  watchStatements(): () => void {
    const { connect, query } = pg.Client.prototype
    const turns = this
    const client = pg.Client.prototype as unknown as { connect: NodeQuery; query: NodeQuery }
    client.connect = function (this: pg.Client, ...args) {
      const process = turns.inside.getStore()
      if (process === undefined) return (connect as NodeQuery).apply(this, args)
      const callback = args.pop() as Callback | undefined
      return answer(
        turns.beside(() => (connect as NodeQuery).apply(this, args)),
        callback,
      )
    }
    client.query = function (this: pg.Client, ...args) {
      const process = turns.inside.getStore()
      if (process === undefined) return (query as NodeQuery).apply(this, args)
      const callback = typeof args.at(-1) === 'function' ? (args.pop() as Callback) : undefined
      const run = () =>
        new Promise((done, fail) => {
          const answered: Callback = (error, result) => (error ? fail(error) : done(result))
          void (query as NodeQuery).call(this, ...args, answered)
        })
      return answer(turns.#statements(process, this, namesOf(args[0]), run), callback)
    }
    return () => Object.assign(client, { connect, query })
  }

  /**
   * The processes share the connections of one pool, as if each had its own: a new connection costs PostgreSQL as much as fifty
   * statements. What a killed process has used goes back to the pool.
   */
  watchPool({ client: pool }: Knex): void {
    const { acquireConnection, releaseConnection } = pool
    pool.acquireConnection = async () => {
      const process = this.inside.getStore()
      const client: pg.Client = await acquireConnection.call(pool)
      process?.clients.add(client)
      this.#releases.set(client, async () => {
        process?.clients.delete(client)
        // What still goes on after the run finds no pool.
        if (pool.pool !== undefined) await releaseConnection.call(pool, client)
      })
      if (process?.isAlive !== false) return client
      await pool.releaseConnection(client)
      return new Promise(() => undefined)
    }
    pool.releaseConnection = (client: pg.Client) => this.#releases.get(client)?.()
  }

  /** What is open on this connection of a killed process comes to nothing. */
  async #leave(client: pg.Client, blocked: readonly number[]): Promise<void> {
    const { processID, connection } = client as unknown as Connected
    if (blocked.includes(processID)) await this.#terminate([client])
    else if (!connection.stream.destroyed) await this.inside.exit(() => client.query('rollback'))
    takeHeld(client)
    await this.#releases.get(client)?.()
  }

  #here(): Process {
    const process = this.inside.getStore()
    if (process === undefined) throw new Error('no process of the run calls this')
    return process
  }

  #enter(turn: Turn): void {
    if (turn.process.isAlive) this.#waiting.push(turn)
  }

  #enterAnswer(process: Process, text: string, settle: () => void): void {
    this.#enter({ process, text: `${text}: the answer`, start: async () => settle() })
  }

  /** What is sent in one round trip is one turn. */
  #statements(process: Process, client: pg.Client, names: readonly string[], run: () => Promise<unknown>) {
    const text = names.join(', ')
    const has = (pattern: RegExp) => names.some((name) => pattern.test(name))
    return new Promise<unknown>((done, fail) => {
      this.#enter({
        process,
        text,
        isCommit: has(/^COMMIT/i),
        freesLocks: has(/^(COMMIT|ROLLBACK)/i),
        start: async (lost) => {
          await this.setDatabaseTime()
          const { processID: backend, connection } = client as unknown as Connected
          const { inTransaction } = process
          if (has(/^BEGIN/i)) inTransaction.add(client)
          const broken = () => fail(new Error('Connection terminated unexpectedly'))
          const finished = run().then(
            (result) => {
              if (has(/^(COMMIT|ROLLBACK)/i)) inTransaction.delete(client)
              return lost ? broken : () => done(result)
            },
            (error: unknown) => {
              // After any other failure ROLLBACK ends it.
              if (connection.stream.destroyed || /^COMMIT/i.test(text)) inTransaction.delete(client)
              return () => fail(error)
            },
          )
          const settle = await this.#unlessBlocked(finished, backend)
          if (settle === undefined) this.#blocked.push({ process, text, backend, settled: finished })
          else if (this.answersLater(text)) this.#enterAnswer(process, text, settle)
          else settle()
          if (lost) await this.#terminate([client])
        },
      })
    })
  }

  async #start(turn: Turn): Promise<void> {
    const { process, text, isCommit = false, freesLocks = false } = turn
    this.count += 1
    if (this.#chance.strikes('freeze', this.#odds.freeze) && process.inTransaction.size === 0) {
      const ms = this.#chance.whole('freeze ms', frozenMs.least, frozenMs.most)
      process.frozenUntil = this.#clock.now + ms
      this.tell(`${process.name} stands still for ${Math.round(ms / 1000)} s before "${text}"`)
      this.after(ms, () => undefined)
      return
    }
    if (this.#chance.strikes('crash before', this.#odds.crash)) {
      this.tell(`${process.name} is killed before "${text}"`)
      return this.kill(process)
    }
    const lost = isCommit && this.#chance.strikes('lost commit', this.#odds.lostCommit)
    if (lost) this.tell(`${process.name} does not get the answer to its COMMIT`)
    this.#waiting.splice(this.#waiting.indexOf(turn), 1)
    await turn.start(lost)
    if (this.#chance.strikes('crash after', this.#odds.crash)) {
      this.tell(`${process.name} is killed after "${text}"`)
      await this.kill(process)
    } else if (this.#blocked.length > 0 && freesLocks) await this.#lookAtBlocked()
  }

  /** What it returns delivers the result. Undefined: the statement waits for the lock of another transaction. */
  async #unlessBlocked(finished: Promise<() => void>, backend: number): Promise<(() => void) | undefined> {
    for (let ms = lockLookMs; ; ms *= 2) {
      const settle = await Promise.race([finished, waitInRealTime(ms)])
      if (settle !== undefined) return settle
      const { rows } = await this.#control.query<{ waits: boolean }>({
        name: 'waits',
        // A lock is granted by the one who had it. `pg_stat_activity` still shows a wait until the one who waited has woken up.
        text: 'select exists (select from pg_locks where pid = $1 and not granted) as waits',
        values: [backend],
      })
      if (rows[0]?.waits === true) return undefined
    }
  }

  /** What has got its lock goes on, in a turn of its own. */
  async #lookAtBlocked(): Promise<void> {
    for (const statement of [...this.#blocked]) {
      const settle = await this.#unlessBlocked(statement.settled, statement.backend)
      if (settle === undefined) continue
      this.#blocked.splice(this.#blocked.indexOf(statement), 1)
      const { process, text } = statement
      this.#enter({ process, text: `${text}, which waited for a lock`, start: async () => settle() })
      // It may have committed as well, for others that wait.
      return this.#lookAtBlocked()
    }
  }

  /** Whoever goes on must find these connections ended, however busy the machine is. */
  async #terminate(clients: readonly pg.Client[]): Promise<void> {
    const open = (clients as unknown as readonly Connected[]).filter(
      ({ connection: { stream } }) => !stream.destroyed,
    )
    const ended = open.map((client) => new Promise((done) => client.once('end', done)))
    await this.#control.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [
      open.map(({ processID }) => processID),
    ])
    // PostgreSQL closes a connection once its transaction is rolled back.
    await Promise.all(ended)
  }

  /** The clock of the database goes on with the clock of the run. */
  async setDatabaseTime(): Promise<void> {
    if (this.#databaseTime === this.#clock.now) return
    this.#databaseTime = this.#clock.now
    await this.#control.query({
      name: 'time',
      text: `select setval('simulated.ticks', greatest(last_value, $1)) from simulated.ticks`,
      values: [this.#clock.now * 1000],
    })
  }

  async #untilQuiet(): Promise<void> {
    for (let idle = 0; idle < idleTurns; idle = this.#beside > 0 ? 0 : idle + 1) await setImmediate()
  }
}

function settled<Result>(act: () => Result, done: (result: Result) => void, fail: (error: unknown) => void) {
  try {
    const result = act()
    return () => done(result)
  } catch (error) {
    return () => fail(error)
  }
}

/** A result as pg gives it: to a callback, or as a promise. */
function answer(result: Promise<unknown>, callback: Callback | undefined): Promise<unknown> {
  if (callback === undefined) return result
  result.then(
    (given) => callback(null, given),
    (error: unknown) => callback(error),
  )
  return result.catch(() => undefined)
}

function namesOf(submitted: unknown): string[] {
  if (submitted instanceof RoundTrip) return submitted.commands.flatMap(namesOf)
  if (typeof submitted === 'string') return [submitted]
  const { name, text = '' } = submitted as { readonly name?: string; readonly text?: string }
  return [name ?? text.trim().slice(0, 40)]
}

/** In real time, not in that of the run. */
function waitInRealTime(ms: number): Promise<undefined> {
  return new Promise((done) => {
    setTimeout(() => done(undefined), ms)
  })
}
