import type { Outcome } from './command.js'
import { applyHint, type Order } from './order.js'

/** How far one walk over everything that is sealed came. `broken`: what does not open. */
export interface Walked {
  readonly count: number
  readonly broken: readonly string[]
}

/** Seals everything of one kind again, batch by batch, so that an older key may go. */
export interface Rotation {
  /** What is counted, such as `wallets`. */
  readonly what: string
  /** What does not open, for people. */
  readonly broken: string
  readonly sealing: number
  /** What to do first while the settings have one key only. */
  readonly oneKey: string | undefined
  walk(): Promise<Walked>
  /**
   * Takes the older keys out of use, after a walk. False while something is sealed with one; a text when it must be run again; or what a
   * last walk found.
   */
  retire(walked: Walked, total: number): Promise<boolean | string | Walked>
  /** What to do when others go on sealing with the older key. */
  readonly others: string
  readonly done: string
  /** The lines and the keys of the answer that say what is sealed with which key, and how much is with an older one. */
  read(): Promise<{
    readonly lines: readonly string[]
    readonly json: Readonly<Record<string, unknown>>
    readonly waiting: number
  }>
}

/** Others that still have only the old key go on sealing with it until it is retired. */
const mostPasses = 20
const brokenShown = 10

/** Plans or does it. */
export async function planOrRotate(rotation: Rotation, { apply }: Order): Promise<Outcome> {
  if (apply) return rotate(rotation)
  const { what, sealing, oneKey } = rotation
  const { lines, json, waiting } = await rotation.read()
  const plan =
    waiting === 0
      ? `nothing uses an older key than version ${sealing}; ${applyHint}: it takes the older keys out of use`
      : `${waiting} ${what} would be sealed again with version ${sealing}; ${applyHint}`
  return { text: [...lines, oneKey ?? plan].join('\n'), json: { applied: false, ...json } }
}

/** Walks until nothing is left and the older keys are retired. What does not open ends it, and nothing is retired. */
async function rotate(rotation: Rotation): Promise<Outcome> {
  let count = 0
  const end = async (text: string, ok = false): Promise<Outcome> => {
    const { lines, json } = await rotation.read()
    const first = `${count} ${rotation.what} were sealed again with version ${rotation.sealing}`
    return {
      ok,
      text: [first, ...lines, text].join('\n'),
      json: { applied: true, resealed: count, ...json, done: ok },
    }
  }
  const counted = ({ count: more, broken }: Walked): string | undefined => {
    count += more
    if (broken.length === 0) return undefined
    const names = broken.slice(0, brokenShown).join(', ')
    return `${broken.length} ${rotation.broken}: ${names}. They are unchanged; keep every key`
  }
  for (let pass = 1; pass <= mostPasses; pass++) {
    const walked = await rotation.walk()
    const broken = counted(walked)
    if (broken !== undefined) return end(broken)
    const retired = await rotation.retire(walked, count)
    if (typeof retired === 'string') return end(retired)
    const brokenLast = typeof retired === 'object' ? counted(retired) : undefined
    if (brokenLast !== undefined) return end(brokenLast)
    if (retired !== false) return end(rotation.done, true)
  }
  return end(`${rotation.others}, then run this again`)
}
