import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { z } from 'zod'
import { DomainError } from '../../kernel/errors.js'
import { parseUserId as parseUuid } from '../../kernel/ids.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { Account } from '../account.js'
import { createToken, purposes } from '../secrets/secrets.js'
import { factorNames, lockFactors, recordAdded, recordRemoved } from './change-factors.js'
import { type PresentedFactor, requireFactor } from './check-factor.js'
import {
  type CreationOptions,
  mostPasskeys,
  type newPasskeyInput,
  type PresentedPasskey,
  type RequestOptions,
} from './schemas.js'
import { relyingParty, useChallenge, userHandleOf } from './verify-passkey.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>
type Owner = Pick<Account, 'id' | 'email' | 'name'>

const timeout = purposes.passkey_add.minutes * 60_000
const defaultLabel = 'Passkey'
/** EdDSA, ES256 and RS256 (COSE): between them every authenticator has one. */
const algorithms = [-8, -7, -257]

/** The options with which a browser makes a passkey. */
export async function creationOptions({ config, db }: Needs, owner: Owner): Promise<CreationOptions> {
  const { id, name } = relyingParty(config.http.publicUrl)
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  const options = await generateRegistrationOptions({
    rpID: id,
    rpName: name,
    userID: new Uint8Array(userHandleOf(owner.id)),
    userName: owner.email,
    userDisplayName: owner.name,
    challenge: bytesOf(await createToken(db, 'passkey_add', { userId: owner.id })),
    timeout,
    attestationType: 'none',
    excludeCredentials: await listCredentials(db, owner.id),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  })
  return options as CreationOptions
}

/** The options with which a passkey signs in. They name no account: the authenticator does. */
export async function loginOptions({ config, db }: Pick<Needs, 'config' | 'db'>): Promise<RequestOptions> {
  return requestOptions(config, await createToken(db, 'passkey_login', { userId: null }), [])
}

/** The options with which one of the account's passkeys confirms something. Throws `factor_not_found`. */
export async function confirmOptions(
  { config, db }: Pick<Needs, 'config' | 'db'>,
  userId: string,
): Promise<RequestOptions> {
  const credentials = await listCredentials(db, userId)
  if (credentials.length === 0) throw new DomainError('factor_not_found')
  return requestOptions(config, await createToken(db, 'passkey_confirm', { userId }), credentials)
}

interface Challenge {
  readonly token: string
}

const bytesOf = ({ token }: Challenge) => new Uint8Array(Buffer.from(token, 'base64url'))

interface Credential {
  readonly id: string
  readonly transports: string[]
}

async function requestOptions(
  { http }: Pick<Needs['config'], 'http'>,
  challenge: Challenge,
  credentials: Credential[],
): Promise<RequestOptions> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(http.publicUrl).id,
    challenge: bytesOf(challenge),
    timeout,
    userVerification: 'required',
    ...(credentials.length > 0 && { allowCredentials: credentials }),
  })
  return options as RequestOptions
}

async function listCredentials(db: Needs['db'], userId: string): Promise<Credential[]> {
  const rows = await query<{ id: Buffer; transports: string[] }>(db, {
    name: 'passkeys.credentials',
    text: 'select credential_id as id, transports from passkeys where user_id = $1 order by created_at, id',
    values: [userId],
  })
  return rows.map(({ id, transports }) => ({ id: id.toString('base64url'), transports }))
}

interface PasskeyRow {
  readonly id: string
  readonly label: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}
const listed = `id, label, created_at as "createdAt", last_used_at as "lastUsedAt"`

function presentPasskey({ id, label, createdAt, lastUsedAt }: PasskeyRow): PresentedPasskey {
  return {
    id,
    label,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }
}

/** The account's passkeys, oldest first. */
export async function listPasskeys({ db }: Pick<Needs, 'db'>, userId: string): Promise<PresentedPasskey[]> {
  const rows = await query<PasskeyRow>(db, {
    name: 'passkeys.list',
    text: `select ${listed} from passkeys where user_id = $1 order by created_at, id`,
    values: [userId],
  })
  return rows.map(presentPasskey)
}

/**
 * Adds the passkey that a browser made. Returns recovery codes if it is the account's first factor. Throws `invalid_passkey`,
 * `passkey_exists`, `too_many_passkeys`.
 */
export async function addPasskey(
  services: Needs,
  owner: Owner,
  { response, label = defaultLabel }: z.output<typeof newPasskeyInput>,
): Promise<{ passkey: PresentedPasskey; recoveryCodes?: string[] }> {
  const { config, transact } = services
  const made = await verifyNew(services, owner.id, response)
  return transact(async (uow) => {
    const { factors, passkeys } = await lockFactors(uow.trx, owner.id)
    if (passkeys >= mostPasskeys) throw new DomainError('too_many_passkeys')
    const [added] = await query<PasskeyRow>(uow.trx, {
      name: 'passkeys.add',
      text: /* sql */ `
        insert into passkeys (user_id, credential_id, public_key, counter, transports, label)
        values ($1, $2, $3, $4, $5, $6) on conflict (credential_id) do nothing returning ${listed}`,
      values: [
        owner.id,
        Buffer.from(made.id, 'base64url'),
        Buffer.from(made.publicKey),
        made.counter,
        response.response.transports ?? [],
        label,
      ],
    })
    if (added === undefined) throw new DomainError('passkey_exists')
    const codes = await recordAdded(uow, config, owner, {
      factor: factorNames.passkey,
      isFirst: factors === 0,
    })
    return { passkey: presentPasskey(added), ...codes }
  })
}

/** Verifies what a browser made. Its challenge has one attempt. */
async function verifyNew(
  { config, db }: Needs,
  userId: string,
  response: z.output<typeof newPasskeyInput>['response'],
) {
  const { id, origin } = relyingParty(config.http.publicUrl)
  const challenge = await useChallenge(db, 'passkey_add', userId, response.response.clientDataJSON)
  if (challenge === undefined) throw new DomainError('invalid_passkey')
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const result = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
    // The library throws for every fault of the answer.
  }).catch(() => undefined)
  if (result?.verified !== true) throw new DomainError('invalid_passkey')
  return result.registrationInfo.credential
}

/** Removes a passkey. Throws `factor_not_found`, and what `requireFactor` throws. */
export async function removePasskey(
  services: Needs,
  owner: Owner,
  id: string,
  presented: PresentedFactor,
): Promise<void> {
  const passkeyId = parseUuid(id)
  const [passkey] =
    passkeyId === undefined
      ? []
      : await query<{ since: Date }>(services.db, {
          name: 'passkeys.since',
          text: 'select created_at as since from passkeys where id = $1 and user_id = $2',
          values: [passkeyId, owner.id],
        })
  if (passkey === undefined) throw new DomainError('factor_not_found')
  await requireFactor(services, owner.id, presented, { notYoungerThan: passkey.since })
  await services.transact(async (uow) => {
    await lockFactors(uow.trx, owner.id)
    const removed = await query(uow.trx, {
      name: 'passkeys.remove',
      text: 'delete from passkeys where id = $1 and user_id = $2 returning 1',
      values: [passkeyId, owner.id],
    })
    if (removed.length === 0) throw new DomainError('factor_not_found')
    await recordRemoved(uow, services.config, owner, factorNames.passkey)
  })
}
