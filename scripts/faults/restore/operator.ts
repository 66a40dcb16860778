import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../../dev/wait-until.js'
import type { Stage } from '../month/stage.js'
import type { Truth } from '../month/truth.js'
import { makeDue } from '../sweeps/make-due.js'

/** What people outside can tell the operator: whose withdrawal and whose tip it was. */
interface Notes {
  readonly withdrawals: ReadonlyMap<string, string>
  readonly tips: ReadonlyMap<string, string>
}

export interface Adoption {
  /** Commands that were applied, by their name. */
  readonly applied: Readonly<Record<string, number>>
  readonly rounds: number
}

const roundsMax = 8
const creditMs = 180_000
const pollMs = 250
const sayMs = 10_000
const finalSlots = 40
const unavailable = 5
const why = ['--reason', 'drill', '--as', 'operator']
/** Tips first: what was lost of them pays the moves and the payouts. */
const tipCommands = ['find-uncredited', 'collections']
const otherCommands = ['sweep', 'take-outs', 'payouts']

type Report = (text: string) => void

export interface OperatorContext {
  readonly stage: Stage
  readonly truth: Truth
  readonly notes: Notes
  readonly report: Report
}

/**
 * Follows what `restore-check` prints, line by line, until nothing is left, and accepts the restore. It knows nothing else but what
 * people tell. Throws when a line has no command, or a difference does not go away.
 */
export async function followRestoreCheck(
  { stage, truth, notes, report }: OperatorContext,
  beforeAccepting: () => void,
): Promise<Adoption> {
  const applied: Record<string, number> = {}
  for (let rounds = 1; rounds <= roundsMax; rounds++) {
    const shown = await run(stage, ['restore-check'])
    const left = Number(/^(\d+) differences/m.exec(shown.out)?.[1])
    report(`restore-check: ${left} differences`)
    if (left === 0) {
      beforeAccepting()
      const accepted = await run(stage, ['restore-check', '--apply', '--confirm', '0', ...why])
      if (accepted.code !== 0) throw new Error(`it was not accepted: ${accepted.out}${accepted.err}`)
      return { applied, rounds }
    }
    const commands = commandsIn(shown.out)
    await applyAll(stage, notes, named(commands, tipCommands), applied, report)
    await untilCredited(stage, truth)
    await applyAll(stage, notes, named(commands, otherCommands), applied, report)
  }
  throw new Error(
    `differences are left after ${roundsMax} rounds: ${(await run(stage, ['restore-check'])).out}`,
  )
}

const nameOf = ([name = '']: readonly string[]): string => name

/** The commands that the lines end with, each once. */
function commandsIn(text: string): string[][] {
  const lines = [...text.matchAll(/ {2}-> (.+)$/gm)].map(([, command = '']) => command)
  const commands = [...new Set(lines)].map((line) => line.split(' '))
  const known = [...tipCommands, ...otherCommands]
  const odd = commands.find((command) => !known.includes(nameOf(command)) || command[1] === 'show')
  if (odd !== undefined) throw new Error(`restore-check says: ${text}`)
  return commands
}

function named(commands: readonly string[][], names: readonly string[]): string[][] {
  return names.flatMap((name) => commands.filter((command) => nameOf(command) === name))
}

async function applyAll(
  stage: Stage,
  notes: Notes,
  commands: readonly string[][],
  applied: Record<string, number>,
  report: Report,
): Promise<void> {
  let said = Date.now()
  for (const [index, command] of commands.entries()) {
    const name = nameOf(command)
    if (await apply(stage, command, notes)) applied[name] = (applied[name] ?? 0) + 1
    if (Date.now() - said < sayMs) continue
    said = Date.now()
    report(`${index + 1} of ${commands.length} commands`)
  }
}

/** First the plan, as a careful person does. False: it is refused for now, and comes again in the next round. */
async function apply(stage: Stage, command: readonly string[], notes: Notes): Promise<boolean> {
  if (nameOf(command) === 'find-uncredited') return (await run(stage, command)).code === 0
  const [, , subject = ''] = command
  const tip = notes.tips.get(subject.replace('-', '_')) ?? 'nobody'
  const known = command.map((word) => (word === '<id>' ? tip : word))
  const plan = await run(stage, known)
  const asksWhose = plan.err.includes('--creator')
  if (plan.code !== 0 && !asksWhose) return false
  const whose = asksWhose ? ['--creator', notes.withdrawals.get(subject) ?? 'nobody'] : []
  return (await run(stage, [...known, ...whose, '--apply', '--confirm', subject, ...why])).code === 0
}

async function run(stage: Stage, [name = '', ...args]: readonly string[]) {
  for (;;) {
    const answer = await stage.commands.run(name, args)
    if (answer.code !== unavailable) return answer
    await sleep(pollMs)
  }
}

/** Until verifier and settlement have credited every tip that landed and every naira payment. */
async function untilCredited({ db, sandbox: { chain, fiatpay } }: Stage, { landed }: Truth): Promise<void> {
  const signatures = [...landed.keys()]
  const payments = fiatpay.charges.all().flatMap((charge) => charge.payments.map(({ id }) => `fiatpay:${id}`))
  const isCredited = async (): Promise<boolean> => {
    chain.advance(finalSlots)
    await makeDue(db, 'tips', 'finalized_at is null and id = any(?::text[])', [signatures])
    await makeDue(
      db,
      'fiat_intents',
      'not exists (select from fiat_payments where intent_id = fiat_intents.id)',
    )
    const final = await db('tips').whereIn('id', signatures).whereNotNull('finalized_at')
    const booked = await db('ledger_transfers').whereIn('idem', payments)
    return final.length === signatures.length && booked.length === payments.length
  }
  if (!(await waitUntil(isCredited, creditMs))) throw new Error('what was recorded is not credited')
}
