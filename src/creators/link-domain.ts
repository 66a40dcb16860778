import type { Knex } from 'knex'
import type { Account } from '../accounts/account.js'
import { changeUser, unlinkDomainOfOthers } from '../accounts/change-user.js'
import { findMessage, purposes, storeSecret, voidSecrets } from '../accounts/secrets/secrets.js'
import { verifyTextSignature } from '../kernel/ed25519.js'
import { DomainError } from '../kernel/errors.js'
import { hashSecret, newSecret } from '../kernel/ids.js'
import type { Services } from '../services.js'

/** A `.sol` domain that the creator has proved to control, and its owner at that moment. */
export interface VerifiedDomain {
  readonly domain: string
  readonly owner: string
}

/**
 * Creates the message that the owner of a domain signs to link it to this account. It replaces the account's previous
 * challenge. The message names account, domain and service, so a signature for another purpose is not valid here.
 */
export async function createChallenge(
  { config, db }: Pick<Services, 'config' | 'db'>,
  userId: string,
  domain: string,
): Promise<string> {
  const message = [
    `${new URL(config.http.publicUrl).host} asks you to link ${domain} to the account ${userId}.`,
    'Tips to the domain will then go to the wallet of that account. Signing this moves nothing and costs nothing.',
    `Valid for ${purposes.sol_domain.minutes} minutes, once. Nonce: ${newSecret()}`,
  ].join('\n\n')
  const challenge = { userId, subject: domain, hash: hashSecret(message), content: message }
  await storeSecret(db, 'sol_domain', challenge)
  return message
}

/**
 * Verifies that a creator controls a domain: the domain pays to the creator's custody wallet, or its owner signed the
 * challenge. Reads the chain without the cache, because creators often link a domain just after they changed its
 * records. Throws `domain_not_yours`.
 */
export async function verifyDomain(
  services: Pick<Services, 'db' | 'names'>,
  { id, walletPublicKey }: Pick<Account, 'id' | 'walletPublicKey'>,
  domain: string,
  signature: string | undefined,
): Promise<VerifiedDomain> {
  const record = await services.names.fetch(domain)
  if (record === undefined) throw new DomainError('domain_not_yours')
  const verified = { domain, owner: record.owner }
  if (record.payee !== undefined && record.payee === walletPublicKey) return verified
  if (signature === undefined) throw new DomainError('domain_not_yours')
  const message = await findMessage(services.db, 'sol_domain', id, domain)
  if (message === undefined || !verifyTextSignature(record.owner, message, signature))
    throw new DomainError('domain_not_yours')
  return verified
}

/**
 * Links a verified domain and voids the challenge. The caller holds the creator's lock. If another account had linked
 * the domain, that link ends: the newest proof wins.
 */
export async function linkDomain(
  trx: Knex.Transaction,
  userId: string,
  { domain, owner }: VerifiedDomain,
): Promise<void> {
  // Two accounts of one owner may link the domain concurrently.
  await trx.raw('select pg_advisory_xact_lock(hashtext(?))', [`sol_domain:${domain}`])
  await unlinkDomainOfOthers(trx, domain, userId)
  await changeUser(trx, userId, { solDomain: domain, solDomainOwner: owner })
  await voidSecrets(trx, userId, ['sol_domain'])
}

export async function unlinkDomain(trx: Knex.Transaction, userId: string): Promise<void> {
  await changeUser(trx, userId, { solDomain: null, solDomainOwner: null })
}
