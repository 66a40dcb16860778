import type { Composed } from '../../../src/compose.js'
import { displayText, usdcText } from '../../../src/kernel/money.js'
import { solMint, usdc } from '../../../src/kernel/tokens.js'
import { rentExemptLamports } from '../../../src/ports/chain.js'
import { adoptSweep } from '../../../src/treasury/sweeps/adopt-sweep.js'
import { type CustodyView, viewCustody } from '../../../src/treasury/sweeps/custody-overview.js'
import { groupParts, type PlannedPart, partsOf } from '../../../src/treasury/sweeps/plan-sweeps.js'
import { declareDead } from '../../../src/treasury/sweeps/steps.js'
import { listLostSweeps, listSweeps, lostDays, type SweepRow } from '../../../src/treasury/sweeps/sweep.js'
import { readKeyPair } from '../support/chain/key-pair.js'
import { explainMove, readLandedMove } from '../support/chain/landed-move.js'
import {
  defineCommand,
  defineOptions,
  finalOptions,
  givenOption,
  type Outcome,
  type Values,
} from '../support/command.js'
import { applyHint, type Order, RefusedError, UsageError } from '../support/order.js'
import { withServices } from '../support/services.js'
import { createProgress } from '../support/text.js'
import { lamportsPerSweep, type SweepResult, SweepRun } from '../support/treasury/sweep-run.js'

const options = defineOptions(finalOptions, {
  '--payer <file>':
    'key pair file of the Solana command line; it pays about 0.00004 SOL for each transaction',
  '--declare-dead <sweep>': 'the id, as listed',
  '--adopt <signature>': 'the signature of the transaction, as restore-check lists it',
  '--confirm <sweep>': 'the id or signature once more; required with --declare-dead and --adopt',
  '--reason <text>': 'why, for the audit log; required with --declare-dead and --adopt',
})

/** Moves USDC that creators were paid for from their custody wallets to the treasury. */
const usage = `npm run ops -- sweep
npm run ops -- sweep --apply --payer <file>
npm run ops -- sweep --declare-dead <sweep> [--apply --confirm <sweep> --reason <text>]
npm run ops -- sweep --adopt <signature> [--apply --confirm <signature> --reason <text>]

Shows each creator's USDC by the book of custody and on the chain, sweeps under way and those of ${lostDays} days that moved nothing, and what
may go to TREASURY_WALLET: what the creator's withdrawals have paid for. With --apply it sweeps that, about six creators in one
transaction: it plans, the custodian signs, it adds the payer's signature, submits, and waits until each sweep is final. Killed or run
twice, nothing moves twice; run it again with the same payer and it goes on. Never swept: unattributed USDC (sent to the wallet directly), and the wallet of a creator where the chain has less
than the book. One bad account does not stop the others: it is left out and listed.

--declare-dead ends a sweep that can no longer land, when the only RPC endpoint does not know it. Look the signature up elsewhere
first: if it landed after all, the books are wrong. It is refused while a custody wallet holds less than the book.

--adopt books a sweep that is final on the chain and that a restore has lost.

Exit code 4: an account was left out, the chain has less than a book, or a sweep waits for a person.`

type Given = Values<typeof options>

async function readViews(services: Composed): Promise<CustodyView[]> {
  const say = createProgress()
  return viewCustody(services, (done, of) => say(`${done} of ${of} wallets read`))
}

async function show(services: Composed): Promise<Outcome> {
  const views = await readViews(services)
  const open = await listSweeps(services.db)
  const lost = await listLostSweeps(services.db)
  const parts = partsOf(views)
  const groups = groupParts(services, services.config.tips.treasuryWallet, parts)
  const plan = `${usdcText(sum(parts))} of ${parts.length} creators in ${groups.length} sweeps`
  return {
    ok: !hasProblem(views, open),
    text: [
      ...views.filter(isWorthShowing).map(lineOf),
      ...[...open, ...lost].map(sweepLine),
      parts.length === 0 ? 'nothing to sweep' : `${plan}: not swept yet; ${applyHint}`,
      ...keptLine(services),
    ].join('\n'),
    json: { applied: false, creators: views.map(jsonOf), sweeps: [...open, ...lost].map(sweepJson) },
  }
}

/** `owed` is more than a creator's balance, and the plan would not say why. */
function keptLine({ config }: Composed): string[] {
  const { sweepAfterHours } = config.treasury
  return sweepAfterHours === 0
    ? []
    : [`owed includes what withdrawals of the last ${sweepAfterHours} hours have paid (SWEEP_AFTER_HOURS)`]
}

function hasProblem(views: readonly CustodyView[], open: readonly SweepRow[]): boolean {
  return (
    views.some(({ shortage, fault }) => shortage > 0n || (fault !== undefined && fault !== 'closed')) ||
    open.some(({ undecided }) => undecided)
  )
}

const isWorthShowing = ({ final, onChain }: CustodyView): boolean => final > 0n || onChain > 0n

function lineOf(view: CustodyView): string {
  const { userId, wallet, final, swept, takenOut, inFlight, onChain, owed, sweepable, unattributed } = view
  const text = (units: bigint): string => displayText(units, usdc.decimals)
  const book = final - swept - takenOut
  const parts = [
    `book ${text(book)}`,
    `chain ${text(onChain)}`,
    `owed ${text(owed)}`,
    `in flight ${text(inFlight)}`,
    `sweepable ${text(sweepable)}`,
    `unattributed ${text(unattributed)}`,
  ]
  return `${userId}  ${wallet}  ${parts.join('  ')}${problemOf(view)}`
}

function problemOf({ shortage, fault, final }: CustodyView): string {
  if (shortage > 0n) return `  SHORT by ${usdcText(shortage)}`
  return fault === undefined || (fault === 'closed' && final === 0n) ? '' : `  ${fault.toUpperCase()}`
}

function jsonOf({ userId, wallet, fault, ...units }: CustodyView) {
  const { mint: _, ...amounts } = units
  return { userId, wallet, fault: fault ?? null, ...amounts }
}

function sweepLine({
  id,
  state,
  creators,
  units,
  signature,
  undecided,
  failure,
  lastError,
}: SweepRow): string {
  const why = undecided ? 'WAITS FOR A PERSON: see --declare-dead' : (failure ?? lastError ?? '')
  return `sweep ${id}  ${state}  ${usdcText(units)} of ${creators} creators  ${signature ?? ''}  ${why}`.trimEnd()
}

function sweepJson({ id, state, creators, units, signature, undecided, failure }: SweepRow) {
  return { id, state, creators, units, signature, undecided, failure }
}

const sum = (parts: readonly PlannedPart[]): bigint => parts.reduce((total, { amount }) => total + amount, 0n)

async function apply(services: Composed, file: string, order: Order): Promise<Outcome> {
  const payer = readKeyPair(file)
  const address = payer.publicKey.toBase58()
  const views = await readViews(services)
  const parts = partsOf(views)
  await requireAccounts(services, address, groupParts(services, address, parts).length)
  const result = await new SweepRun(services, payer, order, parts).run()
  return present(views, result)
}

/** What would fail every sweep: a payer without SOL, a treasury that cannot be paid. */
async function requireAccounts(
  { custodyChain, config }: Composed,
  payer: string,
  sweeps: number,
): Promise<void> {
  const treasury = config.tips.treasuryWallet
  const [sol, account] = await custodyChain.readSources(
    [
      { wallet: payer, mint: solMint },
      { wallet: treasury, mint: usdc.mint },
    ],
    'confirmed',
  )
  if (account?.fault !== undefined)
    throw new RefusedError(`the treasury's USDC account is ${account.fault}: npm run ops -- setup-treasury`)
  const needed = rentExemptLamports + lamportsPerSweep * BigInt(sweeps)
  if (sweeps > 0 && (sol?.amount ?? 0n) < needed)
    throw new RefusedError(`payer ${payer} has ${sol?.amount ?? 0n} lamports, and needs ${needed}`)
}

function present(views: readonly CustodyView[], { sweeps, excluded }: SweepResult): Outcome {
  const final = sweeps.filter(({ state }) => state === 'final')
  const swept = final.reduce((total, { units }) => total + units, 0n)
  const short = views.filter(({ shortage }) => shortage > 0n)
  const undecided = sweeps.filter((sweep) => sweep.undecided)
  return {
    ok: excluded.length === 0 && short.length === 0 && undecided.length === 0,
    text: [
      ...sweeps.map(sweepLine),
      ...excluded.map(({ userId, reason }) => `left out: creator ${userId}: ${reason}`),
      ...short.map(lineOf),
      `${usdcText(swept)} swept in ${final.length} sweeps`,
    ].join('\n'),
    json: { applied: true, swept, sweeps: sweeps.map(sweepJson), excluded, short: short.map(jsonOf) },
  }
}

async function declare(services: Composed, id: string, order: Order): Promise<Outcome> {
  const sweep = (await listSweeps(services.db, isUuid(id) ? [id] : [])).find((one) => one.id === id)
  if (sweep === undefined) throw new RefusedError(`there is no sweep ${id}`)
  if (!order.apply)
    return { text: order.tell(sweepLine(sweep), 'declared dead'), json: { applied: false, id } }
  const reason = order.confirmed('--declare-dead', id)
  const { signature, units } = sweep
  const fault = await declareDead(services, sweep, `declared dead: ${reason}`, (trx) =>
    order.audit(trx, 'sweep declare-dead', `sweep:${id}`, { signature, units }),
  )
  if (fault !== undefined) throw new RefusedError(fault)
  return { text: `sweep ${id}: dead; everything is in custody again`, json: { applied: true, id } }
}

export async function adoptLostSweep(services: Composed, signature: string, order: Order): Promise<Outcome> {
  order.confirmed('--adopt', signature)
  const move = await readLandedMove(services, signature, 'sweep')
  const units = move.moves.reduce((total, { amount }) => total + amount, 0n)
  if (order.apply)
    await services
      .transact(async (uow) => {
        const id = await adoptSweep(uow, move, order.by)
        await order.audit(uow.trx, 'sweep adopt', `sweep:${id}`, { signature, units })
      })
      .catch(explainMove)
  const line = `sweep ${signature}: ${usdcText(units)} of ${move.moves.length} creators`
  return {
    text: order.tell(line, 'adopted'),
    json: { applied: order.apply, signature, units, creators: move.moves.map(({ userId }) => userId) },
  }
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

function run(values: Given, order: Order): Promise<Outcome> {
  const { payer, 'declare-dead': dead, adopt: lost } = values
  givenOption(values, ['payer', 'declare-dead', 'adopt'])
  if (order.apply && payer === undefined && dead === undefined && lost === undefined)
    throw new UsageError('--apply needs --payer <file>: the key pair that pays the fees')
  return withServices('ops sweep', (services) => {
    if (lost !== undefined) return adoptLostSweep(services, lost, order)
    if (dead !== undefined) return declare(services, dead, order)
    return order.apply && payer !== undefined ? apply(services, payer, order) : show(services)
  })
}

export const command = await defineCommand(import.meta, { usage, amounts: 'micro-USDC', options, run })
