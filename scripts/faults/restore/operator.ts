import { setTimeout as sleep } from 'node:timers/promises'
import { makeDue } from '../world/settle.js'
import type { Stage } from '../world/stage.js'
import type { Truth } from '../world/truth.js'

interface Adoption {
  readonly adopted: number
  readonly rounds: number
}

const roundsMax = 8
const pollMs = 250
const finalSlots = 40
const unavailable = 5
const unconfirmed = 3
const why = ['--reason', 'drill', '--as', 'operator']

interface OperatorContext {
  readonly stage: Stage
  /** Of it the operator knows what people outside can tell: whose withdrawal and whose tip it was. */
  readonly truth: Truth
  readonly report: (text: string) => void
}

interface Plan {
  readonly steps: readonly string[]
  readonly left: readonly string[]
  readonly hash: string
}

/**
 * Adopts what `restore-check --adopt-all` plans until nothing is left, and accepts the restore. It knows nothing else but what people
 * tell. Throws when something needs more than that, or a difference does not go away.
 */
export async function followRestoreCheck(
  { stage, truth, report }: OperatorContext,
  beforeAccepting: () => void,
): Promise<Adoption> {
  let adopted = 0
  for (let rounds = 1; rounds <= roundsMax; rounds++) {
    const plan: Plan = JSON.parse((await run(stage, ['restore-check', '--adopt-all', '--json'])).out)
    const { steps, left, hash } = plan
    report(`restore-check: ${steps.length} to adopt, ${left.length} for a person`)
    if (steps.length + left.length === 0) {
      beforeAccepting()
      const accepted = await run(stage, ['restore-check', '--apply', '--confirm', '0', ...why])
      if (accepted.code !== 0) throw new Error(`it was not accepted: ${accepted.out}${accepted.err}`)
      return { adopted, rounds }
    }
    const all = ['restore-check', '--adopt-all', '--apply', '--confirm', hash, '--json', ...why]
    const answer = await whileCredited(stage, truth, run(stage, all))
    // Settlement may have credited something meanwhile: then there is another plan.
    if (answer.code === unconfirmed) continue
    adopted += Number(JSON.parse(answer.out).adopted)
    for (const line of left) adopted += await adoptNamed(stage, truth, line)
  }
  throw new Error(
    `differences are left after ${roundsMax} rounds: ${(await run(stage, ['restore-check'])).out}`,
  )
}

/** Adopts what only lacks its creator. */
async function adoptNamed(stage: Stage, truth: Truth, line: string): Promise<number> {
  const subject = /^(\S+): /.exec(line)?.[1] ?? ''
  if (!line.includes('--creator')) throw new Error(`restore-check leaves to a person: ${line}`)
  const isPayout = subject === subject.toUpperCase()
  const told = isPayout
    ? truth.withdrawals.find(({ reference }) => reference === subject)
    : truth.naira.get(subject.replace('-', '_'))
  const whose = ['--creator', told?.userId ?? 'nobody', '--apply', '--confirm', subject, ...why]
  const { code } = await run(stage, [isPayout ? 'payouts' : 'collections', 'adopt', subject, ...whose])
  return code === 0 ? 1 : 0
}

async function run(stage: Stage, [name = '', ...args]: readonly string[]) {
  for (;;) {
    const answer = await stage.commands.run(name, args)
    if (answer.code !== unavailable) return answer
    await sleep(pollMs)
  }
}

/** While a command waits for verifier and settlement, time passes for them. */
async function whileCredited<Answer>(
  { db, sandbox: { chain } }: Stage,
  { landed }: Truth,
  command: Promise<Answer>,
): Promise<Answer> {
  let ended = false
  const answer = command.finally(() => {
    ended = true
  })
  while (!ended) {
    chain.advance(finalSlots)
    await makeDue(db, 'tips', 'finalized_at is null and id = any(?::text[])', [[...landed.keys()]])
    await makeDue(
      db,
      'fiat_intents',
      'not exists (select from fiat_payments where intent_id = fiat_intents.id)',
    )
    await sleep(pollMs)
  }
  return answer
}
