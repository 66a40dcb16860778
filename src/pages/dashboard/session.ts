import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Me, Security } from './answers.js'

export interface Session {
  readonly me: Me
  /** Undefined: it could not be read. */
  readonly security: Security | undefined
  /** Counts the sign-ins: hooks repeat their requests after a new one. */
  readonly signIns: number
  readonly refresh: () => void
  /** After a sign-in of the same person: everything is read again. */
  readonly onSignedIn: () => void
  readonly signOut: () => void
  /** After the account was closed: shows the page that says so. */
  readonly onClosed: () => void
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** The session of the signed-in creator. Throws outside the signed-in part of the page. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('Nobody is signed in here')
  return session
}
