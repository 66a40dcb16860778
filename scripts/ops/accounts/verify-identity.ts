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

/** What would be sent or given back, or with --apply what was. */
async function change(
  services: Composed,
  { id }: User,
  held: readonly HeldWithdrawal[],
  refuse: boolean,
  order: Order,
): Promise<readonly Changed[]> {
  const { db, transact, config } = services
  if (!order.apply)
    return refuse ? held : Promise.all(held.map((one) => planRelease(db, config.withdrawals, one)))
  order.confirmed('--apply', id)
  const asked = await askIfOld(
    services,
    held.map((one) => one.id),
  )
  return transact(async (uow) => {
    const changed: Changed[] = refuse
      ? await refuseIdentity(uow, config, id, { reason: failureReason, asked })
      : await verifyIdentity(uow, config, id, asked)
    const references = changed.map(({ reference }) => reference)
    const action = refuse ? 'verify-identity refuse' : 'verify-identity'
    await order.audit(uow.trx, action, `user:${id}`, { references })
    return changed
  })
}

/** What happens to one withdrawal. */
function outcomeOf({ givenBack = false, awaitsConfirmation = false }: Changed, refuse: boolean): string {
  if (givenBack) return 'given back, too little to send at the current rate'
  if (awaitsConfirmation) return 'held until its creator confirms it'
  return refuse ? 'given back' : 'sent'
}

/** What happens to the creator: as a plan, and as a result. */
function endingOf(refuse: boolean, applied: boolean): string {
  const later = refuse ? 'later withdrawals are held as before' : 'later withdrawals are not held'
  if (!applied) return `would be ${refuse ? 'refused' : 'verified'}: ${later}; ${applyHint}`
  return `${refuse ? 'refused' : 'verified now'}: ${later}`
}

function run({ user: named, refuse = false }: Given, order: Order): Promise<Outcome> {
  return withServices('ops verify-identity', async (services) => {
    const user = await findUser(services.db, named)
    const { id: userId, email, identityVerifiedAt: at } = user
    const headline = `${email} (${userId}): ${at === null ? 'not verified' : `verified ${at.toISOString()}`}`
    const all = await listAllHeld(services.db, userId)
    const held = all.filter(({ sendState }) => sendState === 'identity_hold')
    // Those that wait for their creator only. This command does not change them.
    const confirming = all
      .filter(({ sendState }) => sendState === 'confirmation_hold')
      .map(
        ({ reference, netKobo }) =>
          `${reference}  ${nairaText(netKobo)}  waits until its creator confirms it, whatever happens here`,
      )
    const json = { refused: refuse, userId }
    if (held.length === 0 && refuse && at !== null)
      throw new RefusedError(
        `${headline}; no withdrawal waits that could be given back, and a verification cannot be taken back`,
      )
    if (held.length === 0 && (refuse || at !== null)) {
      const text = [headline, ...confirming, 'no withdrawal waits for the identity: nothing to do'].join('\n')
      return { text, json: { applied: false, ...json, withdrawals: [] } }
    }
    if (!refuse) await new ExchangeRates(services).refresh()
    const changed = await change(services, user, held, refuse, order)
    const withdrawals = changed.map(({ reference, netKobo, promisedKobo = netKobo }) => ({
      reference,
      netKobo,
      promisedKobo,
    }))
    const lines = changed.map((one) => {
      const { reference, netKobo, promisedKobo = netKobo } = one
      const promised = promisedKobo === netKobo ? '' : ` (promised ${nairaText(promisedKobo)})`
      return `${reference}  ${nairaText(netKobo)}${promised}  ${order.apply ? '' : 'would be '}${outcomeOf(one, refuse)}`
    })
    const text = [headline, ...lines, ...confirming, endingOf(refuse, order.apply)].join('\n')
    return { text, json: { applied: order.apply, ...json, withdrawals } }
  })
}

export const command = await defineCommand(import.meta, { usage, amounts: 'kobo', options, run })
