import test from 'ava'
import { decideFloat, type FloatFacts } from '../../src/reserves/float/float-rule.js'
import { seededRandom, seededRuns } from '../helpers/random.js'

const still: FloatFacts = {
  balance: 1000n,
  bookBefore: 1000n,
  bookNow: 1000n,
  collections: 500n,
  inTransit: 200n,
  underWay: 0n,
}
const nothing = { settled: 0n, arrived: 0n, unexplained: 0n }

test('what the balance has beyond the book has settled, then arrived, then is unexplained', (t) => {
  t.deepEqual(decideFloat(still), nothing)
  t.deepEqual(decideFloat({ ...still, balance: 1300n }), { ...nothing, settled: 300n })
  t.deepEqual(decideFloat({ ...still, balance: 1600n }), { ...nothing, settled: 500n, arrived: 100n })
  t.deepEqual(decideFloat({ ...still, balance: 1750n }), { settled: 500n, arrived: 200n, unexplained: 50n })
  t.deepEqual(decideFloat({ ...still, balance: 1010n, collections: -5n, inTransit: -5n }), {
    ...nothing,
    unexplained: 10n,
  })
})

test('a lack is unexplained only beyond what is under way', (t) => {
  t.deepEqual(decideFloat({ ...still, balance: 700n, underWay: 300n }), nothing)
  t.deepEqual(decideFloat({ ...still, balance: 690n, underWay: 300n }), { ...nothing, unexplained: -10n })
})

test('a payout that is booked while the balance is read moves nothing and is no lack', (t) => {
  t.deepEqual(decideFloat({ ...still, balance: 1000n, bookNow: 900n }), nothing, 'taken after the reading')
  t.deepEqual(decideFloat({ ...still, balance: 900n, bookNow: 900n }), nothing, 'taken before it')
})

/** The provider's side and ours, in kobo. */
class Story {
  balance = 100_000n
  book = 100_000n
  collections = 0n
  settled = 0n
  moved = 0n
  underWay: { kobo: bigint; taken: boolean }[] = []

  readonly acts: readonly ((kobo: bigint) => void)[] = [
    (kobo) => {
      this.collections += kobo
    },
    (kobo) => {
      const open = this.collections + this.moved - this.settled
      const part = open < kobo ? open : kobo
      this.settled += part
      this.balance += part
    },
    (kobo) => {
      this.underWay.push({ kobo, taken: false })
    },
    () => this.take(),
    () => this.end(),
  ]

  take(): void {
    const next = this.underWay.find(({ taken }) => !taken)
    if (next === undefined) return
    next.taken = true
    this.balance -= next.kobo
  }

  end(): void {
    const index = this.underWay.findIndex(({ taken }) => taken)
    if (index >= 0) this.book -= this.underWay.splice(index, 1)[0]?.kobo ?? 0n
  }

  /** Reads the balance and books the move. Returns what is unexplained. */
  read(): bigint {
    const { balance, book, collections } = this
    const underWay = this.underWay.reduce((sum, { kobo }) => sum + kobo, 0n)
    const move = decideFloat({
      balance,
      bookBefore: book,
      bookNow: book,
      collections,
      inTransit: 0n,
      underWay,
    })
    this.book += move.settled
    this.collections -= move.settled
    this.moved += move.settled
    return move.unexplained
  }
}

test('readings among random payments and payouts never move what has not settled, and converge', (t) => {
  const { seed, numRuns } = seededRuns(t, 200)
  const random = seededRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  for (let run = 0; run < numRuns; run++) {
    const story = new Story()
    for (let step = 0; step < 60; step++) {
      story.acts[below(story.acts.length)]?.(BigInt(1 + below(500)))
      t.is(story.read(), 0n)
      t.true(story.moved <= story.settled, 'only what has settled moves')
    }
    while (story.underWay.length > 0) {
      story.take()
      story.end()
    }
    story.read()
    t.is(story.moved, story.settled, 'with nothing under way all that has settled moves')
    t.is(story.book, story.balance)
  }
})
