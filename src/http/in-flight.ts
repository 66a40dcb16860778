import type { Server } from 'node:http'

/** The requests a server is answering. */
export interface InFlight {
  /** Resolves when none is left, or after so many ms. */
  over(mostMs: number): Promise<void>
}

export function watchRequests(server: Server): InFlight {
  let count = 0
  let ended: (() => void) | undefined
  server.on('request', (_request, response) => {
    count += 1
    response.once('close', () => {
      count -= 1
      if (count === 0) ended?.()
    })
  })
  return {
    async over(mostMs) {
      if (count === 0) return
      await new Promise<void>((done) => {
        const timer = setTimeout(done, mostMs)
        ended = () => {
          clearTimeout(timer)
          done()
        }
      })
    },
  }
}
