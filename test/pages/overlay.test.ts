import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { lookFor, lookOf } from '../../src/pages/overlay/look.js'
import { defaults, readParameters, writeParameters } from '../../src/pages/overlay/parameters.js'
import { Player } from '../../src/pages/overlay/player.js'
import { type Alert, add, emptyQueue, type Queue, type Tip, take } from '../../src/pages/overlay/queue.js'
import { fillTemplate } from '../../src/pages/overlay/template.js'
import { seededRuns } from '../helpers/random.js'
import { until } from '../helpers/until.js'

const now = Date.parse('2026-11-21T12:00:00Z')
const rules = { minUsd: 0, connectedMs: now, replayMs: 600_000, maxWaiting: 3 }

function tip(id: number, changes: Partial<Tip> = {}): Tip {
  const timestamp = new Date(now).toISOString()
  return {
    id: String(id),
    amount: 1,
    tokenSymbol: 'USDC',
    sender: 'Tobi',
    message: null,
    timestamp,
    valueUsd: 1,
    ...changes,
  }
}

function takeAll(queue: Queue): { shown: Alert[]; cursor: string | undefined } {
  const shown: Alert[] = []
  for (let taken = take(queue); taken !== undefined; taken = take(queue)) {
    shown.push(taken.alert)
    queue = taken.rest
  }
  return { shown, cursor: queue.cursor }
}

test('tips that do not fit into the queue become one alert with their number and value', (t) => {
  let queue = emptyQueue(undefined)
  for (const id of [1, 2, 3, 4, 5]) queue = add(queue, tip(id, { valueUsd: id }), rules)
  const { shown, cursor } = takeAll(queue)
  t.deepEqual(
    shown.map((alert) => (alert.kind === 'tip' ? alert.tip.id : alert.more)),
    ['1', '2', '3', { count: 2, usd: 9, id: '5', eventIds: [] }],
  )
  t.is(cursor, '5')
})

test('a tip that comes again with a later id, as after a restore of the service, is not shown again', (t) => {
  const sent = [1, 2, 3, 4, 5].map((id) => tip(id, { eventId: `${id}`.repeat(88) }))
  let queue = sent.reduce((before, one) => add(before, one, rules), emptyQueue('0'))
  for (let taken = take(queue); taken !== undefined; taken = take(queue)) queue = taken.rest
  const again = [...sent, tip(6, { eventId: '6'.repeat(88) })].map((one) => ({ ...one, id: `1${one.id}` }))
  const after = again.reduce((before, one) => add(before, one, rules), queue)
  t.deepEqual(
    after.waiting.map(({ id }) => id),
    ['16'],
  )
  t.is(after.cursor, '15')
})

test('small and old tips are skipped, and not read again while the queue is empty', (t) => {
  const old = { timestamp: new Date(now - 601_000).toISOString() }
  let queue = add(emptyQueue('1'), tip(2, old), rules)
  t.deepEqual(queue, emptyQueue('2'))
  queue = add(queue, tip(3, { valueUsd: 0.5 }), { ...rules, minUsd: 1 })
  t.deepEqual(queue, emptyQueue('3'))
  t.is(
    takeAll(add(queue, { ...tip(0), id: undefined, valueUsd: 0 }, { ...rules, minUsd: 1 })).shown.length,
    1,
  )
})

test('without replay a live tip is shown and none that was missed, however the clocks differ', (t) => {
  const at = (ms: number) => ({ timestamp: new Date(now + ms).toISOString() })
  const none = { ...rules, replayMs: 0 }
  let queue = add(emptyQueue('1'), tip(2, at(-1)), none)
  t.deepEqual(queue, emptyQueue('2'), 'missed')
  queue = add(queue, tip(3, at(1)), none)
  // The overlay has been open for a day.
  queue = add(queue, tip(4, at(86_400_000)), none)
  t.deepEqual(
    queue.waiting.map(({ id }) => id),
    ['3', '4'],
  )
})

test('a tip looks as the highest tier that it reaches says, and else as all do', (t) => {
  const tiers = [
    { fromUsd: 50, sound: 'fanfare' },
    { fromUsd: 10, template: 'Wow, {sender}!', durationMs: 9000 },
  ] as const
  const look = { ...lookOf(defaults), tiers: [...tiers] }
  const { template, durationMs } = defaults
  t.deepEqual(lookFor(look, 9.99), { template, sound: 'none', durationMs })
  t.deepEqual(lookFor(look, 10), { template: 'Wow, {sender}!', sound: 'none', durationMs: 9000 })
  t.deepEqual(lookFor(look, 1000), { template, sound: 'fanfare', durationMs })
})

test('a tip that is removed is not shown, whether it waits or is shown, and the next one comes', async (t) => {
  const calls: string[] = []
  const player = new Player(
    lookOf({ ...defaults, durationMs: 600_000, gapMs: 0 }),
    { cursor: undefined, shown: [] },
    {
      show: (alert, phase) => calls.push(alert?.kind === 'tip' ? `${alert.tip.id} ${phase}` : 'nothing'),
      saveCursor: () => undefined,
    },
  )
  for (const id of [1, 2, 3]) player.add(tip(id, { eventId: `e${id}` }))
  player.remove('e2')
  player.remove('e1')
  player.remove('e1')
  t.deepEqual(calls, ['1 enter', 'nothing', '3 enter'])
  player.remove('e3')
  t.is(calls.at(-1), 'nothing')
})

/** An overlay over several page loads, the service that it reads from, and what viewers saw. */
class Audience {
  readonly seen: number[] = []
  readonly #sent: Tip[] = []
  readonly #rules: typeof rules
  #queue = emptyQueue('0')

  constructor(maxWaiting: number) {
    this.#rules = { ...rules, maxWaiting }
  }

  get sent(): number[] {
    return this.#sent.map(({ id }) => Number(id))
  }

  tip(): void {
    const id = this.#sent.length + 1
    const one = tip(id, { eventId: `e${id}` })
    this.#sent.push(one)
    this.#queue = add(this.#queue, one, this.#rules)
  }

  show(): boolean {
    const taken = take(this.#queue)
    if (taken === undefined) return false
    this.#queue = taken.rest
    const { alert } = taken
    if (alert.kind === 'tip') this.seen.push(Number(alert.tip.id))
    else for (let left = alert.more.count; left > 0; left--) this.seen.push((this.seen.at(-1) ?? 0) + 1)
    return true
  }

  /** A new page load reads the tips after the cursor. */
  reload(): void {
    this.#queue = emptyQueue(this.#queue.cursor)
    this.refuse()
  }

  /** A page that was refused for a while reads them, too. */
  refuse(): void {
    const { cursor } = this.#queue
    for (const one of this.#sent)
      if (Number(one.id) > Number(cursor)) this.#queue = add(this.#queue, one, this.#rules)
  }
}

test('a page that is reloaded or refused at any moment shows every tip once', (t) => {
  const steps = fc.array(fc.constantFrom('tip', 'show', 'reload', 'refuse'), { maxLength: 60 })
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 40 }), (taken, maxWaiting) => {
      const audience = new Audience(maxWaiting)
      for (const step of taken) audience[step]()
      while (audience.show());
      t.deepEqual(audience.seen, audience.sent)
    }),
    seededRuns(t),
  )
})

test('alerts come one at a time, wait while held, and the cursor is saved before an alert is shown', async (t) => {
  const calls: string[] = []
  const player = new Player(
    lookOf({ ...defaults, durationMs: 1, gapMs: 0 }),
    { cursor: undefined, shown: [] },
    {
      show: (alert, phase) => calls.push(alert?.kind === 'tip' ? `${alert.tip.id} ${phase}` : 'nothing'),
      saveCursor: (cursor) => calls.push(`save ${cursor}`),
    },
  )
  const fresh = { timestamp: new Date().toISOString() }
  player.connected(undefined, '5')
  player.connected(undefined, '6')
  player.hold(true)
  player.add(tip(7, fresh))
  player.add(tip(8, fresh))
  t.deepEqual(calls, ['save 5'])
  player.hold(false)
  await until('both are gone', () => calls.filter((line) => line === 'nothing').length === 2)
  t.deepEqual(calls, [
    ...['save 5', 'save 7', '7 enter', '7 show', '7 exit', 'nothing'],
    ...['save 8', '8 enter', '8 show', '8 exit', 'nothing'],
  ])
})

test('the URL holds only parameters that differ from the default, and invalid ones are the default', (t) => {
  const wanted = {
    ...defaults,
    wallet: 'W',
    minUsd: 2.5,
    position: 'top',
    accent: '#ff0000',
    sound: true,
  } as const
  t.deepEqual(readParameters(writeParameters(wanted)), wanted)
  t.is(writeParameters({ ...defaults, wallet: 'W' }).toString(), 'wallet=W')
  const nonsense = new URLSearchParams(
    'duration=x&gap=-5&min=1e99&position=up&accent=red&volume=7&message=yes&queue=0&template=%20&scale=',
  )
  t.deepEqual(readParameters(nonsense), { ...defaults, gapMs: 0, minUsd: 1e6, volume: 1, queue: 1 })
  t.is(readParameters(new URLSearchParams('accent=00ff00')).accent, '#00ff00')
})

test('a template is filled with values, and a value that looks like a template stays text', (t) => {
  const values = { sender: '{amount}', amount: '$5.00', token: '' }
  t.deepEqual(fillTemplate('{sender} gave {amount} {token}!', values), [
    { kind: 'sender', text: '{amount}' },
    { kind: 'text', text: ' gave' },
    { kind: 'text', text: ' ' },
    { kind: 'amount', text: '$5.00' },
    { kind: 'text', text: '!' },
  ])
  t.deepEqual(fillTemplate('<b>{nobody}</b>', values), [{ kind: 'text', text: '<b>{nobody}</b>' }])
})

test("the manual's table has every parameter but the preview's, with its default", (t) => {
  const guide = readFileSync('src/manual/text/guides/overlay.md', 'utf8')
  const rows = [...guide.matchAll(/^\| `(\w+)` \| `?(.*?)`? ?\|/gm)]
  const others = Object.entries(defaults).map(([key, value]) => [
    key,
    typeof value === 'boolean' ? !value : 'x',
  ])
  const names = [...writeParameters(Object.fromEntries(others)).keys()].filter((name) => name !== 'preview')
  t.deepEqual(rows.map(([, name]) => name).sort(), names.sort())
  for (const [, name = '', value = ''] of rows)
    t.deepEqual(readParameters(new URLSearchParams({ [name]: value })), defaults, name)
})
