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
      const recipient = await prepareRecipient(services, payout, account)
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

/** The recipient at the provider. Records it, and the account's name at the bank, for operators and the limits of one name. */
async function prepareRecipient(services: Needs, payout: DuePayout, account: BankAccount): Promise<string> {
  const { id, reference, recipient, nameKnown } = payout
  const [made, name] = await Promise.allSettled([
    recipient ?? createRecipient(services, account),
    nameKnown ? undefined : resolveName(services, payout, account),
  ])
  const code = made.status === 'fulfilled' ? made.value : null
  const resolved = name.status === 'fulfilled' ? name.value : undefined
  if (code !== recipient || resolved !== undefined)
    await query(services.db, {
      name: 'payouts.recipient',
      text: /* sql */ `
        update withdrawals set recipient_code = coalesce($2, recipient_code),
          sealed_resolved_name = coalesce($3, sealed_resolved_name), name_hash = coalesce($4, name_hash)
        where id = $1`,
      values: [
        id,
        code,
        resolved === undefined ? null : sealName(services.config, resolvedContext(reference), resolved),
        resolved === undefined ? null : nameHash(services.config, resolved),
      ],
    })
  if (made.status === 'rejected') throw made.reason
  return made.value
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
