import type { Knex } from 'knex'
import { type Composed, composeDisputes, composeRefundReader } from '../../../src/compose.js'
import {
  type AnswerOrder,
  type AnswerOutcome,
  decideAnswer,
  refreshDispute,
  sendAnswer,
  takeForAnswer,
} from '../../../src/fiat/disputes/answer-dispute.js'
import { compareCollections } from '../../../src/fiat/disputes/compare-collections.js'
import { findDispute, listDisputes, type StoredDispute } from '../../../src/fiat/disputes/dispute.js'
import { collectEvidence, type Evidence } from '../../../src/fiat/disputes/evidence.js'
import { listSentTwice } from '../../../src/fiat/disputes/record-returns.js'
import { nairaText } from '../../../src/kernel/money.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import {
  defineCommand,
  defineOptions,
  finalOptions,
  givenOption,
  type Outcome,
  type Values,
} from '../support/command.js'
import { type Order, RefusedError, UsageError } from '../support/order.js'
import { withDatabase, withServices } from '../support/services.js'
import { formatAge } from '../support/text.js'

const options = defineOptions(finalOptions, {
  '--accept': 'the payer gets the money back. The creator is debited, and we give up our fee of it',
  '--decline': 'the bank decides. The evidence is sent along',
  '--message <text>': 'for the bank, at most 1,000 characters; required with --decline',
  '--all': 'also list the disputes that have ended',
  '--compare':
    "compare payments, refunds and disputes of the last days with the provider's lists; exit code 4: they differ",
  '--confirm <id>': "the dispute's id once more; required with --apply, because an answer is final",
})

/** Shows disputed naira payments, and answers disputes. */
const usage = `npm run ops -- disputes [--all | --compare]
npm run ops -- disputes <id> [--accept | --decline --message <text>] [--apply --confirm <id> --reason <text>]

Lists the disputes that have not ended, with the time left to answer; at most 1,000. Exit code 4 while a dispute waits for our
answer. A dispute that nobody answers in time is lost. What creators owe for lost ones: npm run ops -- receivables.

With an id: reads the dispute at the provider, shows it with the evidence that our rows have, and proposes an answer. An anonymous
payer is never named, and leaves nothing to convince a bank with: accept.

The provider is asked to take an answer at most once. When it gives no usable answer, run the same command again: it reads the
dispute first, and sends again only when the provider had time to show the answer and does not.`

const maxRows = 1000
const longestMessage = 1000
const acceptMessage = 'We accept the dispute. Please return the money to the payer.'

type Given = Values<typeof options>

async function list(db: Knex, all: boolean): Promise<Outcome> {
  const disputes = await listDisputes(db, all, maxRows)
  const open = disputes.filter(({ state }) => state === 'open')
  const lines = disputes.map(
    (one) => `${lineOf(one)}${one.creatorId === null ? '' : `  creator ${one.creatorId}`}`,
  )
  return {
    ok: open.length === 0,
    text: [...lines, `${open.length} wait for our answer`].join('\n'),
    json: { disputes: disputes.map(jsonOf) },
  }
}

function lineOf(dispute: StoredDispute): string {
  const { id, state, kobo, transaction, intentId } = dispute
  const about = intentId ?? `NO CHARGE OF OURS: ${dispute.reference}`
  return `${id}  ${state.padEnd(8)}  ${timeLeft(dispute).padEnd(14)}  ${nairaText(kobo).padStart(18)}  payment ${transaction}  ${about}`
}

function timeLeft({ state, secondsLeft }: StoredDispute): string {
  if (state !== 'open') return ''
  return secondsLeft > 0 ? `${formatAge(secondsLeft)} left` : 'TOO LATE'
}

function jsonOf({ sinceAnswer: _since, ...dispute }: StoredDispute): Record<string, unknown> {
  return dispute
}

async function compare(services: Composed): Promise<Outcome> {
  const refunds = composeRefundReader(services.config)
  const differences = [
    ...(await compareCollections({ ...services, refunds })),
    ...(await listSentTwice(services.db)),
  ]
  const lines = differences.map(
    ({ subject, kind, ours, theirs }) =>
      `${subject}  ${kind}  ours: ${ours ?? 'none'}  the provider's: ${theirs ?? 'none'}`,
  )
  return {
    ok: differences.length === 0,
    text: [...lines, `${differences.length} differences`].join('\n'),
    json: { differences },
  }
}

async function show(services: Composed, id: string): Promise<Outcome> {
  const dispute = await refresh(services, id)
  const evidence = await collectEvidence(services, dispute)
  const proposal = proposalOf(dispute, evidence)
  const { answer, answeredBy, answerResult } = dispute
  return {
    ok: dispute.state !== 'open',
    text: [
      lineOf(dispute),
      ...(evidence?.facts ?? []).map(([name, value]) => `  ${name.padEnd(20)} ${value}`),
      ...(answer === null
        ? []
        : [`  ${'Our answer'.padEnd(20)} ${answer} by ${answeredBy}${result(answerResult)}`]),
      ...(proposal === undefined ? [] : [`  ${'Proposed'.padEnd(20)} ${proposal}`]),
    ].join('\n'),
    json: {
      dispute: jsonOf(dispute),
      facts: Object.fromEntries(evidence?.facts ?? []),
      proposal: proposal ?? null,
    },
  }
}

function result(text: string | null): string {
  return text === null ? '' : `: ${text}`
}

function proposalOf({ state, intentId }: StoredDispute, evidence: Evidence | undefined): string | undefined {
  if (state !== 'open') return undefined
  if (intentId === null) return 'look at the provider’s own pages: we know no such charge'
  return evidence?.payer === undefined
    ? '--accept: the payer is anonymous, so there is nothing to convince a bank with'
    : '--decline, if payer or creator confirm the tip; else --accept'
}

async function refresh(services: Composed, id: string): Promise<StoredDispute> {
  const dispute = await refreshDispute(services, services.disputes, id)
  if (dispute !== undefined) return dispute
  const known = await findDispute(services.db, id)
  if (known !== undefined) return known
  throw new RefusedError(`there is no dispute ${id}`)
}

async function answer(services: Composed, id: string, given: Given, order: Order): Promise<Outcome> {
  const { apply } = order
  const ours = answerOf(given, order)
  order.confirmed(`--${ours.answer}`, id)
  const dispute = await refresh(services, id)
  const step = decideAnswer(dispute, ours, services.config.payouts.settleSeconds)
  const line = `dispute ${id} about ${nairaText(dispute.kobo)}`
  const done = ours.answer === 'accept' ? 'accepted' : 'declined'
  const json = { applied: apply, dispute: id, answer: ours.answer, state: dispute.state }
  if (step.kind === 'refuse') throw new RefusedError(step.reason)
  if (step.kind === 'done') return { text: `${line}: ${done} already`, json }
  if (!apply) return { text: order.tell(line, done), json }
  if (step.kind === 'wait')
    throw new ProviderError(
      'unavailable',
      `an answer may be on its way and the provider may still show it: run this again in ${step.seconds} s`,
    )
  const taken = await take(services, dispute, ours, order)
  const evidence = await collectEvidence(services, dispute)
  const outcome = await sendAnswer(services, composeDisputes(services.config), taken, ours, {
    evidence,
    wasUnknown: dispute.answerSentAt !== null,
  })
  return present(line, done, outcome)
}

/** Throws UsageError. */
function answerOf(given: Given, { by }: Order): AnswerOrder {
  const { accept = false, message = '' } = given
  const text = message.trim()
  if (!accept && text === '')
    throw new UsageError('--message is required: tell the bank why the payment was right')
  if (text.length > longestMessage)
    throw new UsageError(`--message is longer than ${longestMessage} characters`)
  return { answer: accept ? 'accept' : 'decline', message: text || acceptMessage, by }
}

/** Committed before the provider is asked. Of two operators one is too late. */
async function take(
  { transact }: Composed,
  dispute: StoredDispute,
  { answer, message, by }: AnswerOrder,
  order: Order,
): Promise<StoredDispute> {
  return transact(async (uow) => {
    const taken = await takeForAnswer(uow, dispute, { answer, message, by })
    if (taken === undefined) throw new RefusedError(`the dispute ${dispute.id} was taken or ended meanwhile`)
    const details = { answer, message, kobo: dispute.kobo }
    await order.audit(uow.trx, 'dispute answer', `dispute:${dispute.id}`, details)
    return { ...dispute, ...taken }
  })
}

/** Throws RefusedError when it certainly was not answered, ProviderError when that is not known. */
function present(line: string, done: string, outcome: AnswerOutcome): Outcome {
  if (outcome.kind === 'refused') throw new RefusedError(`${line} is not ${done}: ${outcome.reason}`)
  if (outcome.kind === 'unknown')
    throw new ProviderError('ambiguous', `${line} may be ${done}: ${outcome.reason}. Run this again later`)
  const { id, state } = outcome.dispute
  return { text: `${line}: ${done}`, json: { applied: true, dispute: id, state } }
}

async function run(values: Given, order: Order, positionals: readonly string[]): Promise<Outcome> {
  const [id, ...more] = positionals
  const { all = false, compare: compares = false, accept = false, decline = false } = values
  if (more.length > 0) throw new UsageError('give one dispute')
  givenOption(values, ['accept', 'decline'])
  const answers = accept || decline
  if (id === undefined) {
    if (answers) throw new UsageError('give the id of the dispute to answer')
    return compares ? withServices('ops disputes', compare) : withDatabase((db) => list(db, all))
  }
  if (all || compares) throw new UsageError('--all and --compare take no dispute')
  return withServices('ops disputes', (services) =>
    answers ? answer(services, id, values, order) : show(services, id),
  )
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'kobo and micro-USDC',
  options,
  allowPositionals: true,
  run,
})
