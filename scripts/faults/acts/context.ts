import { requestOnce } from '../../kit/client.js'
import type { Draw } from '../../kit/draw.js'
import type { Truth } from './arrived.js'
import type { Stage } from './stage.js'

/** What happened, for the story of a withdrawal. */
export interface ActResult {
  readonly text: string
  /** The reference of the withdrawal that the act is about. */
  readonly about?: string
  /** What must not have happened. */
  readonly broken?: string
}

/** What the run has made so far. */
interface Made {
  readonly references: string[]
  /** The ones among them whose creator was credited again. */
  readonly recredited: string[]
  readonly intents: string[]
  /** Signatures of transactions on the chain. */
  readonly signatures: string[]
}

export interface ActContext {
  readonly stage: Stage
  readonly draw: Draw
  readonly made: Made
  readonly truth: Truth
}

export type Act = (context: ActContext) => Promise<ActResult>

export const nothing: ActResult = { text: 'nothing was done' }

interface Answer {
  readonly reference?: string
  readonly intentId?: string
  readonly transaction?: string
}

export async function post(
  { url }: Stage,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Answer }> {
  return requestOnce(url, ['POST', path, body], headers)
}
