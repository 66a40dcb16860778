import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Me } from './answers.js'

export interface Session {
  readonly me: Me
  /** Counts the sign-ins: hooks repeat their requests after a new one. */
  readonly signIns: number
  /** Reads `me` again. */
  readonly refresh: () => void
  readonly signOut: () => void
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** The session of the signed-in creator. Throws outside the signed-in part of the page. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('Nobody is signed in here')
  return session
}
