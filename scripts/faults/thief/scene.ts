import type { Draw } from '../acts/draw.js'
import type { Answer, Person } from './person.js'
import type { Stage } from './stage.js'

/** An account, its owner, and a thief. */
export interface Scene {
  readonly stage: Stage
  readonly userId: string
  readonly owner: Person
  readonly thief: Person
}

/** Somebody does something. Undefined: there was nothing to do it with. */
export type Act = (scene: Scene, who: Person, draw: Draw) => Promise<Outcome | undefined>

/** `done`, or the status and code of the refusal. */
export type Outcome = string

export const done: Outcome = 'done'

export function outcomeOf({ status, body }: Answer): Outcome {
  return status === 200 ? done : `${status} ${String(body['code'] ?? '')}`.trim()
}
