import { query } from '../../platform/database/database.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Vault } from '../../ports/vault.js'
import type { Services } from '../../services.js'
import { walletChannel } from './channel.js'
import { newKeyPair } from './key-pair.js'
import { sealKey } from './seal-key.js'

/** Wallets of one batch. */
const batch = 256
/** A claimed wallet that was not finished within this time is due again: its worker died. */
const leaseSeconds = 30
/** A wallet the vault refused waits 2 s, 4 s, 8 s ... and at most this long. */
const longestPauseSeconds = 60
const lastErrorLength = 200

type Needs = Pick<Services, 'db' | 'transact' | 'log'> & { readonly vault: Vault }

interface Claimed {
  readonly id: bigint
  readonly userId: string
  readonly attempts: number
}

interface Sealed extends Claimed {
  readonly publicKey: string
  readonly sealedSecret: Buffer
  readonly keyVersion: number
}

interface Refused extends Claimed {
  readonly error: string
}

/**
 * Provisions due wallets: key pair, sealed secret, and then both in one commit, so that nobody ever sees a public
 * key whose secret is not safe. Runs anywhere and any number of times; the fence on `attempts` keeps one key each.
 */
export function createProvisionerBatch(services: Needs): Batch {
  return async () => {
    const claimed = await claim(services)
    if (claimed.length === 0) return { taken: 0 }
    const outcomes = await Promise.all(claimed.map((wallet) => provision(services.vault, wallet)))
    const sealed = outcomes.filter((outcome) => 'publicKey' in outcome)
    const refused = outcomes.filter((outcome) => 'error' in outcome)
    if (sealed.length > 0) await finish(services, sealed)
    if (refused.length === 0) return { taken: claimed.length }
    return { taken: claimed.length, nextDueMs: await putOff(services, refused) }
  }
}

/** `now()`, not `clock_timestamp()`, in the condition: only a stable bound can use the index of due rows. */
function claim({ db }: Needs): Promise<Claimed[]> {
  return query<Claimed>(db, {
    name: 'wallets.claim',
    text: /* sql */ `
      with due as (
        select id from wallets where due_at <= now() order by due_at limit $1 for update skip locked)
      update wallets w
         set due_at = clock_timestamp() + $2 * interval '1 second', attempts = attempts + 1
        from due where w.id = due.id
      returning w.id, w.user_id as "userId", w.attempts`,
    values: [batch, leaseSeconds],
  })
}

async function provision(vault: Vault, claimed: Claimed): Promise<Sealed | Refused> {
  const { publicKey, secret } = newKeyPair()
  const { keyVersion } = vault
  try {
    const identity = { walletId: claimed.id, userId: claimed.userId, publicKey, keyVersion }
    return { ...claimed, publicKey, keyVersion, sealedSecret: await sealKey(vault, secret, identity) }
  } catch (error) {
    return { ...claimed, error: String(error).slice(0, lastErrorLength) }
  } finally {
    secret.fill(0)
  }
}

/** Set-based and fenced: a row another batch has claimed since is left to it. */
async function finish({ transact }: Needs, sealed: readonly Sealed[]): Promise<void> {
  await transact(async ({ trx, publish }) => {
    const finished = await query<{ userId: string }>(trx, {
      name: 'wallets.finish',
      text: /* sql */ `
        with sealed as (
          select * from unnest($1::bigint[], $2::int[], $3::text[], $4::bytea[], $5::int[])
            as s (id, attempts, public_key, sealed_secret, key_version)),
        finished as (
          update wallets w
             set public_key = s.public_key, sealed_secret = s.sealed_secret, key_version = s.key_version,
                 due_at = null, last_error = null
            from sealed s where w.id = s.id and w.attempts = s.attempts and w.public_key is null
          returning w.user_id, w.public_key),
        named as (
          update parties p set wallet = f.public_key from finished f where p.user_id = f.user_id)
        select user_id as "userId" from finished`,
      values: [
        sealed.map(({ id }) => id),
        sealed.map(({ attempts }) => attempts),
        sealed.map(({ publicKey }) => publicKey),
        sealed.map(({ sealedSecret }) => sealedSecret),
        sealed.map(({ keyVersion }) => keyVersion),
      ],
    })
    for (const { userId } of finished) publish(walletChannel(userId))
  })
}

/** Puts the refused wallets off. Returns the ms until the first of them is due again. */
async function putOff({ db, log }: Needs, refused: readonly Refused[]): Promise<number> {
  log.error({ wallets: refused.length, error: refused[0]?.error }, 'the vault did not seal wallets')
  const pauses = refused.map(({ attempts }) => Math.min(2 ** attempts, longestPauseSeconds))
  await query(db, {
    name: 'wallets.put-off',
    text: /* sql */ `
      update wallets w
         set due_at = clock_timestamp() + r.pause * interval '1 second', last_error = r.error
        from unnest($1::bigint[], $2::int[], $3::int[], $4::text[]) as r (id, attempts, pause, error)
       where w.id = r.id and w.attempts = r.attempts`,
    values: [
      refused.map(({ id }) => id),
      refused.map(({ attempts }) => attempts),
      pauses,
      refused.map(({ error }) => error),
    ],
  })
  return Math.min(...pauses) * 1000
}
