import type { User } from '../../../src/accounts/models.js'
import type { Composed } from '../../../src/compose.js'
import { nairaText } from '../../../src/kernel/money.js'
import { ExchangeRates } from '../../../src/market/exchange-rates.js'
import {
  type HeldWithdrawal,
  listAllHeld,
  planRelease,
  type Release,
  refuseIdentity,
  verifyIdentity,
} from '../../../src/withdrawals/confirmation/release.js'
import { askIfOld } from '../../../src/withdrawals/withdrawal-kind.js'
import { defineCommand, defineOptions, finalOptions, type Outcome, type Values } from '../support/command.js'
import { applyHint, type Order, RefusedError } from '../support/order.js'
import { findUser, withServices } from '../support/services.js'

const options = defineOptions(finalOptions, {
  '--user <id|e-mail>': 'the account',
  '--refuse': 'the creator could not prove the identity',
  '--confirm <user id>': 'the user id once more, because money leaves',
  '--reason <text>': 'what you saw, for the audit log; required with --apply',
})

/** Verifies a creator's identity and sends the withdrawals that wait for it; or refuses it and gives the money back. */
const usage = `npm run ops -- accounts verify --user ada@example.com
npm run ops -- accounts verify --user <id|e-mail> [--refuse] [--apply --confirm <user id> --reason <text>]

Shows the withdrawals that wait for a creator's identity. With --apply the creator is verified: these withdrawals are
sent at the current rate, but never more than was promised, and later ones are not held. One that also needs its
creator's confirmation is sent once it has that. With --refuse --apply the creator is not verified: these withdrawals
fail, and the creator gets the money back. A verification cannot be taken back.`

type Given = Values<typeof options>

/** The creator sees this as the reason why the withdrawals failed. */
const failureReason = 'Your identity could not be verified'

/** A withdrawal to send or to give back. */
type Changed = Pick<Release, 'reference' | 'netKobo'> & Partial<Release>

async function verifyOrRefuse(
  services: Composed,
  { user, held }: { readonly user: User; readonly held: readonly HeldWithdrawal[] },
  { refuse }: Given,
  order: Order,
): Promise<Changed[]> {
  const { transact, config } = services
  const asked = await askIfOld(
    services,
    held.map(({ id }) => id),
  )
  return transact(async (uow) => {
    const changed: Changed[] = refuse
      ? await refuseIdentity(uow, config, user.id, { reason: failureReason, asked })
      : await verifyIdentity(uow, config, user.id, asked)
    const references = changed.map(({ reference }) => reference)
    const action = refuse ? 'verify-identity refuse' : 'verify-identity'
    await order.audit(uow.trx, action, `user:${user.id}`, { references })
    return changed
  })
}

/** What would be sent or given back. */
async function plan(
  { db, config }: Composed,
  held: readonly HeldWithdrawal[],
  given: Given,
): Promise<Changed[]> {
  if (given.refuse === true) return [...held]
  return Promise.all(held.map((one) => planRelease(db, config.withdrawals, one)))
}

/** What happens to each withdrawal, and to the creator: as a plan, and as a result. */
const messages = {
  verify: {
    each: 'sent',
    planned: 'would be verified: later withdrawals are not held',
    done: 'verified now: later withdrawals are not held',
  },
  refuse: {
    each: 'given back',
    planned: 'would be refused: later withdrawals are held as before',
    done: 'refused: later withdrawals are held as before',
  },
} as const

function present(
  user: User,
  held: readonly Changed[],
  confirming: readonly HeldWithdrawal[],
  given: Given,
): Outcome {
  const applied = given.apply === true
  const { each, planned, done } = messages[given.refuse ? 'refuse' : 'verify']
  const lines = held.map((one) => {
    const { reference, netKobo, promisedKobo = netKobo } = one
    const promised = promisedKobo === netKobo ? '' : ` (promised ${nairaText(promisedKobo)})`
    return `${reference}  ${nairaText(netKobo)}${promised}  ${applied ? '' : 'would be '}${outcomeOf(one, each)}`
  })
  const ending = applied ? done : `${planned}; ${applyHint}`
  return {
    text: [headline(user), ...lines, ...confirmingLines(confirming), ending].join('\n'),
    json: {
      ...jsonOf(user, given, applied),
      withdrawals: held.map(({ reference, netKobo, promisedKobo = netKobo }) => ({
        reference,
        netKobo,
        promisedKobo,
      })),
    },
  }
}

/** What happens to one withdrawal. */
function outcomeOf({ givenBack = false, awaitsConfirmation = false }: Changed, each: string): string {
  if (givenBack) return `${messages.refuse.each}, too little to send at the current rate`
  return awaitsConfirmation ? 'held until its creator confirms it' : each
}

/** Those that wait for their creator only. This command does not change them. */
function confirmingLines(confirming: readonly HeldWithdrawal[]): string[] {
  return confirming.map(
    ({ reference, netKobo }) =>
      `${reference}  ${nairaText(netKobo)}  waits until its creator confirms it, whatever happens here`,
  )
}

/** For a creator with no held withdrawal. Throws RefusedError for --refuse when the creator is verified. */
function nothingToDo(user: User, confirming: readonly HeldWithdrawal[], given: Given): Outcome {
  if (given.refuse && user.identityVerifiedAt !== null)
    throw new RefusedError(
      `${headline(user)}; no withdrawal waits that could be given back, and a verification cannot be taken back`,
    )
  const nothing = 'no withdrawal waits for the identity: nothing to do'
  const text = [headline(user), ...confirmingLines(confirming), nothing].join('\n')
  return { text, json: { ...jsonOf(user, given, false), withdrawals: [] } }
}

function headline({ email, id, identityVerifiedAt: at }: User): string {
  return `${email} (${id}): ${at === null ? 'not verified' : `verified ${at.toISOString()}`}`
}

function jsonOf({ id }: User, { refuse }: Given, applied: boolean) {
  return { applied, refused: refuse === true, userId: id }
}

function run(given: Given, order: Order): Promise<Outcome> {
  return withServices('ops verify-identity', async (services) => {
    const user = await findUser(services.db, given.user)
    const all = await listAllHeld(services.db, user.id)
    const held = all.filter(({ sendState }) => sendState === 'identity_hold')
    const confirming = all.filter(({ sendState }) => sendState === 'confirmation_hold')
    const isVerifiedOrRefused = given.refuse === true || user.identityVerifiedAt !== null
    if (held.length === 0 && isVerifiedOrRefused) return nothingToDo(user, confirming, given)
    if (given.refuse !== true) await new ExchangeRates(services).refresh()
    if (!order.apply) return present(user, await plan(services, held, given), confirming, given)
    order.confirmed('--apply', user.id)
    return present(user, await verifyOrRefuse(services, { user, held }, given, order), confirming, given)
  })
}

export const command = await defineCommand(import.meta, { usage, amounts: 'kobo', options, run })
