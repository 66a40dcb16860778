import type { EventReader, ReceivedEvent } from './event-reader.js'
import type { Supporter } from './supporter.js'

export interface Creator {
  readonly id: string
  readonly wallet: string
  /** The cookie of the creator's browser. */
  readonly cookie: string
}

/** Whom and what every part of the demo meets. */
export interface Stage {
  /** URLs of a web process and of the stand-ins. */
  readonly web: string
  readonly sandbox: string
  readonly creator: Creator
  readonly supporter: Supporter
  /** Of the creator's tips, one from each web process. */
  readonly streams: readonly EventReader[]
  readonly say: (text: string) => void
}

/** The event of the tip with this message on every stream. Rejects when one has not brought it after `ms`. */
export function tipOnStreams(
  { streams }: Stage,
  message: string,
  ms: number,
): Promise<readonly ReceivedEvent[]> {
  return Promise.all(streams.map((stream) => stream.next(({ data }) => data['message'] === message, ms)))
}
