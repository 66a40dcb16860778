import { Tally } from './tally.js'

/** What a stand-in was asked, by method: tests state how many calls a piece of work may cost. */
export class CallCounter extends Tally {
  /** HTTP requests; a batch of JSON-RPC calls is one. */
  httpRequests = 0

  override reset(): void {
    super.reset()
    this.httpRequests = 0
  }
}
