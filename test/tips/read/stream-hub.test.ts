import test, { type ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import { StreamHub } from '../../../src/events/stream-hub.js'
import { readsOf } from '../../../src/platform/database/read-pool.js'
import { tipStream } from '../../../src/tips/read/stream.js'
import { createControlledCall, type PendingCall, runPendingTasks } from '../../helpers/controlled-call.js'
import { seededRandom, seededRuns } from '../../helpers/random.js'

/** A statement of the hub: its wallets and cursors. */
interface Statement {
  readonly name: string
  readonly values: [wallets: string[], cursors: number[]]
}
type Answer = { readonly rows: unknown[] }

interface JoinedReader {
  readonly cursor: number
  readonly seen: number[]
  readonly leave: () => void
}

const wallet = 'W'
const pageSize = 100
const range = (after: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - after) }, (_, index) => after + 1 + index)

/** A hub whose reads the test answers. The stamps of the wallet's tips are 1, 2, 3 and so on. */
function createHub(t: ExecutionContext, tips: number) {
  const reads = createControlledCall<Statement, Answer>()
  const state = { newest: tips, open: 0, mostOpen: 0, mostPlaces: 0 }
  let notify: () => void = () => undefined
  let poll: () => void = () => undefined
  async function query(statement: Statement): Promise<Answer> {
    if (statement.name !== 'tips.confirmed-after') return { rows: [{ key: wallet, cursor: state.newest }] }
    state.mostPlaces = Math.max(state.mostPlaces, statement.values[1].length)
    state.mostOpen = Math.max(state.mostOpen, ++state.open)
    return reads.run(statement).finally(() => {
      state.open -= 1
    })
  }
  const db = {
    client: { acquireConnection: async () => ({ query }), releaseConnection: async () => undefined },
  }
  const services = {
    db,
    reads: readsOf(db as unknown as Knex),
    notifications: {
      listen(_channel: string, listener: () => void) {
        notify = listener
        return () => undefined
      },
      onReconnect(callback: () => void) {
        poll = callback
      },
    },
    log: { warn: () => undefined },
  }
  const hub = new StreamHub(services as unknown as ConstructorParameters<typeof StreamHub>[0], tipStream)
  t.teardown(() => void hub.close())
  return {
    reads,
    state,
    poll: () => poll(),
    join(cursor: number): JoinedReader {
      const seen: number[] = []
      const leave = hub.open({ key: wallet, cursor }, state.newest, (event) => {
        seen.push(event.cursor)
      })
      return { cursor, seen, leave }
    },
    confirm(count = 1) {
      state.newest += count
      notify()
    },
    /** What the database has for a read when it runs. */
    rowsOf: ({ values: [, cursors] }: Statement): Answer => ({
      rows: cursors.flatMap((cursor, index) =>
        range(cursor, Math.min(state.newest, cursor + pageSize)).map((at) => tipRow(at, index + 1)),
      ),
    }),
    /** Answers every read until the hub wants none. Returns how many these were. */
    async answerAll(): Promise<number> {
      let count = 0
      for (await runPendingTasks(); state.open > 0; await runPendingTasks()) {
        const read = await reads.next()
        read.resolve(this.rowsOf(read.input))
        count += 1
      }
      return count
    },
  }
}

function tipRow(at: number, place: number) {
  return {
    place,
    id: `tip ${at}`,
    mint: null,
    decimals: 2,
    displayRaw: '100',
    receivedRaw: '100',
    usd: null,
    sender: 'S',
    senderName: null,
    fiatDetails: null,
    message: null,
    confirmedAt: new Date(at),
  }
}

test('readers that ask for a long history again and again do not delay the readers at the head', async (t) => {
  const hub = createHub(t, 2000)
  const atHead = hub.join(2000)
  await hub.answerAll()
  const behind = [hub.join(1)]
  const held = await hub.reads.next()
  for (const cursor of range(0, 30)) behind.push(hub.join(cursor * 7))
  hub.confirm()
  await runPendingTasks()
  t.is(hub.state.open, 2, 'the read of the head does not wait for the others')
  const read = await hub.reads.next()
  t.deepEqual(read.input.values, [[wallet], [2000]])
  read.resolve(hub.rowsOf(read.input))
  await runPendingTasks()
  t.deepEqual(atHead.seen, [2001])
  held.resolve(hub.rowsOf(held.input))
  await hub.answerAll()
  for (const { cursor, seen } of behind) t.deepEqual(seen, range(cursor, 2001), `after ${cursor}`)
  t.deepEqual(atHead.seen, [2001])
  t.is(hub.state.mostOpen, 2, 'one read at a time for those behind')
  t.is(hub.state.mostPlaces, 10, 'they take turns')
})

test('a tip is one read for all readers at the head, and readers with the same last event share their pages', async (t) => {
  const hub = createHub(t, 250)
  const first = Array.from({ length: 50 }, () => hub.join(250))
  await hub.answerAll()
  for (const tip of range(250, 255)) {
    hub.confirm()
    t.is(await hub.answerAll(), 1, `the tip ${tip}`)
  }
  const returning = Array.from({ length: 50 }, () => hub.join(0))
  t.is(await hub.answerAll(), 6, 'the first starts alone: four reads of pages, and twice one at the head')
  hub.confirm()
  t.is(await hub.answerAll(), 1)
  for (const { seen } of first) t.deepEqual(seen, range(250, 256))
  for (const { seen } of returning) t.deepEqual(seen, range(0, 256))
})

/** Answers the reads of a hub in any order, some with an error. What the database has is what it has when a read runs. */
function createSlowDatabase(hub: ReturnType<typeof createHub>, random: () => number) {
  const underway: { read: PendingCall<Statement, Answer>; answer: Answer }[] = []
  let taken = 0
  return {
    async run() {
      if (taken === hub.reads.made) return
      const read = await hub.reads.next()
      taken += 1
      underway.push({ read, answer: hub.rowsOf(read.input) })
    },
    answer() {
      const [done] = underway.splice(Math.floor(random() * underway.length), 1)
      if (random() < 0.1) done?.read.reject(new Error('the connection broke'))
      else done?.read.resolve(done.answer)
    },
    answerRest() {
      for (const { read, answer } of underway) read.resolve(answer)
    },
  }
}

test('a reader gets every tip once and in order, however reads, tips, joins and failures follow each other', async (t) => {
  const { seed } = seededRuns(t)
  const random = seededRandom(seed)
  const below = (count: number): number => Math.floor(random() * count)
  const hub = createHub(t, 450)
  const database = createSlowDatabase(hub, random)
  const readers: JoinedReader[] = []
  const join = () => readers.push(hub.join(random() < 0.3 ? hub.state.newest : below(hub.state.newest)))
  const leave = () => readers.splice(below(readers.length), 1)[0]?.leave()
  const confirm = () => hub.confirm(random() < 0.05 ? 150 : 1)
  const steps = [join, join, leave, confirm, confirm, confirm, hub.poll]
  for (let step = 0; step < 1200; step++) {
    const usual = random() < 0.5 ? database.run : database.answer
    await (random() < 0.35 ? steps[below(steps.length)] : usual)?.()
    await runPendingTasks()
  }
  database.answerRest()
  hub.poll()
  await hub.answerAll()
  t.true(readers.length > 0)
  for (const { cursor, seen } of readers)
    t.deepEqual(seen, range(cursor, hub.state.newest), `after ${cursor}`)
  t.true(hub.state.mostOpen <= 2 && hub.state.mostPlaces <= 10)
})
