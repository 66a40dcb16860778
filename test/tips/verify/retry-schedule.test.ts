import test from 'ava'
import { schedulePending } from '../../../src/tips/verify/retry-schedule.js'
import type { DueTip } from '../../../src/tips/verify/tip-queue.js'

const giveUpMs = 72 * 3_600_000
const landed = { commitment: 'finalized', failed: false, slot: 7n } as const
const schedule = (ageMs: number, transaction: { failed: boolean; blockTime: Date | undefined } | undefined) =>
  schedulePending({ id: 'a', attempts: 1, ageMs } as DueTip, { status: landed, transaction }, giveUpMs)

test('a landed transaction without a time ends when its time is over', (t) => {
  const timeless = { failed: false, blockTime: undefined }
  t.like(schedule(1000, timeless), { dueInMs: 250, outcome: null })
  t.like(schedule(giveUpMs + 1, timeless), { dueInMs: null, outcome: 'mismatch' })
})

test('what no node gives in a form that can be read is asked for once a day', (t) => {
  t.like(schedule(giveUpMs, undefined), { dueInMs: 30 * 60_000, outcome: null })
  t.like(schedule(giveUpMs + 1, undefined), { dueInMs: 24 * 3_600_000, outcome: null })
  const unanswered = { status: landed, transaction: undefined, isAnswered: false }
  const old = { id: 'a', attempts: 1, ageMs: giveUpMs + 1 } as DueTip
  t.is(schedulePending(old, unanswered, giveUpMs).dueInMs, 30 * 60_000, 'not when the call failed')
})
