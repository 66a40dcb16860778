import { ProviderError } from '../../kernel/provider-error.js'
import { namedOrigin } from '../../kernel/trace-context.js'
import type { SendingKind } from '../../outgoing/kind.js'
import { query } from '../../platform/database/database.js'
import type { PayoutSender } from '../../ports/payout-sender.js'
import type { Services } from '../../services.js'
import { type BankAccount, openAccount, resolvedContext, sealName } from '../bank-account.js'
import { nameHash } from '../request/identity-hold.js'
import type { LockedWithdrawal } from '../withdrawal.js'
import { withdrawalKind } from '../withdrawal-kind.js'
import { type DuePayout, mayLeave, payoutQueue } from '../work-queue.js'
import { holdForDebt, payoutLimits, waitForLimits } from './hold-back.js'

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
    async prepare(payout) {
      if (await holdForDebt(services, payout)) return undefined
      const account = { bankCode: payout.bankCode, ...openAccount(config, payout) }
      const [recipient] = await Promise.all([
        payout.recipient ?? createRecipient(services, payout, account),
        recordAccountName(services, payout, account),
      ])
      return () =>
        sender.send({
          reference: payout.providerReference,
          amountKobo: payout.netKobo,
          recipient,
          narration: `Withdrawal ${payout.reference}`,
        })
    },
    holdBack: limits.length === 0 ? undefined : (uow, payout) => waitForLimits(services, uow, payout, limits),
    onAccepted({ waitedSeconds }, sinceTaken) {
      if (waitedSeconds !== null) metrics.withdrawalSendSeconds.observe(waitedSeconds + sinceTaken)
    },
  }
}

async function createRecipient(
  { db, sender }: Needs,
  payout: DuePayout,
  account: BankAccount,
): Promise<string> {
  const code = await sender.createRecipient(account).catch((error: unknown) => {
    throw error instanceof ProviderError ? error : new ProviderError('unavailable', 'unexpected error')
  })
  await query(db, {
    name: 'payouts.recipient',
    text: 'update withdrawals set recipient_code = $2 where id = $1',
    values: [payout.id, code],
  })
  return code
}

/** Records the account's name at the bank, for operators and the limits of one name. A different name or no answer does not stop the payout. */
async function recordAccountName(
  { db, config, payouts, log }: Needs,
  payout: DuePayout,
  account: BankAccount,
): Promise<void> {
  if (payout.nameKnown) return
  const { id, reference } = payout
  try {
    const name = await payouts.resolveAccountName(account)
    await query(db, {
      name: 'payouts.account-name',
      text: 'update withdrawals set sealed_resolved_name = $2, name_hash = $3 where id = $1',
      values: [id, sealName(config, resolvedContext(reference), name), nameHash(config, name)],
    })
  } catch (error) {
    log.debug(
      { err: error, reference, ...namedOrigin(payout) },
      'the provider did not return the name of a bank account',
    )
  }
}
