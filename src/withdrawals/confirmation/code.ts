import { createHmac } from 'node:crypto'
import {
  codePattern,
  confirmationCodes,
  newCode,
  sameCode,
} from '../../accounts/one-time-codes/one-time-code.js'
import { createNotMeLink, notMeBlocks } from '../../accounts/owner-mails/notify-owner.js'
import type { WithdrawalFacts } from '../../accounts/owner-mails/withdrawal-notices.js'
import { readRecentChanges } from '../../accounts/recent-changes.js'
import { type DomainError, refusedFor } from '../../kernel/errors.js'
import { maskAccount } from '../../kernel/text.js'
import { emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { describeWithdrawal, type MailedWithdrawal } from '../mail-creator.js'
import type { ConfirmationReason } from '../withdrawal.js'

type Settings = Pick<Config, 'http' | 'otpPepper'>

/** What a code confirms. */
export interface ConfirmedWithdrawal extends MailedWithdrawal {
  readonly id: string
  readonly debitMicro: bigint
  /** Null only of one that needs no code. */
  readonly accountHash: Buffer | null
  readonly confirmationReason: ConfirmationReason | null
}

/** The stored form of a code. It is another one for another amount, bank or account. */
function codeHmac(
  { otpPepper }: Settings,
  { reference, debitMicro, netKobo, accountHash }: ConfirmedWithdrawal,
  code: string,
): Buffer {
  const bound = [reference, debitMicro, netKobo, accountHash?.toString('hex'), code]
  return createHmac('sha256', otpPepper)
    .update(`withdrawal/1|${bound.join('|')}`)
    .digest()
}

/**
 * Mails a new code, which replaces the one before. It goes to the address that codes for money go to. False: the account has
 * had too many codes in the last 24 hours. The caller makes sure that one account's codes are made one after the other.
 */
export async function mailCode(
  uow: UnitOfWork,
  settings: Settings,
  withdrawal: ConfirmedWithdrawal,
): Promise<boolean> {
  const code = newCode()
  const [made] = await query<{ expiresAt: Date }>(uow.trx, {
    name: 'withdrawal-codes.make',
    text: /* sql */ `
      with old as (
        delete from withdrawal_codes where user_id = $1 and created_at < clock_timestamp() - interval '24 hours')
      insert into withdrawal_codes (user_id, withdrawal_id, code_hmac, expires_at)
      select $1, $2, $3, clock_timestamp() + $4::int * interval '1 minute'
       where $5 > (select count(*) from withdrawal_codes
                    where user_id = $1 and created_at >= clock_timestamp() - interval '24 hours')
      returning expires_at as "expiresAt"`,
    values: [
      withdrawal.userId,
      withdrawal.id,
      codeHmac(settings, withdrawal, code),
      confirmationCodes.minutes,
      confirmationCodes.mostADay,
    ],
  })
  if (made === undefined) return false
  const { moneyEmail } = await readRecentChanges(uow.trx, withdrawal.userId)
  const described = await describeWithdrawal(uow, withdrawal)
  const notMe = await createNotMeLink(uow, settings.http.publicUrl, withdrawal.userId)
  await queueEmail(uow, {
    kind: 'withdrawal-code',
    to: moneyEmail,
    expiresAt: made.expiresAt,
    ...codeMail(settings, described, withdrawal.confirmationReason, { code, notMe }),
  })
  return true
}

/** The refusal of another code. It says when the account may have one. */
export async function tooManyCodes({ trx }: UnitOfWork, userId: string): Promise<DomainError> {
  const [row] = await query<{ seconds: number }>(trx, {
    name: 'withdrawal-codes.next',
    text: /* sql */ `
      select greatest(1, ceil(extract(epoch from min(created_at) + interval '24 hours' - clock_timestamp())))::int as seconds
      from withdrawal_codes where user_id = $1 and created_at >= clock_timestamp() - interval '24 hours'`,
    values: [userId],
  })
  return refusedFor('too_many_requests', row?.seconds ?? 1)
}

const reasons: Readonly<Record<ConfirmationReason, string>> = {
  new_account: 'No withdrawal of yours has gone to this account before.',
  recent_change: 'Your e-mail address or a second factor was changed in the last three days.',
  new_client: 'It was asked for on a device and from a network that you have not withdrawn from before.',
}

/** It does not contain the name of the account's holder, which whoever asks for the withdrawal chooses. */
function codeMail(
  { http }: Settings,
  { amount, bank, lastFour, reference }: WithdrawalFacts,
  confirmationReason: ConfirmationReason | null,
  { code, notMe }: { readonly code: string; readonly notMe: string },
) {
  const site = new URL(http.publicUrl).host
  return emailLayout({
    subject: `Confirm your withdrawal from ${site}`,
    blocks: [
      `Somebody, most likely you, wants to withdraw ${amount} from ${site} to ${bank} ${maskAccount(lastFour)}. Its reference is ${reference}.`,
      `${confirmationReason === null ? '' : `${reasons[confirmationReason]} `}So nothing is sent before you confirm it. If you want exactly this, enter this code there:`,
      { standout: code },
      `It is valid for ${confirmationCodes.minutes} minutes and works once; the page mails you a new one. Never give it to anybody: we never ask for it.`,
      'If it was not you, enter the code nowhere: nothing leaves without it.',
      ...notMeBlocks(notMe),
    ],
  })
}

/**
 * Whether a code is the newest one of a withdrawal. A wrong one counts before it is compared, and five void the code. The
 * caller holds the withdrawal's lock and commits the count.
 */
export async function checkCode(
  { trx }: UnitOfWork,
  settings: Settings,
  withdrawal: ConfirmedWithdrawal,
  code: string,
): Promise<boolean> {
  if (!codePattern.test(code)) return false
  const [newest] = await query<{ codeHmac: Buffer }>(trx, {
    name: 'withdrawal-codes.count',
    text: /* sql */ `
      update withdrawal_codes set failures = failures + 1
       where id = (select max(id) from withdrawal_codes where withdrawal_id = $1)
         and failures < $2 and expires_at > clock_timestamp()
      returning code_hmac as "codeHmac"`,
    values: [withdrawal.id, confirmationCodes.mostFailures],
  })
  return newest !== undefined && sameCode(newest.codeHmac, codeHmac(settings, withdrawal, code))
}
