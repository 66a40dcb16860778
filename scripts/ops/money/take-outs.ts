import { readPayoutWallet } from '../../../src/accounts/payout-wallets/payout-wallet.js'
import type { Composed } from '../../../src/compose.js'
import { displayText, usdcText } from '../../../src/kernel/money.js'
import { type Token, tokenByMint } from '../../../src/kernel/tokens.js'
import { adoptTakeOut } from '../../../src/treasury/take-outs/adopt-take-out.js'
import { giveBack, listSigned } from '../../../src/treasury/take-outs/steps.js'
import type { TakeOut } from '../../../src/treasury/take-outs/take-out.js'
import { explainMove, readLandedMove } from '../support/chain/landed-move.js'
import {
  defineCommand,
  defineOptions,
  finalOptions,
  givenOption,
  type Outcome,
  type Values,
} from '../support/command.js'
import { type Order, RefusedError, UsageError } from '../support/order.js'
import { withServices } from '../support/services.js'

const options = defineOptions(finalOptions, {
  '--give-back <id>': 'the id, as listed',
  '--adopt <signature>': 'the signature of the transaction, as restore-check or an explorer lists it',
  '--to <wallet>': 'for --adopt: where it went, when that is not the payout wallet of the creator',
  '--confirm <id>': 'the id or signature once more; required with --apply',
})

/** Lists the take-outs that are signed and not at their end, and gives one back that never landed. */
const usage = `npm run ops -- take-outs
npm run ops -- take-outs --give-back <id> [--apply --confirm <id> --reason <text>]
npm run ops -- take-outs --adopt <signature> [--to <wallet>] [--apply --confirm <signature> --reason <text>]

Lists what creators take out of their custody wallets: signed, and not at its end. It ends by itself when it is final, failed, or
certainly never landed. With one RPC endpoint nobody can be certain: it waits for you.

--give-back ends one that can no longer land and that the endpoint does not know. Look the signature and the custody wallet up
elsewhere first: if it landed after all, the creator has the tokens twice.

--adopt books one that is final on the chain and that a restore has lost: the creator is debited, and owes what is missing. One that is
listed and landed under another signature of the payout wallet ends with it. When it went to another wallet than the creator's payout
wallet, --to must name that one: ask the creator first, because a key may be stolen.

Exit code 4: a take-out waits for a person.`

type Given = Values<typeof options>

function amountOf({ mint, amount }: TakeOut): string {
  const { symbol, decimals } = tokenByMint(mint) as Token
  return `${displayText(amount, decimals)} ${symbol}`
}

function lineOf(takeOut: TakeOut): string {
  const { id, userId, payoutWallet, signature, undecidedAt } = takeOut
  const why = undecidedAt === null ? '' : '  WAITS FOR A PERSON: see --give-back'
  return `take-out ${id}  creator ${userId}  ${amountOf(takeOut)} to ${payoutWallet}  ${signature}${why}`
}

function jsonOf({ id, userId, mint, amount, payoutWallet, signature, undecidedAt }: TakeOut) {
  return { id, userId, mint, amount, payoutWallet, signature, undecided: undecidedAt !== null }
}

async function show(services: Composed): Promise<Outcome> {
  const signed = await listSigned(services)
  return {
    ok: signed.every(({ undecidedAt }) => undecidedAt === null),
    text: signed.length === 0 ? 'no take-out is under way' : signed.map(lineOf).join('\n'),
    json: { applied: false, takeOuts: signed.map(jsonOf) },
  }
}

async function decide(services: Composed, id: string, order: Order): Promise<Outcome> {
  const takeOut = (await listSigned(services)).find((one) => one.id === id)
  if (takeOut === undefined) throw new RefusedError(`no signed take-out ${id}`)
  if (!order.apply) return { text: order.tell(lineOf(takeOut), 'given back'), json: { applied: false, id } }
  const reason = order.confirmed('--give-back', id)
  const details = { signature: takeOut.signature, amount: amountOf(takeOut) }
  const fault = await giveBack(services, takeOut, `given back: ${reason}`, (trx) =>
    order.audit(trx, 'take-outs give-back', `take-out:${id}`, details),
  )
  if (fault !== undefined) throw new RefusedError(fault)
  return { text: `take-out ${id}: expired; everything is in custody again`, json: { applied: true, id } }
}

export async function adoptLostTakeOut(
  services: Composed,
  signature: string,
  order: Order,
  to?: string,
): Promise<Outcome> {
  order.confirmed('--adopt', signature)
  const move = await readLandedMove(services, signature, 'take_out')
  const [taken] = move.moves
  if (taken === undefined) throw new Error(`${signature} takes nothing`)
  const { userId, mint, amount } = taken
  const { symbol, decimals } = tokenByMint(mint) as Token
  const payout = await readPayoutWallet(services.db, userId)
  if (move.destination !== (to ?? payout?.wallet))
    throw new RefusedError(
      `it went to ${move.destination}, and the payout wallet of creator ${userId} is ${payout?.wallet ?? 'none'}. Ask them, and ` +
        `if it is theirs add --to ${move.destination}`,
    )
  const adopted = order.apply
    ? await services
        .transact(async (uow) => {
          const { id, owedMicro } = await adoptTakeOut(uow, move)
          const details = { signature, mint, units: amount, owedMicro }
          await order.audit(uow.trx, 'take-outs adopt', `take-out:${id}`, details)
          return { id, owedMicro }
        })
        .catch(explainMove)
    : undefined
  const owed =
    adopted === undefined || adopted.owedMicro === 0n ? '' : `, who owes ${usdcText(adopted.owedMicro)} of it`
  const line = `take-out ${signature}: ${displayText(amount, decimals)} ${symbol} of creator ${userId}${owed}`
  return {
    text: order.tell(line, 'adopted'),
    json: { applied: order.apply, signature, userId, mint, amount, owedMicro: adopted?.owedMicro ?? 0n },
  }
}

async function run(values: Given, order: Order): Promise<Outcome> {
  const { adopt: lost, to } = values
  givenOption(values, ['give-back', 'adopt'])
  if (to !== undefined && lost === undefined) throw new UsageError('--to belongs to --adopt')
  if (lost !== undefined)
    return withServices('ops take-outs', (services) => adoptLostTakeOut(services, lost, order, to))
  const id = values['give-back']
  return withServices('ops take-outs', (services) =>
    id === undefined ? show(services) : decide(services, id, order),
  )
}

export const command = await defineCommand(import.meta, { usage, options, run })
