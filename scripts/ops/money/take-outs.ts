import type { Composed } from '../../../src/compose.js'
import { displayText } from '../../../src/kernel/money.js'
import { type Token, tokenByMint } from '../../../src/kernel/tokens.js'
import { giveBack, listSigned } from '../../../src/treasury/take-outs/give-back.js'
import type { TakeOut } from '../../../src/treasury/take-outs/take-out.js'
import {
  actorOf,
  applyHint,
  defineCommand,
  finalOptions,
  type Outcome,
  optionsHelp,
  RefusedError,
  requireConfirmation,
  runAsProgram,
  type Values,
} from '../support/command.js'
import { recordAudit } from '../support/record-audit.js'
import { withServices } from '../support/with-services.js'

/** Lists the take-outs that are signed and not at their end, and gives one back that never landed. */
const help = `npm run ops -- take-outs
npm run ops -- take-outs --give-back <id> [--apply --confirm <id> --reason <text>]

Lists what creators take out of their custody wallets: signed, and not at its end. It ends by itself when it is final, failed, or
certainly never landed. With one RPC endpoint nobody can be certain: it waits for you.

--give-back ends one that can no longer land and that the endpoint does not know. Look the signature and the custody wallet up
elsewhere first: if it landed after all, the creator has the tokens twice.

Exit code 4: a take-out waits for a person.

${optionsHelp({
  '--give-back <id>': 'the id, as listed',
  '--confirm <id>': 'the id once more; required with --apply',
})}`

const options = { ...finalOptions, 'give-back': { type: 'string' } } as const

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
  return {
    id,
    userId,
    mint,
    amount: String(amount),
    payoutWallet,
    signature,
    undecided: undecidedAt !== null,
  }
}

async function show(services: Composed): Promise<Outcome> {
  const signed = await listSigned(services)
  return {
    ok: signed.every(({ undecidedAt }) => undecidedAt === null),
    text: signed.length === 0 ? 'no take-out is under way' : signed.map(lineOf).join('\n'),
    json: { applied: false, takeOuts: signed.map(jsonOf) },
  }
}

async function decide(services: Composed, id: string, given: Given): Promise<Outcome> {
  const takeOut = (await listSigned(services)).find((one) => one.id === id)
  if (takeOut === undefined) throw new RefusedError(`no signed take-out ${id}`)
  if (given.apply !== true)
    return { text: `${lineOf(takeOut)}: not given back yet; ${applyHint}`, json: { applied: false, id } }
  const reason = requireConfirmation('--give-back', id, given)
  const actor = actorOf(given)
  const fault = await giveBack(services, takeOut, `given back: ${reason}`, async (trx) => {
    const details = { reason, signature: takeOut.signature, amount: amountOf(takeOut) }
    await recordAudit(trx, { actor, action: 'take-outs give-back', subject: `take-out:${id}`, details })
  })
  if (fault !== undefined) throw new RefusedError(fault)
  return { text: `take-out ${id}: expired; everything is in custody again`, json: { applied: true, id } }
}

async function run(values: Given): Promise<Outcome> {
  const id = values['give-back']
  return withServices('ops take-outs', (services) =>
    id === undefined ? show(services) : decide(services, id, values),
  )
}

export const command = defineCommand({ help, options, run })
await runAsProgram(import.meta, command)
