import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Me } from './answers.js'

export interface Session {
  readonly me: Me
  /** Grows each time somebody signs in: what was refused meanwhile is asked again. */
  readonly entered: number
  /** Asks who it is again. */
  readonly refresh: () => void
  readonly signOut: () => void
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** Who is signed in. Throws outside of the signed-in part of the page. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('Nobody is signed in here')
  return session
}
