import test from 'ava'
import { stepsBetween } from '../../src/kernel/state-machine.js'
import {
  acceptedStatuses,
  heldStates,
  neverSentStates,
  type OutgoingStatus,
  openStatuses,
  outgoingStatuses,
  pollNowStates,
  providerSteps,
  reconciledStates,
  sendableStates,
  unansweredStates,
  unclearStates,
} from '../../src/outgoing/lifecycle.js'
import { unpaidEnds } from '../../src/tips/lifecycle.js'

test('each set that is derived from a table has the states that its name says', (t) => {
  t.deepEqual(openStatuses, ['pending', 'submitted', 'processing'])
  t.deepEqual(acceptedStatuses, ['submitted', 'processing', 'completed'])
  t.deepEqual(neverSentStates.toSorted(), ['confirmation_hold', 'identity_hold', 'not_sent'])
  t.deepEqual(sendableStates, ['not_sent', 'resend'])
  t.deepEqual(heldStates.toSorted(), ['confirmation_hold', 'identity_hold'])
  t.deepEqual(reconciledStates, ['sending', 'unknown', 'sent', 'manual_review', 'refused'])
  t.deepEqual(pollNowStates, ['unknown', 'sent', 'manual_review', 'refused'])
  t.deepEqual(unclearStates, ['unknown', 'manual_review'])
  t.deepEqual(unansweredStates, ['sending', 'unknown'])
  t.deepEqual(unpaidEnds, ['failed', 'cancelled'])
})

test('a withdrawal passes through every status between on the way that the provider shows', (t) => {
  const ways: Partial<Record<`${OutgoingStatus} ${OutgoingStatus}`, readonly OutgoingStatus[]>> = {
    'pending submitted': ['submitted'],
    'pending processing': ['submitted', 'processing'],
    'pending completed': ['submitted', 'processing', 'completed'],
    'pending failed': ['submitted', 'failed'],
    'submitted processing': ['processing'],
    'submitted completed': ['processing', 'completed'],
    'submitted failed': ['failed'],
    'processing completed': ['completed'],
    'processing failed': ['failed'],
  }
  for (const from of outgoingStatuses)
    for (const to of outgoingStatuses) {
      const way = stepsBetween(providerSteps, from, to).map((step) => step.to)
      t.deepEqual(way, [...(ways[`${from} ${to}`] ?? [])], `${from} > ${to}`)
    }
})
