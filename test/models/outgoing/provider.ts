import type { TransferState } from '../../../src/ports/payouts.js'
import type { Act } from '../checker.js'
import { isUnpaid, type Setting, type State, setRow, type Transfer } from './state.js'

// The naira provider, the network and time. What is assumed of them:
//
// - A request arrives, or is lost for good, within PAYOUT_SECONDS (15 minutes) after it began.
// - What the provider has executed it shows within the same time, unless it loses it (`loses`).
// - A documented refusal is true. Every other answer may be a lie or be lost.
// - With FIATPAY_DEDUPLICATES it never executes a reference twice.

/** The provider gets a request. Null: it does not execute it, because it has executed that reference. */
export function execute(state: State, { deduplicates }: Setting): State | null {
  if (deduplicates && state.executed > 0) return null
  const transfer: Transfer = { state: 'accepted', shown: false, other: false }
  return { ...state, transfer, executed: state.executed + 1 }
}

/** Where a transfer goes from one state to another by itself. */
const honest: Readonly<Record<TransferState, readonly TransferState[]>> = {
  accepted: ['started', 'failed'],
  started: ['paid', 'failed'],
  paid: [],
  failed: [],
  returned: [],
}

/** What a provider rarely does: the bank sends the money back, or gets it after all. */
const odd: Readonly<Record<TransferState, readonly TransferState[]>> = {
  accepted: [],
  started: [],
  paid: ['returned', 'failed'],
  failed: ['paid'],
  returned: ['paid'],
}

export function providerActs(state: State, setting: Setting): Act<State>[] {
  const { transfer, onTheWire, oddities } = state
  const acts: Act<State>[] = []
  const act = (text: string, to: State): void => {
    acts.push({ text, to, helps: true })
  }
  if (onTheWire > 0) {
    const rest = { ...state, onTheWire: onTheWire - 1 }
    act('a request that nobody waits for is lost', rest)
    act('a request that nobody waits for arrives', execute(rest, setting) ?? rest)
  } else act('15 minutes pass', passTime(state))
  if (transfer === null) return acts
  if (setting.loses === true && honest[transfer.state].length > 0)
    acts.push({
      text: 'the provider loses its record, and never pays it',
      to: { ...state, transfer: null },
      helps: false,
    })
  for (const to of honest[transfer.state]) act(`the transfer is ${to}`, turn(state, transfer, { state: to }))
  if (!transfer.shown) act('the provider shows the transfer', turn(state, transfer, { shown: true }))
  return oddities > 0 ? [...acts, ...oddActs({ ...state, oddities: oddities - 1 }, transfer)] : acts
}

const turn = (state: State, transfer: Transfer, change: Partial<Transfer>): State => ({
  ...state,
  transfer: { ...transfer, ...change },
})

function oddActs(state: State, transfer: Transfer): Act<State>[] {
  const acts = odd[transfer.state].map((to) => {
    const turnedBack = state.turnedBack || (isUnpaid(transfer) && to === 'paid')
    const text = `the transfer turns from ${transfer.state} to ${to}`
    return { text, to: { ...turn(state, transfer, { state: to }), turnedBack }, helps: false }
  })
  if (transfer.shown || transfer.other) return acts
  const text = 'the provider has taken another amount'
  return [...acts, { text, to: turn(state, transfer, { other: true }), helps: false }]
}

/** Every request has arrived or is lost, and the provider shows what it has. */
function passTime(state: State): State {
  const { copy, transfer, senders } = state
  return {
    ...setRow(state, { settled: true }),
    copy: copy && { ...copy, row: copy.row && { ...copy.row, settled: true } },
    restoreSettled: true,
    transfer: transfer && { ...transfer, shown: true },
    senders: senders.map((sender) => (sender?.at === 'recorded' ? { ...sender, late: true } : sender)),
  }
}
