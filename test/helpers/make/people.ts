import { randomBytes } from 'node:crypto'
import type { World } from '../servers/world.js'

/** The user object of register and login. */
export interface UserBody {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly full_name: string
  readonly first_name: string | null
  readonly roles: readonly string[]
  readonly walletAddress: string | null
  readonly walletPublicKey: string | null
  readonly emailVerifiedAt: string | null
  readonly onboardingComplete: boolean
  readonly onboarding_complete: boolean
  readonly solDomain: string | null
  readonly twitterHandle: string | null
  readonly discordHandle: string | null
}

/** The body that opens a session. */
export interface EnteredBody {
  readonly success: true
  readonly user: UserBody
  readonly auth: { readonly accessToken: string; readonly tokenType: 'Bearer'; readonly expiresAt: string }
}

/** Somebody with an account and an open session. */
export interface Person {
  readonly email: string
  readonly password: string
  readonly user: UserBody
  readonly session: string
  readonly accessToken: string
}

/** An e-mail address nobody else has. */
export function freshEmail(): string {
  return `${randomBytes(8).toString('hex')}@example.com`
}

/** Registers somebody new through the service. */
export async function registerPerson({ request }: World, name = 'Ada Lovelace'): Promise<Person> {
  const email = freshEmail()
  const password = `pass-${randomBytes(8).toString('hex')}`
  const answer = await request<EnteredBody>('POST', '/auth/register', { body: { email, password, name } })
  if (answer.status !== 200 || answer.session === undefined)
    throw new Error(`register answered ${answer.status} ${JSON.stringify(answer.body)}`)
  const { user, auth } = answer.body
  return { email, password, user, session: answer.session, accessToken: auth.accessToken }
}
