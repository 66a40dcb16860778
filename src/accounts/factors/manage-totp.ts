import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import type { Account } from '../account.js'
import { clearTotpAttempts, countTotpAttempt } from '../secrets/attempts.js'
import { factorNames, lockFactors, recordAdded, recordRemoved } from './change-factors.js'
import { type PresentedFactor, requireFactor } from './check-factor.js'
import { type FactorRefusal, refusalOf } from './factor-rules.js'
import { base32, findStep, newTotpSecret, parseTotpCode, totpUri } from './totp.js'
import { openTotpSecret, sealTotpSecret } from './verify-totp.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>
type Owner = Pick<Account, 'id' | 'email'>

/** A secret that waits for its first code. Whoever finds the session later must authenticate again. */
const pendingMinutes = 15

/** Makes the secret of an authenticator app in place of one that was not confirmed. Throws `totp_exists`. */
export async function startTotp(
  { config, db }: Pick<Needs, 'config' | 'db'>,
  { id, email }: Owner,
): Promise<{ secret: string; uri: string }> {
  const secret = newTotpSecret()
  const stored = await query(db, {
    name: 'totp.start',
    text: /* sql */ `
      insert into totp_factors as t (user_id, sealed_secret) values ($1, $2)
      on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, created_at = clock_timestamp()
       where t.confirmed_at is null
      returning 1`,
    values: [id, sealTotpSecret(config, id, secret)],
  })
  if (stored.length === 0) throw new DomainError('totp_exists')
  const text = base32(secret)
  return { secret: text, uri: totpUri(text, email) }
}

/**
 * Puts the authenticator app in force with its first code, which then is used. Returns recovery codes if it is the account's first
 * factor. Throws `invalid_code`, also when the secret is older than 15 minutes, and `account_locked`.
 */
export async function confirmTotp(
  { config, transact }: Needs,
  owner: Owner,
  text: string,
): Promise<{ recoveryCodes?: string[] }> {
  const { refused, ...added } = await transact(
    async (uow): Promise<{ recoveryCodes?: string[]; refused?: FactorRefusal }> => {
      const refused = await confirmFirstCode(uow, config, owner.id, text)
      if (refused !== undefined) return { refused }
      const { factors } = await lockFactors(uow.trx, owner.id)
      return recordAdded(uow, config, owner, { factor: factorNames.totp, isFirst: factors === 1 })
    },
  )
  // Throw after the commit: a throw inside the transaction would undo the count.
  if (refused !== undefined) throw refusalOf(refused)
  return added
}

async function confirmFirstCode(
  { trx }: UnitOfWork,
  config: Needs['config'],
  userId: string,
  text: string,
): Promise<FactorRefusal | undefined> {
  const wrong: FactorRefusal = { kind: 'wrong', field: 'code' }
  const code = parseTotpCode(text)
  if (code === undefined) return wrong
  // Uncounted: nothing is guessed, and whoever has an old session does not lock the owner's app.
  if ((await findPending(trx, userId)) === undefined) return wrong
  const attempt = await countTotpAttempt(trx, userId)
  if (attempt.kind === 'locked') return attempt
  // Again, under the lock of the attempt: another request may have confirmed it.
  const pending = await findPending(trx, userId)
  const step = pending && findStep(openTotpSecret(config, userId, pending.sealedSecret), code, pending.now)
  if (step === undefined) return wrong
  await write(trx, {
    name: 'totp.confirm',
    text: 'update totp_factors set confirmed_at = clock_timestamp(), last_step = $2 where user_id = $1',
    values: [userId, step],
  })
  await clearTotpAttempts(trx, userId)
  return undefined
}

async function findPending(trx: Knex.Transaction, userId: string) {
  const [pending] = await query<{ sealedSecret: Buffer; now: number }>(trx, {
    name: 'totp.pending',
    text: /* sql */ `
      select sealed_secret as "sealedSecret", extract(epoch from clock_timestamp())::float8 as now
        from totp_factors
       where user_id = $1 and confirmed_at is null and created_at > clock_timestamp() - $2::int * interval '1 minute'`,
    values: [userId, pendingMinutes],
  })
  return pending
}

/** Removes the authenticator app. Throws `factor_not_found`, and what `requireFactor` throws. */
export async function removeTotp(services: Needs, owner: Owner, presented: PresentedFactor): Promise<void> {
  const [totp] = await query<{ since: Date }>(services.db, {
    name: 'totp.since',
    text: 'select confirmed_at as since from totp_factors where user_id = $1 and confirmed_at is not null',
    values: [owner.id],
  })
  if (totp === undefined) throw new DomainError('factor_not_found')
  await requireFactor(services, owner.id, presented, { notYoungerThan: totp.since })
  await services.transact(async (uow) => {
    await lockFactors(uow.trx, owner.id)
    const removed = await query(uow.trx, {
      name: 'totp.remove',
      text: 'delete from totp_factors where user_id = $1 and confirmed_at = $2 returning 1',
      values: [owner.id, totp.since],
    })
    if (removed.length === 0) throw new DomainError('factor_not_found')
    await recordRemoved(uow, services.config, owner, factorNames.totp)
  })
}
