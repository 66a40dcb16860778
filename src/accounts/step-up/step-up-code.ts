import { createHmac, hash } from 'node:crypto'
import { type DomainError, refusedFor } from '../../kernel/errors.js'
import { emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { lockUserExceptSessions } from '../lock-user.js'
import { codePattern, confirmationCodes, newCode, sameCode } from '../one-time-codes/one-time-code.js'
import { readRecentChanges } from '../recent-changes.js'

type Settings = Pick<Config, 'http' | 'otpPepper'>

/** What a code confirms: exactly this request of this account. */
export interface SteppedUpRequest {
  readonly userId: string
  /** All that decides what the request does. A code of one text does not confirm another. */
  readonly bound: readonly (string | bigint)[]
  /** What the mail says somebody wants to do: "pay your tips to the wallet …". */
  readonly wish: string
}

function textOf({ userId, bound }: SteppedUpRequest): string {
  return JSON.stringify([userId, ...bound.map(String)])
}

const requestHash = (request: SteppedUpRequest): Buffer => hash('sha256', textOf(request), 'buffer')

function codeHmac({ otpPepper }: Settings, request: SteppedUpRequest, code: string): Buffer {
  return createHmac('sha256', otpPepper)
    .update(`step-up/1|${textOf(request)}|${code}`)
    .digest()
}

/**
 * Mails a code for a request, which replaces the one before for the same request. It goes to the address that codes for money
 * go to. Throws `too_many_requests` after ten codes in 24 hours.
 */
export async function mailStepUpCode(
  uow: UnitOfWork,
  settings: Settings,
  request: SteppedUpRequest,
): Promise<void> {
  const { userId, wish } = request
  // One account's codes are made one after the other, so that none is missed in the count.
  await lockUserExceptSessions(uow.trx, userId)
  const code = newCode()
  const [made] = await query<{ expiresAt: Date }>(uow.trx, {
    name: 'step-up.make',
    text: /* sql */ `
      with old as (
        delete from step_up_codes where user_id = $1 and created_at < clock_timestamp() - interval '24 hours')
      insert into step_up_codes (user_id, request_hash, code_hmac, expires_at)
      select $1, $2, $3, clock_timestamp() + $4::int * interval '1 minute'
       where $5 > (select count(*) from step_up_codes
                    where user_id = $1 and created_at >= clock_timestamp() - interval '24 hours')
      returning expires_at as "expiresAt"`,
    values: [
      userId,
      requestHash(request),
      codeHmac(settings, request, code),
      confirmationCodes.minutes,
      confirmationCodes.mostADay,
    ],
  })
  if (made === undefined) throw await tooManyCodes(uow, userId)
  const { moneyEmail } = await readRecentChanges(uow.trx, userId)
  const content = codeMail(new URL(settings.http.publicUrl).host, wish, code)
  await queueEmail(uow, { kind: 'step-up-code', to: moneyEmail, expiresAt: made.expiresAt, ...content })
}

async function tooManyCodes({ trx }: UnitOfWork, userId: string): Promise<DomainError> {
  const [row] = await query<{ seconds: number }>(trx, {
    name: 'step-up.next',
    text: /* sql */ `
      select greatest(1, ceil(extract(epoch from min(created_at) + interval '24 hours' - clock_timestamp())))::int as seconds
      from step_up_codes where user_id = $1 and created_at >= clock_timestamp() - interval '24 hours'`,
    values: [userId],
  })
  return refusedFor('too_many_requests', row?.seconds ?? 1)
}

function codeMail(site: string, wish: string, code: string) {
  return emailLayout({
    subject: `Confirm a change of your account at ${site}`,
    blocks: [
      `Somebody, most likely you, wants to ${wish}.`,
      'Nothing happens before you confirm it. If you want exactly this, enter this code there:',
      { standout: code },
      `It is valid for ${confirmationCodes.minutes} minutes and works once. Never give it to anybody: we never ask for it.`,
      'If it was not you, enter the code nowhere, and change your password: somebody else is signed in to your account.',
    ],
  })
}

/**
 * Uses the newest code of a request up. A wrong one counts before it is compared, and five void the code. The caller commits the
 * count, and does what the code confirms in the same transaction.
 */
export async function useStepUpCode(
  { trx }: UnitOfWork,
  settings: Settings,
  request: SteppedUpRequest,
  code: string,
): Promise<boolean> {
  if (!codePattern.test(code)) return false
  const [newest] = await query<{ id: bigint; codeHmac: Buffer }>(trx, {
    name: 'step-up.count',
    text: /* sql */ `
      update step_up_codes set failures = failures + 1
       where id = (select max(id) from step_up_codes where user_id = $1 and request_hash = $2)
         and failures < $3 and used_at is null and expires_at > clock_timestamp()
      returning id, code_hmac as "codeHmac"`,
    values: [request.userId, requestHash(request), confirmationCodes.mostFailures],
  })
  if (newest === undefined || !sameCode(newest.codeHmac, codeHmac(settings, request, code))) return false
  await query(trx, {
    name: 'step-up.use',
    text: 'update step_up_codes set used_at = clock_timestamp() where id = $1',
    values: [newest.id],
  })
  return true
}
