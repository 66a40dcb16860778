import type { Draw } from '../../kit/draw.js'
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

type Asked = Answer | Outcome | undefined

/** An act of whoever has a session. */
export function signedIn(act: (scene: Scene, who: Person, draw: Draw) => Promise<Asked>): Act {
  return async (scene, who, draw) => {
    if (who.session === undefined) return undefined
    const answer = await act(scene, who, draw)
    return typeof answer === 'object' ? outcomeOf(answer) : answer
  }
}

/** The rows of a list, or how it was refused. */
export async function listOf<Row>(
  who: Person,
  path: string,
  name: string,
): Promise<readonly Row[] | Outcome> {
  const answer = await who.call('GET', path)
  return answer.status === 200 ? (answer.body[name] as readonly Row[]) : outcomeOf(answer)
}

/** Removes every row of a list. */
export function removeAll(path: string, name: string): Act {
  return signedIn(async (_, who) => {
    const rows = await listOf<{ readonly id: string | number }>(who, path, name)
    if (typeof rows === 'string') return rows
    for (const { id } of rows) {
      const answer = await who.call('DELETE', `${path}/${id}`)
      if (answer.status !== 200) return answer
    }
    return done
  })
}
