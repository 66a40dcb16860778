import { resolveCreator } from '../../creators/resolve-creator.js'
import { isAddress } from '../../kernel/base58.js'
import { DomainError } from '../../kernel/errors.js'
import { parseUserId } from '../../kernel/ids.js'
import { isSolDomain } from '../../kernel/sol-domain.js'
import { cleanLine } from '../../kernel/text.js'
import type { Services } from '../../services.js'

/**
 * Whether `creatorId` means this account. The SDK accepts a user id (UUID, with or without `auth_`), a wallet address
 * and a `.sol` domain, but no handle. An unknown `creatorId` does not match.
 */
export async function meansCreator(
  services: Pick<Services, 'db' | 'names'>,
  creatorId: string,
  userId: string,
): Promise<boolean> {
  const name = cleanLine(creatorId)
  const id = parseUserId(name)
  if (id !== undefined) return id === userId
  if (!(isSolDomain(name) || isAddress(creatorId))) return false
  try {
    return (await resolveCreator(services, creatorId)).userId === userId
  } catch (error) {
    if (error instanceof DomainError && error.code === 'creator_not_found') return false
    throw error
  }
}
