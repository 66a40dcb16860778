import { resolveCreator } from '../creators/resolve-creator.js'
import { isAddress } from '../kernel/base58.js'
import { DomainError } from '../kernel/errors.js'
import { userIdFrom } from '../kernel/ids.js'
import { isSolDomain } from '../kernel/sol-domain.js'
import type { Services } from '../services.js'

/**
 * Whether a caller's `creatorId` means this account: UUID, `auth_` and UUID, wallet address or `.sol` domain (the forms
 * of the SDK; a handle is none of them). One that means nobody means somebody else.
 */
export async function isCreator(
  services: Pick<Services, 'db' | 'names'>,
  creatorId: string,
  userId: string,
): Promise<boolean> {
  const id = userIdFrom(creatorId)
  if (id !== undefined) return id === userId
  if (!(isSolDomain(creatorId.trim()) || isAddress(creatorId))) return false
  try {
    return (await resolveCreator(services, creatorId)).userId === userId
  } catch (error) {
    if (error instanceof DomainError && error.code === 'creator_not_found') return false
    throw error
  }
}
