import { ProviderError } from '../../kernel/provider-error.js'
import { namedOrigin } from '../../kernel/trace-context.js'
import type { SendingKind } from '../../outgoing/kind.js'
import { write } from '../../platform/database/database.js'
import type { PayoutSender } from '../../ports/payout-sender.js'
import type { Services } from '../../services.js'
import { type BankAccount, openAccount, resolvedContext, sealName } from '../bank-account.js'
import { nameHash } from '../request/identity-hold.js'
import type { LockedWithdrawal } from '../withdrawal.js'
import { withdrawalKind } from '../withdrawal-kind.js'
import { type DuePayout, mayLeave, payoutQueue } from '../work-queue.js'
import { holdForDebt, payeeColumns, payoutLimits, waitForLimits } from './hold-back.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log' | 'payouts'> & {
  readonly sender: PayoutSender
}

export function payoutKind(services: Needs): SendingKind<DuePayout, LockedWithdrawal> {
  const { config, metrics, sender } = services
  const limits = payoutLimits(config.payouts)
  return {
    ...withdrawalKind(services),
    toSend: payoutQueue(config.payouts),
    mayLeave,
    learns: payeeColumns,
    async prepare(payout) {
      if (await holdForDebt(services, payout)) return undefined
      const { recipient, learned } = await preparePayee(services, payout)
      const request = () =>
        sender.send({
          reference: payout.providerReference,
          amountKobo: payout.netKobo,
          recipient,
          narration: `Withdrawal ${payout.reference}`,
        })
      return { request, learned }
    },
    holdBack:
      limits.length === 0
        ? undefined
        : (uow, payout, learned) => waitForLimits(services, uow, payout, limits, learned),
    onAccepted({ waitedSeconds }, sinceTaken) {
      if (waitedSeconds !== null) metrics.withdrawalSendSeconds.observe(waitedSeconds + sinceTaken)
    },
  }
}

/** The recipient at the provider, and what was learned: it, and the account's name at the bank, for operators and the limits of one name. */
async function preparePayee(services: Needs, payout: DuePayout) {
  const { db, config } = services
  const { id, reference, bankCode, recipient, nameKnown } = payout
  const account = { bankCode, ...openAccount(config, payout) }
  const [made, found] = await Promise.allSettled([
    recipient ?? createRecipient(services, account),
    nameKnown ? undefined : resolveName(services, payout, account),
  ])
  const name = found.status === 'fulfilled' ? found.value : undefined
  const sealedName = name === undefined ? null : sealName(config, resolvedContext(reference), name)
  const hash = name === undefined ? null : nameHash(config, name)
  if (made.status === 'fulfilled') return { recipient: made.value, learned: [made.value, sealedName, hash] }
  // Nothing is sent, and operators ask whose account it is.
  await write(db, {
    name: 'payouts.name',
    text: /* sql */ `
      update withdrawals set sealed_resolved_name = coalesce($2, sealed_resolved_name), name_hash = coalesce($3, name_hash)
      where id = $1`,
    values: [id, sealedName, hash],
  })
  throw made.reason
}

function createRecipient({ sender }: Needs, account: BankAccount): Promise<string> {
  return sender.createRecipient(account).catch((error: unknown) => {
    throw error instanceof ProviderError ? error : new ProviderError('unavailable', 'unexpected error')
  })
}

/** The account's name at the bank. A different name or no answer does not stop the payout. */
async function resolveName(
  { payouts, log }: Needs,
  payout: DuePayout,
  account: BankAccount,
): Promise<string | undefined> {
  try {
    return await payouts.resolveAccountName(account)
  } catch (error) {
    log.debug(
      { err: error, reference: payout.reference, ...namedOrigin(payout) },
      'the provider did not return the name of a bank account',
    )
    return undefined
  }
}
